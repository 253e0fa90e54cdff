"""A budget is never exceeded, and the claims that it did not cover are counted."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge import Config, UnscoredReason
from judge.backends.openai.model import Budget
from judge.inputs.runs import read_summary
from tests import present
from tests.commands import judge, line, write
from tests.server import JudgeServer

ANSWERS = 40


@pytest.fixture
def samples(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUDGE_CONCURRENCY", "4")
    return write(place / "in.jsonl", [line(f"q{n}", f"Room {n} is open.") for n in range(ANSWERS)])


def spent(server: JudgeServer) -> int:
    return server.prompt_tokens + server.reply_tokens


def test_tokens_run_out(samples: Path, server: JudgeServer) -> None:
    assert judge("score", samples, "-o", "whole", *server.words, "--no-cache").code == 0
    each = spent(server) / ANSWERS
    before, most = spent(server), round(20.5 * each)
    words = ("score", samples, "-o", "run", *server.words, "--fail-under", "faithfulness=0.9")
    ran = judge(*words, "--max-tokens", most)
    assert ran.code == 4, ran.err
    assert 15 * each < spent(server) - before <= most
    calls = server.calls - ANSWERS
    summary = read_summary(Path("run"))
    assert (summary.answers, summary.judged, summary.over_budget) == (ANSWERS, calls, True)
    assert summary.calls == calls, "a call that the budget refused is none"
    assert summary.unscored == {UnscoredReason.BUDGET: ANSWERS - calls}
    assert not summary.untrusted
    assert summary.fallen_back == 0, "a decision is no failure to be made up for"
    assert present(summary.faithfulness).answers == calls
    low = present(summary.faithfulness_bounds).low
    assert low == pytest.approx(calls / ANSWERS), "what was not asked is missing, not right"
    assert judge(*words, "--force", "--max-tokens", 1).code == 4
    assert judge(*words, "--force").code == 0
    assert server.calls == 2 * ANSWERS, "nothing was asked twice"


def test_money_runs_out(samples: Path, server: JudgeServer) -> None:
    prices = ("--input-price", 2, "--output-price", 8)
    assert judge("score", samples, "-o", "whole", *server.words, *prices, "--no-cache").code == 0
    cost = (2 * server.prompt_tokens + 8 * server.reply_tokens) / 1e6
    assert read_summary(Path("whole")).cost == pytest.approx(cost)
    words = (*server.words, *prices, "--no-cache")
    ran = judge("score", samples, "-o", "run", *words, "--max-cost", cost / 2)
    found = present(read_summary(Path("run")).cost)
    assert ran.code == 4
    assert cost / 4 < found <= cost / 2
    # Held against the bounds, which count what was not asked, the gate fails; that says less.
    gates = ("--fail-under", "faithfulness=0.9", "--strict-gate", "--force")
    ran = judge("score", samples, "-o", "run", *words, *gates, "--max-cost", cost / 2)
    assert (ran.code, read_summary(Path("run")).gates[0].passed) == (4, False)


@given(
    st.integers(1, 20_000),
    st.lists(st.tuples(st.integers(0, 3_000), st.integers(1, 300), st.booleans()), max_size=60),
)
def test_the_budget_is_never_exceeded(most: int, questions: list[tuple[int, int, bool]]) -> None:
    budget = Budget(Config(max_tokens=most))
    in_flight: list[tuple[int, int]] = []
    spent, refused, most_in_flight = 0, False, 1
    for prompt, reply, ends in questions:
        if budget.begin(prompt):
            assert not refused, "after a refusal shorter requests are refused too"
            in_flight.append((prompt, reply))
            most_in_flight = max(most_in_flight, len(in_flight))
            spent += prompt + reply
        else:
            refused = True
            assert budget.over == f"--max-tokens {most}"
        if ends and in_flight:
            prompt, reply = in_flight.pop(0)  # noqa: PLW2901  the oldest request's
            budget.end(prompt, prompt, reply)
    # Each reply in flight may be longer than the mean of those before it.
    assert spent <= most + 300 * most_in_flight
