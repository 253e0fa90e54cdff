"""Where a process may open few files there is less in flight, and nothing is lost."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.files.runs import read_summary
from tests.asked import Asked
from tests.commands import judge, line, results, write
from tests.replies import Answer, Slow, right
from tests.server import JudgeServer

pytestmark = pytest.mark.no_cover

ANSWERS = 80
HOLDING = "import os; held = [os.dup(0) for _ in range({})]; from judge.cli.app import main; main()"


def slowly(asked: Asked) -> Answer:
    return Slow(0.05, right(asked))


@pytest.fixture
def samples(place: Path) -> Path:
    lines = [line(f"q{n}", f"Room {n} is open.") for n in range(ANSWERS)]
    return write(place / "in.jsonl", lines)


@pytest.fixture
def slow(place: Path) -> Iterator[JudgeServer]:  # noqa: ARG001  nobody's settings but ours
    with JudgeServer(slowly) as server:
        yield server


def limited(
    samples: Path, *more: str, held: int = 0, files: int = 64
) -> "subprocess.CompletedProcess[str]":
    """`judge score` in a process that may have so many files open, and holds some already."""
    words = ("score", str(samples), "-o", str(samples.with_name("run")), *more)
    return subprocess.run(
        # A process of its own takes about a second: the limit is one of the whole process.
        [
            *("sh", "-c", f'ulimit -n {files} && exec "$@"', "sh"),
            *(sys.executable, "-c", HOLDING.format(held), *words),
        ],
        env={**os.environ, "JUDGE_CONCURRENCY": "300", "JUDGE_ATTEMPTS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_fewer_answers_are_in_flight(samples: Path, slow: JudgeServer) -> None:
    ran = limited(samples, *slow.words)
    assert ran.returncode == 0, ran.stderr
    assert "concurrency is 32, not 300, as no more files may be open" in ran.stderr
    read = read_summary(samples.with_name("run"))
    assert (read.answers, slow.calls, dict(read.unscored)) == (ANSWERS, ANSWERS, {})


def test_what_finds_no_file_to_open_is_told_and_made_up_for(
    samples: Path, slow: JudgeServer
) -> None:
    ran = limited(samples, *slow.words, held=29)
    assert ran.returncode in {2, 3}, ran.stderr
    assert "Traceback" not in ran.stderr
    if ran.returncode == 2:
        told = ran.stderr.splitlines()[-1]
        assert told.startswith("judge: Too many open files; allow more (ulimit -n")
    else:
        reasons = read_summary(samples.with_name("run")).unscored
        assert [reason.value for reason in reasons] == ["connection"]
    again = judge("score", samples, "-o", samples.with_name("run"), *slow.words, "--force")
    assert again.code == 0
    assert len(results(samples.with_name("run"))) == ANSWERS
    assert slow.calls <= ANSWERS + 32  # all but those in flight when it ended were kept


def test_no_room_for_an_event_loop_is_one_line(samples: Path) -> None:
    for files in (6, 7):
        ran = limited(samples, files=files)
        assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1), ran.stderr
        assert ran.stderr.startswith("judge: Too many open files; allow more (ulimit -n 1024)")
