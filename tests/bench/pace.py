"""What refusals and faults cost a run, beside a clean run on the same machine.

    python tests/bench/pace.py [--answers 400]

The server is the test server in this process, on a thread of its own, 300 ms a reply. The first
rows are random refusals (429) of 5, 12 and 30 % at 64 answers in flight, with `Retry-After: 1` and
without it. "Explained" is the clean time over the share of requests that pass, and the waits of the
refused requests spread over the answers in flight. Then come a token bucket of 100 requests a
second, faults of three kinds at 8 answers in flight, and a server that dies. Read the ratios: the
machine moves the rest.
"""

import argparse
import itertools
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from judge.inputs.runs import read_summary
from tests.chat_call import ChatCall
from tests.commands import judge, line, write
from tests.replies import TOO_MANY, Answer, Says, Script, Slow, Status, TokenBucket, right, too_many
from tests.server import JudgeServer

REPLY_SECONDS: Final = 0.3
IN_FLIGHT: Final = 64
BUCKET_RATE: Final = 100.0
BUCKET_ROOM: Final = 10.0
PATIENCE_SECONDS: Final = 3
_RUNS: Final = itertools.count()


def slow(call: ChatCall) -> Answer:
    return Slow(REPLY_SECONDS, right(call))


def faulty(share: float, *faults: Answer) -> Script:
    """Answer a random share of the requests with each of the faults, and the rest rightly."""
    draws = random.Random(0)  # noqa: S311  hides nothing

    def script(call: ChatCall) -> Answer:
        kind = int(draws.random() / share)
        return faults[kind] if not call.is_probe and kind < len(faults) else slow(call)

    return script


class PacedRun:
    """One run of `judge score`: its seconds, and the waits of the requests that came again."""

    def __init__(self, folder: Path, answers: int, script: Script, in_flight: int) -> None:
        arrivals: dict[str, list[float]] = {}

        def noted(call: ChatCall) -> Answer:
            if not call.is_probe:
                claim = "".join(call.sentences.values())
                arrivals.setdefault(claim, []).append(time.perf_counter())
            return script(call)

        samples = write(
            folder / "in.jsonl", [line(f"q{n}", f"Room {n} is open.") for n in range(answers)]
        )
        name = f"run{next(_RUNS)}"
        with JudgeServer(noted) as server:
            words = ("score", samples, "-o", folder / name, *server.words, "--force")
            words += ("--cache-dir", folder / f"cache-{name}", "--concurrency", in_flight)
            ran = judge(*words)
            first = min(each[0] for each in arrivals.values())
            self.seconds = time.perf_counter() - first
        assert ran.code in {0, 3}, ran.err
        summary = read_summary(folder / name)
        self.calls, self.unscored = server.calls, sum(summary.unscored.values())
        self.waits = sum(each[-1] - each[0] for each in arrivals.values())


def main() -> None:
    options = argparse.ArgumentParser(prog="pace.py")
    options.add_argument("--answers", type=int, default=400)
    answers = options.parse_args().answers
    os.environ.pop("OPENAI_API_KEY", None)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_CACHE_HOME"] = name
        clean = PacedRun(folder, answers, slow, IN_FLIGHT)
        print(f"clean, {IN_FLIGHT} in flight              {clean.seconds:6.2f} s")
        for share, header in itertools.product((0.05, 0.12, 0.3), (None, "1")):
            run = PacedRun(folder, answers, faulty(share, too_many(header)), IN_FLIGHT)
            explained = clean.seconds / (1 - share) + run.waits / IN_FLIGHT
            print(
                f"{share:4.0%} refused, Retry-After {header or 'none':5} {run.seconds:6.2f} s, "
                f"{run.seconds / explained:.2f} × explained (at most 1.5), "
                f"{run.calls} calls, {run.unscored} unscored"
            )
        for waits in (False, True):
            bucket = TokenBucket(BUCKET_RATE, BUCKET_ROOM, waits=waits, then=slow)
            run = PacedRun(folder, 4 * answers, bucket, IN_FLIGHT)
            rate = (bucket.taken - BUCKET_ROOM) / run.seconds / BUCKET_RATE
            print(
                f"bucket, {'Retry-After' if waits else 'no header':12}          "
                f"{run.seconds:6.2f} s, {rate:.2f} of its rate (at least .8), "
                f"{bucket.refused} refused"
            )
        few = PacedRun(folder, answers, slow, 8)
        faults = (too_many("1"), Status(500, "broken"), Says('{"verdicts": [{"id":'))
        run = PacedRun(folder, answers, faulty(0.1, *faults), 8)
        print(
            f"10 % each of 429, 500, broken JSON  {run.seconds:6.2f} s, "
            f"{run.seconds / few.seconds:.2f} × clean at 8 in flight (at most 2.5), "
            f"{run.unscored} unscored"
        )
        for kind, reply in {"500": Status(500, "down"), "429": TOO_MANY}.items():
            script = faulty(1.0, reply)
            samples = write(
                folder / "in.jsonl", [line(f"q{n}", f"Hall {n} is open.") for n in range(answers)]
            )
            with JudgeServer(script) as server:
                words = ("score", samples, "-o", folder / kind, *server.words)
                began = time.perf_counter()
                code = judge(*words, "--patience", PATIENCE_SECONDS, "--no-cache").code
            seconds = time.perf_counter() - began
            print(
                f"only {kind}, patience {PATIENCE_SECONDS} s {seconds:6.2f} s, exit code {code} (3)"
            )


if __name__ == "__main__":
    main()
