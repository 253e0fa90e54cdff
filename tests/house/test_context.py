"""How well chunks support the references: what is asked, cached, counted and gated, over HTTP."""

from pathlib import Path
from typing import Final

import pytest
from pydantic import JsonValue

from judge import ContextScores, SampleResult, evaluate
from judge.inputs.runs import read_summary
from judge.records import ContextTotals
from tests.chat_call import ChatCall
from tests.commands import Ran, judge, line, results, write
from tests.faults import CRASHED
from tests.replies import Answer, Says, packed, right, verdict
from tests.server import JudgeServer

OPENS: Final = "The canteen opens at seven."
CHUNKS: Final = ("The library is upstairs.", OPENS, "Guests pay five euros.", "It closes at nine.")
SAID: Final = {
    "The canteen opens at seven in the morning.": ("full", [2]),
    "It closes at nine or ten.": ("partial", [4]),
    "It was founded in 1904.": ("none", []),
    "食堂七点开门。": ("full", [1, 3]),
    "Welcome, everyone.": ("no_claim", []),
}
"""The labels that a careful reader gives to the claims of references, and the chunks."""
ROWS: Final[list[tuple[str | None, float | None, float | None]]] = [
    # reference, recall and precision by hand
    (" ".join(list(SAID)[:3]), (1 + 1 / 2 + 0) / 3, (1 / 2 + 2 / 4) / 2),
    ("食堂七点开门。", 1.0, (1 / 1 + 2 / 3) / 2),
    ("It was founded in 1904.", 0.0, 0.0),
    ("The canteen opens at seven in the morning. Welcome, everyone.", 1.0, 1 / 2),
    ("The server fails here.", None, None),
    ("The provided documents do not say when it opens.", None, None),
    (None, None, None),
]


def reader(asked: ChatCall) -> Answer:
    claims = asked.sentences
    if any("fails" in text for text in claims.values()):
        return CRASHED
    if asked.is_about_question or not set(claims.values()) & set(SAID):
        return right(asked)
    listed: list[dict[str, JsonValue]] = []
    for each in asked.ids:
        support, supporting = SAID[claims[each]]
        quotes: list[JsonValue] = [
            {"chunk": number, "quote": asked.chunks[number - 1]} for number in supporting
        ]
        own = verdict(asked, each, support)
        listed.append(own | {"evidence": quotes, "supporting": list[JsonValue](supporting)})
    return Says(packed(listed))


def lines() -> list[dict[str, JsonValue]]:
    return [
        line(str(n), f"Room {n} opens at seven.", query="When does it open?", chunks=list(CHUNKS))
        | ({} if gold is None else {"gold_answer": gold})
        for n, (gold, *_) in enumerate(ROWS)
    ]


def score(place: Path, run: str, server: JudgeServer, *more: object) -> Ran:
    write(place / "in.jsonl", lines())
    return judge("score", place / "in.jsonl", "-o", place / run, *server.words, *more)


def found(result: SampleResult) -> ContextScores:
    assert result.context is not None
    return result.context


def totals(run: Path) -> ContextTotals:
    of_run = read_summary(run).context
    assert of_run is not None
    return of_run


def test_references_are_judged_by_the_chunks_in_one_more_call(place: Path) -> None:
    with JudgeServer(reader) as server:
        ran = score(place, "first", server, "--context", "--attempts", 1)
        assert ran.code == 0, ran.err
        # An answer costs one call, and its reference another: but not one without claims.
        assert server.calls == 7 + 5
        shown = next(each for each in server.requests if "founded in 1904" in each.user)
        assert shown.chunks == list(CHUNKS)
        score(place, "again", server, "--context", "--attempts", 1)
        # Nothing is asked twice, except what failed.
        assert server.calls == 7 + 5 + 1
    for run in ("first", "again"):
        for (gold, recall, precision), result in zip(ROWS, results(place / run), strict=True):
            own = found(result)
            assert own.recall == pytest.approx(recall), gold
            assert own.precision == pytest.approx(precision), gold
            assert "faithfulness-v3" in own.signature
    of_run = totals(place / "first")
    recalled, precise = of_run.context_recall, of_run.context_precision
    assert recalled is not None
    assert precise is not None
    assert recalled.macro == pytest.approx((0.5 + 1 + 0 + 1) / 4)
    assert precise.macro == pytest.approx((0.5 + 5 / 6 + 0 + 0.5) / 4)
    # Pooled over six judged claims: full, partial, none, full, none, full.
    assert recalled.micro == pytest.approx(3.5 / 6)
    assert (recalled.answers, recalled.items) == (4, 6)
    assert recalled.interval.low < recalled.macro < recalled.interval.high
    limits, other = of_run.context_recall_bounds, of_run.context_precision_bounds
    assert limits is not None
    assert other is not None
    assert (limits.low, limits.high) == pytest.approx((2.5 / 5, 3.5 / 5))
    assert (other.low, other.high) == pytest.approx(((11 / 6) / 5, (11 / 6 + 1) / 5))
    assert of_run.statuses == {"no_reference": 1, "no_claims": 1, "unscored": 1, "scored": 4}
    assert (of_run.unscored, of_run.untrusted) == ({"server_error": 1}, False)
    assert "context is not measured in 1 answer without a gold_answer" in " ".join(ran.out.split())


def test_the_triad_costs_three_calls_and_prints_one_table(place: Path) -> None:
    write(place / "in.jsonl", lines()[:1])
    with JudgeServer(reader) as server:
        for calls, options in enumerate(([], ["--relevance"], ["--triad"]), 1):
            before, run = server.calls, place / f"run{calls}"
            words = ("score", place / "in.jsonl", "-o", run, "--no-cache", *server.words)
            ran = judge(*words, *options)
            assert (ran.code, server.calls - before) == (0, calls)
        settings = server.config(triad=True)
        assert (settings.relevance, settings.context) == (True, True)
        (result,) = evaluate(lines()[:1], settings)
        assert set(result.added) == {"relevance", "context"}
    title, names = (
        "Faithfulness, answer relevance and context",
        ("faithfulness", "answer relevance"),
    )
    table = ran.out[ran.out.index(title) :].split("\n\n")[1]
    assert all(name in table for name in names)
    report = judge("report", place / "run3", "-o", place / "r.html")
    assert report.code == 0
    assert (place / "r.html").read_text("utf-8").count(f"<caption>{title}</caption>") == 1
