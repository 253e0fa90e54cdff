"""`judge score --dry-run`: what would be asked, and nothing is."""

import io
import re
from pathlib import Path

import pytest

from tests.commands import judge, line, write
from tests.server import JudgeServer, refused_url

ANSWERS = 30


@pytest.fixture
def samples(place: Path) -> Path:
    lines = [line(f"q{n}", f"Room {n} is open. It has {n} seats.") for n in range(ANSWERS)]
    return write(place / "in.jsonl", lines)


def numbers(out: str, name: str) -> list[float]:
    told = next(each for each in out.splitlines() if each.strip().startswith(name))
    return [float(each.replace(",", "")) for each in re.findall(r"\d[\d,.]*", told)]


def test_what_is_kept_is_taken_off_and_nothing_is_sent_or_written(
    samples: Path, server: JudgeServer
) -> None:
    words = ("score", samples, *server.words, "--input-price", 2, "--output-price", 8)
    ran = judge(*words, "--dry-run")
    assert ran.code == 0, ran.err
    assert (server.requests, Path("runs").exists()) == ([], False)
    assert numbers(ran.out, "answers") == [ANSWERS, 2 * ANSWERS, 0]
    assert numbers(ran.out, "calls") == [ANSWERS]
    prompt, reply = numbers(ran.out, "tokens")
    assert numbers(ran.out, "cost")[0] == pytest.approx((2 * prompt + 8 * reply) / 1e6, rel=0.01)

    short = write(Path("ten.jsonl"), [line(f"q{n}", f"Room {n} is open.") for n in range(10)])
    assert judge("score", short, *server.words).code == 0
    assert numbers(judge("score", short, *server.words, "--dry-run").out, "calls") == [0]
    assert judge(*words).code == 0
    ran = judge(*words, "--dry-run")
    assert numbers(ran.out, "answers") == [ANSWERS, 2 * ANSWERS, 2 * ANSWERS]
    assert (numbers(ran.out, "calls"), numbers(ran.out, "cost")) == ([0], [0])
    # It counted what the run then sent, to a fifth: a server has its own way to count.
    assert prompt == pytest.approx(server.prompt_tokens * ANSWERS / (ANSWERS + 10), rel=0.2)


def test_a_server_that_is_not_there_need_not_be(
    samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("--model", "m", "--base-url", refused_url(), "--dry-run", "--limit", 6, "--rpm", 2)
    ran = judge("score", samples, *words, "--correctness", "--relevance")
    assert ran.code == 0, ran.err
    assert numbers(ran.out, "calls") == [12]  # no sample has a reference; each has a question
    assert numbers(ran.out, "minutes")[0] == 6
    # Nothing was requested, and nothing is remembered of what the server would have accepted.
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(samples.read_bytes())))
    piped = judge("score", "-", *words)
    assert numbers(piped.out, "calls") == [6]
