"""Whether an answer answers its question: what is asked, cached, counted and gated, over HTTP."""

import json
from pathlib import Path
from typing import Final

import pytest

from judge import (
    AnswerRelevance,
    RelevanceStatus,
    SampleResult,
    Verdict,
    to_rows,
)
from judge.inputs.runs import read_summary
from judge.records import RelevanceTotals
from tests.chat_call import ChatCall
from tests.commands import Ran, judge, line, results, write
from tests.faults import CRASHED
from tests.replies import Answer, Says, Script, answered, right
from tests.server import JudgeServer

WHEN: Final = "When does it open, and when does it close?"
SAID: Final = {
    WHEN: {"When does it open": "full", "when does it close": "none"},
    "Is it open today? May guests come?": {
        "Is it open today?": "full", "guests": "partial", "come?": "none",
    },
    "食堂几点开门，几点关门？": {"几点开门": "full", "几点关门": "full"},
    "Who runs it?": {"Who runs it": "none"},
}  # fmt: skip
"""The labels that a careful reader gives to the parts of each question."""
OPENS: Final = "The canteen opens at seven."


def reader(asked: ChatCall) -> Answer:
    if not asked.is_about_question:
        return right(asked)
    return Says(answered(asked, **SAID.get(asked.question, {})))


def relating(script: Script) -> Script:
    """As `script` says of questions, and right of sentences."""

    def answer(asked: ChatCall) -> Answer:
        return script(asked) if asked.is_about_question else right(asked)

    return answer


def score(place: Path, run: str, server: JudgeServer, *more: object) -> Ran:
    return judge(
        "score", place / "in.jsonl", "-o", place / run, "--relevance", *server.words, *more
    )


def found(result: SampleResult) -> AnswerRelevance:
    assert result.answer_relevance is not None
    return result.answer_relevance


def totals(run: Path) -> RelevanceTotals:
    of_run = read_summary(run).answer_relevance
    assert of_run is not None
    return of_run


ROWS: Final = [
    # question, answer, score by hand: full 1, partial 1/2, none 0, over the parts
    (WHEN, "It opens at seven [1].", 1 / 2, RelevanceStatus.SCORED),
    ("Is it open today? May guests come?", "Yes. Some may.", 1.5 / 3, RelevanceStatus.SCORED),
    ("食堂几点开门，几点关门？", "七点开门，三点关门。", 1.0, RelevanceStatus.SCORED),
    ("Who runs it?", OPENS, 0.0, RelevanceStatus.SCORED),
    ("opening hours", OPENS, 1.0, RelevanceStatus.SCORED),
    ("Who runs it?", "The provided documents do not say who runs it.", None, "abstained"),
    ("Who runs it?", "", None, "empty"),
    (" ", OPENS, None, "no_query"),
    ("?!", OPENS, None, "no_query"),
]  # fmt: skip


