"""How near the pace comes to what a server takes, and what faults and an outage cost.

    python tests/bench/pace.py [--answers 600]

The server is the test server in this process, on a thread of its own, 50 ms a reply and 64 answers
in flight; each run has a new cache. First a clean run; then the same with 5 % random 429, 2 % 500,
1 % cut replies, 3 % malformed ones, .5 % resets and 1 % hangs (for a second); then token buckets
that say nothing, send `Retry-After`, or tell their state in each reply, with the other faults
besides; last a server that dies, with a patience of 3 s. Read the ratios: the machine moves the
rest.
"""

import argparse
import itertools
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from judge.files.runs import read_summary
from tests.asked import Asked
from tests.commands import judge, line, write
from tests.faults import Faulty
from tests.replies import Answer, Script, Slow, Tokens, right
from tests.server import JudgeServer

DELAY: Final = 0.05
RATE: Final = 60.0
"""Of the buckets, a second: a fraction of what a clean run asks for."""
ROOM: Final = 30.0
_RUNS: Final = itertools.count()


def slow(asked: Asked) -> Answer:
    return Slow(DELAY, right(asked))


def timed(place: Path, answers: int, script: Script) -> tuple[float, JudgeServer]:
    """Seconds from the first question to the end of the run, and who was asked."""
    begun: list[float] = []

    def noted(asked: Asked) -> Answer:
        if not asked.is_probe:
            begun.append(time.perf_counter())
        return script(asked)

    samples = write(
        place / "in.jsonl", [line(f"q{n}", f"Room {n} is open.") for n in range(answers)]
    )
    with JudgeServer(noted) as server:
        words = ("score", samples, "-o", place / "run", *server.words, "--force")
        ran = judge(*words, "--cache-dir", place / f"kept{next(_RUNS)}", "--timeout", 1)
        took = time.perf_counter() - begun[0]
    assert ran.code in {0, 3}, ran.err
    summary = read_summary(place / "run")
    print(f"    {ran.code=} {summary.calls} calls, {summary.retries} retries, {summary.unscored}")
    return took, server


def main() -> None:
    reading = argparse.ArgumentParser(prog="pace.py")
    reading.add_argument("--answers", type=int, default=600)
    answers = reading.parse_args().answers
    os.environ.pop("OPENAI_API_KEY", None)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        os.environ["XDG_CACHE_HOME"] = name
        clean, _ = timed(place, answers, slow)
        print(f"clean                     {clean:6.2f} s, {answers / clean:.0f} answers/s")
        took, _ = timed(place, answers, Faulty(slow, 0.05))
        print(f"random faults             {took:6.2f} s, {took / clean:.2f} × clean (at most 2)")
        kinds = {
            "says nothing": Tokens(RATE, ROOM, then=slow),
            "Retry-After": Tokens(RATE, ROOM, waits=True, then=slow),
            "tells its state": Tokens(RATE, ROOM, told=True, then=slow),
        }
        for kind, bucket in kinds.items():
            took, server = timed(place, answers, Faulty(bucket))
            share = (bucket.taken - ROOM) / took / RATE
            print(
                f"bucket, {kind:17} {took:6.2f} s, {share:.2f} of its rate (at least .7), "
                f"{bucket.refused / server.calls:.2f} of the requests refused"
            )
        with JudgeServer(slow) as server:
            assert judge("score", place / "in.jsonl", "-o", place / "a", *server.words).code == 0
        write(place / "in.jsonl", [line(f"q{n}", f"Hall {n} is open.") for n in range(answers)])
        words = ("score", place / "in.jsonl", "-o", place / "b", *server.words, "--patience", 3)
        began = time.perf_counter()
        code = judge(*words).code
        took = time.perf_counter() - began
        print(f"dead server, patience 3   {took:6.2f} s (at most 13), exit code {code} (3)")


if __name__ == "__main__":
    main()
