"""Every door that reads somebody's bytes, given broken ones.

    python -m tests.bench.fuzz [SECONDS] [SEED]

Files of `fixtures/`, a run folder and a model's replies are changed at random: bits, pieces and
words that broke readers before. A command may refuse them (exit 2) or say that the judge is
unhealthy (3); a bug (70), another code or a traceback is a finding, and what caused it is kept for
a test. The same seed tries the same changes. Two minutes by default.
"""

import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.asked import Asked
from tests.commands import Ran, judge
from tests.replies import Answer, Body, Says, right
from tests.server import JudgeServer

ROOT: Final = Path(__file__).resolve().parents[2]
FIXTURES: Final = ROOT / "fixtures"
EXPECTED: Final = {0, 1, 2, 3}
SECONDS: Final = 120.0

TOKENS: Final = (
    b"", b"\0", b"\n", b"\r", b'"', b"{", b"[" * 3_000, b"]", b",", b":", b"\\", b"\\ud800",
    b"\xff", b"\xef\xbb\xbf", b"\xe2\x80\x8b", b"\xe2\x80\xae", b"\x1b[2J", b"NaN", b"1e999",
    b"-1", b"null", b"true", b"9" * 4_400, b"[1]" * 500, b"(a+)+$", b"=cmd()", b"<|im_end|>",
    b"../../x", b'{"qid":"1"}', b"a" * 20_000, b"1,000.5 %", b"2024-02-30", "【1】".encode(),
    "三分之一".encode(), "。".encode() * 50,
)  # fmt: skip


def changed(data: bytes, dice: random.Random) -> bytes:
    """The data after one to four changes."""
    for _ in range(dice.randint(1, 4)):
        start = dice.randrange(len(data) + 1)
        end = min(len(data), start + dice.choice((0, 1, 1, 8, 200)))
        kind = dice.randrange(5)
        if kind == 0:
            data = data[:start] + dice.choice(TOKENS) + data[end:]
        elif kind == 1:
            data = data[:start] + data[end:]
        elif kind == 2:
            data = data[:start] + data[start:end] * dice.randint(2, 9) + data[end:]
        elif kind == 3:
            data = data[:start] + dice.randbytes(end - start) + data[end:]
        else:
            other = dice.randrange(len(data) + 1)
            data = data[:start] + data[other : other + 100] + data[end:]
    return data


def files(dice: random.Random, work: Path) -> tuple[tuple[object, ...], bytes]:
    """A command on a changed file of the fixtures."""
    name, *command = dice.choice(
        (
            ("quickstart.jsonl", "score", "FILE", "-o", work / "run", "--force"),
            ("correctness.jsonl", "score", "FILE", "-o", work / "run", "--force", "--correctness"),
            ("samples.csv", "score", "FILE", "-o", work / "run", "--force", "--skip-bad-lines"),
            ("ragas.jsonl", "score", "FILE", "-o", work / "run", "--force"),
            ("shapes/deepeval_array.json", "score", "FILE", "-o", work / "run", "--force"),
            *(
                (f"shapes/pandas.{form}", "score", "FILE", "-o", work / "run", "--force")
                for form in ("parquet", "feather", "xlsx", "csv.zst")
            ),
            ("retrieval.jsonl", "retrieval", "FILE"),
            ("overlap.jsonl", "overlap", "FILE"),
            ("recommend_sparse.jsonl", "recommend", "FILE"),
            ("trec.qrels", "retrieval", "--qrels", "FILE", "--run", FIXTURES / "trec.run"),
            ("trec.run", "retrieval", "--qrels", FIXTURES / "trec.qrels", "--run", "FILE"),
        )
    )
    data = changed((FIXTURES / str(name)).read_bytes(), dice)
    path = work / Path(str(name)).name
    path.write_bytes(data)
    return tuple(path if word == "FILE" else word for word in command), data


def runs(dice: random.Random, work: Path, whole: Path) -> tuple[tuple[object, ...], bytes]:
    """A command on a run folder of which one file was changed, finished or not."""
    run = work / "damaged"
    shutil.rmtree(run, ignore_errors=True)
    shutil.copytree(whole, run)
    name = dice.choice(("results.jsonl", "results.jsonl", "summary.json", "run.json"))
    data = changed((run / name).read_bytes(), dice)
    (run / name).write_bytes(data)
    source = FIXTURES / "quickstart.jsonl"
    if name == "results.jsonl" and dice.random() < 0.5:
        record = json.loads((run / "run.json").read_bytes())
        (run / "run.json").write_text(json.dumps(record | {"finished": None, "seconds": None}))
        (run / name).rename(run / "results.jsonl.part")
        (run / "summary.json").unlink()
        return ("score", source, "-o", run, *dice.choice(((), ("--force",)))), data
    command: tuple[object, ...] = dice.choice(
        (
            ("show", run),
            ("show", run, "--json"),
            ("review", "draw", run, "-n", 5, "-o", work / "review.csv"),
            ("score", source, "-o", run, "--force"),
        )
    )
    return command, data


def reply(dice: random.Random) -> Callable[[Asked], Answer]:
    """A model that says the right thing, changed; its probes are answered as they should be."""

    def script(asked: Asked) -> Answer:
        said = right(asked)
        if asked.is_probe or not isinstance(said, Says) or dice.random() < 0.2:
            return said
        text = changed((said.text or "").encode(), dice).decode(errors="replace")
        return Says(text) if dice.random() < 0.8 else Body(text, "application/json")

    return script


def main(seconds: float, seed: int) -> int:
    """Try for as long as told; the number of findings."""
    dice, codes, found = random.Random(seed), Counter[str](), 0  # noqa: S311  hides nothing
    end = time.monotonic() + seconds
    kept = Path(tempfile.mkdtemp(prefix="judge-fuzz-"))
    with tempfile.TemporaryDirectory() as folder, JudgeServer(reply(dice)) as server:
        work = Path(folder)
        os.environ |= {"XDG_CACHE_HOME": folder, "JUDGE_ATTEMPTS": "1", "JUDGE_CACHE": "0"}
        os.chdir(work)
        whole = work / "whole"
        judge("score", FIXTURES / "quickstart.jsonl", "-o", whole)
        asking: tuple[object, ...] = (
            "score",
            FIXTURES / "quickstart.jsonl",
            "-o",
            work / "asked",
            "--force",
        )
        asking += ("--model", "tiny", "--base-url", server.base_url)
        while time.monotonic() < end:
            door = dice.choice(("file", "file", "run", "reply"))
            command = asking
            data = b""
            if door == "file":
                command, data = files(dice, work)
            elif door == "run":
                command, data = runs(dice, work, whole)
            ran = judge(*command)
            codes[f"{command[0]} {ran.code}"] += 1
            if ran.code not in EXPECTED or "Traceback" in ran.err:
                found += 1
                keep(kept / str(found), command, data, ran)
    for name, count in sorted(codes.items()):
        print(f"{name:12} {count:7}")
    print(f"{codes.total()} commands, seed {seed}, {found} findings" + f" in {kept}" * bool(found))
    return found


def keep(folder: Path, command: tuple[object, ...], data: bytes, ran: Ran) -> None:
    """Write down what a finding takes to be made again."""
    folder.mkdir()
    (folder / "data").write_bytes(data)
    (folder / "said").write_text(f"{' '.join(map(str, command))}\n{ran.code}\n{ran.err}")
    print(f"finding: {' '.join(map(str, command))} ended with {ran.code}; see {folder}")


if __name__ == "__main__":
    given = [*sys.argv[1:], "", ""]
    sys.exit(bool(main(float(given[0] or SECONDS), int(given[1] or 0))))