def test_parts_are_weighed_and_nothing_is_asked_twice(place: Path) -> None:
    """Mean over the judged (1/2 + 1/2 + 1 + 0 + 1)/5 = .6; overall two more zeros: 3/7."""
    lines = [line(str(n), answer, query=query) for n, (query, answer, *_) in enumerate(ROWS)]
    write(place / "in.jsonl", lines)
    with JudgeServer(reader) as server:
        assert score(place, "first", server).code == 0
        # A question costs one call; an abstention costs none.
        assert server.calls == (7 + 5)
        shown = next(each for each in server.requests if each.question == WHEN and each.answer)
        # Neither chunks nor their markers are shown.
        assert shown.answer == "It opens at seven    ."
        assert "Monday to Friday" not in shown.user
        score(place, "again", server)
        assert server.calls == (7 + 5)
        # Other chunks are another faithfulness, and the same question and answer.
        write(place / "in.jsonl", [each | {"chunks": ["Other words."]} for each in lines])
        score(place, "chunks", server)
        assert server.calls == (7 + 5) + 7
    for run in ("first", "again", "chunks"):
        for (query, _, value, status), result in zip(ROWS, results(place / run), strict=True):
            own = found(result)
            assert (own.score, own.status) == (value, status), query
            assert own.bounds == (None if value is None else (value, value))
            assert all(query[part.start : part.end] == part.text for part in own.parts)
            assert "relevance-v1@960423c8" in own.signature
    of_run = totals(place / "first")
    assert of_run.relevance is not None
    assert of_run.relevance_overall is not None
    assert of_run.relevance.macro == pytest.approx(0.6)
    assert of_run.relevance_overall.macro == pytest.approx(3 / 7)
    assert (of_run.relevance.answers, of_run.relevance_overall.answers) == (5, 7)
    # 9 parts of weight 5.5; overall two silent answers beside them.
    assert of_run.relevance.micro == pytest.approx(5.5 / 9)
    assert of_run.relevance_overall.micro == pytest.approx(5.5 / 11)
    flagged = [
        each.qid for each in results(place / "first") if "beside_question" in str(each.flags)
    ]
    assert flagged == ["3"]
    rows = {row["qid"]: row["answer_relevance"] for row in to_rows(results(place / "first"))}
    assert (rows["0"], rows["5"]) == (0.5, None)


def test_failures_have_bounds_gates_and_an_exit_code(place: Path) -> None:
    """5 of 8 answers are relevant, 3 fail: bounds 5/8 to 1. A strict gate takes the lower."""
    lines = [line(str(n), OPENS, query=f"Opens at {n}?") for n in range(8)]
    write(place / "in.jsonl", lines)
    (place / "judge.toml").write_text("attempts = 1\n")

    def script(asked: ChatCall) -> Answer:
        return CRASHED if asked.question[9] in "012" else right(asked)

    gate = ("--fail-under", "relevance=0.9")
    with JudgeServer(relating(script)) as server:
        ran = score(place, "run", server, *gate)
        loose = score(place, "loose", server, *gate, "--max-unscored", 1)
        strict = score(place, "strict", server, *gate, "--max-unscored", 1, "--strict-gate")
    assert (ran.code, loose.code, strict.code) == (3, 0, 1)
    of_run = totals(place / "run")
    assert of_run.relevance_bounds is not None
    assert (of_run.relevance_bounds.low, of_run.relevance_bounds.high) == (5 / 8, 1.0)
    assert (of_run.untrusted, of_run.unscored_share, of_run.asked) == (True, 3 / 8, 8)
    assert of_run.relevance is not None
    assert (of_run.relevance.macro, of_run.relevance.answers) == (1.0, 5)


def test_quotes_of_the_answer_are_checked(place: Path) -> None:
    marked = "It opens at seven [1], and closes at three [1]."
    write(place / "in.jsonl", [line("a", OPENS), line("b", marked)])

    def script(asked: ChatCall) -> Answer:
        said = json.loads(answered(asked))
        # The quote leaves out the markers and the spaces before them.
        true = "It opens at seven, and closes at three."
        wrong = "It opens whenever the cook comes in."
        said["parts"][0]["evidence"] = [wrong if OPENS in asked.user else true]
        return Says(json.dumps(said))

    with JudgeServer(relating(script)) as server:
        score(place, "run", server)
        score(place, "strict", server, "--require-quotes")
    kept, other = map(found, results(place / "run"))
    strict, same = map(found, results(place / "strict"))
    outcome = other.parts[0].outcome
    assert isinstance(outcome, Verdict)
    (evidence,) = outcome.evidence
    assert marked[evidence.start : evidence.end] == marked
    assert (same.score, other.flags) == (1.0, ())
    assert (kept.score, [flag.name for flag in kept.flags]) == (1.0, ["unverified_quote"])
    assert (strict.score, strict.bounds) == (None, (0.0, 1.0))
    assert [failure.reason for failure in strict.failures] == ["unverified"]
