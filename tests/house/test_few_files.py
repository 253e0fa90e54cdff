"""Where a process may open few files there is less in flight, and nothing is lost."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from judge.inputs.runs import read_summary
from tests.commands import line, write
from tests.replies import Slow, right
from tests.server import JudgeServer

ANSWERS = 80


@pytest.fixture
def samples(place: Path) -> Path:
    lines = [line(f"q{n}", f"Room {n} is open.") for n in range(ANSWERS)]
    return write(place / "in.jsonl", lines)


def test_fewer_answers_are_in_flight(samples: Path) -> None:
    with JudgeServer(lambda call: Slow(0.05, right(call))) as server:
        words = ("score", samples, "-o", samples.with_name("run"), *server.words)
        # A new process, because the limit holds for a whole process.
        ran = subprocess.run(
            [
                "/bin/sh",
                "-c",
                f'ulimit -n 64 && exec "{sys.executable}" -m judge "$@"',
                "sh",
                *map(str, words),
            ],
            env={**os.environ, "JUDGE_CONCURRENCY": "300", "JUDGE_ATTEMPTS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert ran.returncode == 0, ran.stderr
    assert "concurrency is 32, not 300, as no more files may be open" in ran.stderr
    read = read_summary(samples.with_name("run"))
    assert (read.answers, server.calls, dict(read.unscored)) == (ANSWERS, ANSWERS, {})
