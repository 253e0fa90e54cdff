"""Answer relevance, context scores and correctness over HTTP: their calls, counts and bounds."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from pydantic import JsonValue

from judge import (
    Config,
    ConfigError,
    CorrectnessStatus,
    RelevanceStatus,
    SampleResult,
    Unscored,
    Verdict,
    evaluate,
    to_rows,
)
from judge.inputs.runs import read_record, read_summary
from judge.records import AnswerRelevance, RelevanceTotals
from tests import present
from tests.chat_call import ChatCall
from tests.commands import Ran, judge, line, results, write
from tests.faults import CRASHED
from tests.replies import Answer, Says, Script, answered, packed, right, verdict, verdicts
from tests.server import JudgeServer

OPENS: Final = "The canteen opens at seven."


@pytest.fixture(autouse=True)
def settings(place: Path) -> None:
    (place / "judge.toml").write_text("attempts = 1\n")


def score(run: str, server: JudgeServer | None, *options: object) -> Ran:
    words = server.words if server else ()
    return judge("score", "in.jsonl", "-o", run, *words, *options)


def only(applies: Callable[[ChatCall], bool], script: Script) -> Script:
    """Return a script that answers some calls by `script`, and all others right."""
    return lambda call: script(call) if applies(call) else right(call)


def is_about_question(call: ChatCall) -> bool:
    return call.is_about_question


# Answer relevance

WHEN: Final = "When does it open, and when does it close?"
PARTS: Final = {
    WHEN: {"When does it open": "full", "when does it close": "none"},
    "Is it open today? May guests come?": {
        "Is it open today?": "full", "guests": "partial", "come?": "none",
    },
    "食堂几点开门，几点关门？": {"几点开门": "full", "几点关门": "full"},
    "Who runs it?": {"Who runs it": "none"},
}  # fmt: skip
"""The labels that a careful reader gives to the parts of each question."""
QUESTIONS: Final = [
    # question, answer, score by hand: full 1, partial 1/2, none 0, over the parts
    (WHEN, "It opens at seven [1].", 1 / 2, RelevanceStatus.SCORED),
    ("Is it open today? May guests come?", "Yes. Some may.", 1.5 / 3, RelevanceStatus.SCORED),
    ("食堂几点开门，几点关门？", "七点开门，三点关门。", 1.0, RelevanceStatus.SCORED),
    ("Who runs it?", OPENS, 0.0, RelevanceStatus.SCORED),
    ("opening hours", OPENS, 1.0, RelevanceStatus.SCORED),
    ("Who runs it?", "The provided documents do not say who runs it.", None, "abstained"),
    ("Who runs it?", "", None, "empty"),
    ("?!", OPENS, None, "no_query"),
]


def relevance_of(result: SampleResult) -> AnswerRelevance:
    return present(result.answer_relevance)


def relevance_totals(run: Path) -> RelevanceTotals:
    return present(read_summary(run).answer_relevance)


def test_parts_of_questions_are_weighed_and_nothing_is_asked_twice(place: Path) -> None:
    """Mean over the judged (1/2 + 1/2 + 1 + 0 + 1)/5 = .6; overall two more zeros: 3/7."""
    lines = [line(str(n), answer, query=query) for n, (query, answer, *_) in enumerate(QUESTIONS)]
    write(place / "in.jsonl", lines)

    def reader(call: ChatCall) -> Answer:
        return Says(answered(call, **PARTS.get(call.question, {})))

    with JudgeServer(only(is_about_question, reader)) as server:
        assert score("first", server, "--relevance").code == 0
        # A question costs one call; an abstention costs none.
        assert server.calls == (6 + 5)
        shown = next(each for each in server.requests if each.question == WHEN and each.answer)
        # Neither chunks nor their markers are shown.
        assert shown.answer == "It opens at seven    ."
        assert "Monday to Friday" not in shown.user
        score("again", server, "--relevance")
        assert server.calls == (6 + 5)
    for run in ("first", "again"):
        for (query, _, value, status), result in zip(QUESTIONS, results(place / run), strict=True):
            own = relevance_of(result)
            assert (own.score, own.status) == (value, status), query
            assert own.bounds == (None if value is None else (value, value))
            assert all(query[part.start : part.end] == part.text for part in own.parts)
            assert "relevance-v1@960423c8" in own.signature
    totals = relevance_totals(place / "first")
    relevance, overall = present(totals.relevance), present(totals.relevance_overall)
    assert (relevance.macro, overall.macro) == pytest.approx((0.6, 3 / 7))
    assert (relevance.answers, overall.answers) == (5, 7)
    rows = {row["qid"]: row["answer_relevance"] for row in to_rows(results(place / "first"))}
    assert (rows["0"], rows["5"]) == (0.5, None)


def test_failures_have_bounds_gates_and_an_exit_code(place: Path) -> None:
    """5 of 8 answers are relevant, 3 fail: bounds 5/8 to 1. A strict gate takes the lower."""
    write(place / "in.jsonl", [line(str(n), OPENS, query=f"Opens at {n}?") for n in range(8)])

    def script(call: ChatCall) -> Answer:
        return CRASHED if call.question[9] in "012" else right(call)

    gate = ("--relevance", "--fail-under", "relevance=0.9")
    with JudgeServer(only(is_about_question, script)) as server:
        ran = score("run", server, *gate)
        loose = score("loose", server, *gate, "--max-unscored", 1)
        strict = score("strict", server, *gate, "--max-unscored", 1, "--strict-gate")
    assert (ran.code, loose.code, strict.code) == (3, 0, 1)
    totals = relevance_totals(place / "run")
    bounds, relevance = present(totals.relevance_bounds), present(totals.relevance)
    assert (bounds.low, bounds.high) == (5 / 8, 1.0)
    assert (totals.untrusted, totals.unscored_share, totals.asked) == (True, 3 / 8, 8)
    assert (relevance.macro, relevance.answers) == (1.0, 5)


def test_quotes_of_the_answer_are_checked(place: Path) -> None:
    marked = "It opens at seven [1], and closes at three [1]."
    write(place / "in.jsonl", [line("a", OPENS), line("b", marked)])

    def script(call: ChatCall) -> Answer:
        reply = json.loads(answered(call))
        # The quote leaves out the markers and the spaces before them.
        true = "It opens at seven, and closes at three."
        wrong = "It opens whenever the cook comes in."
        reply["parts"][0]["evidence"] = [wrong if OPENS in call.user else true]
        return Says(json.dumps(reply))

    with JudgeServer(only(is_about_question, script)) as server:
        score("run", server, "--relevance")
        score("strict", server, "--relevance", "--require-quotes")
    kept, other = map(relevance_of, results(place / "run"))
    strict, same = map(relevance_of, results(place / "strict"))
    outcome = other.parts[0].outcome
    assert isinstance(outcome, Verdict)
    (evidence,) = outcome.evidence
    assert marked[evidence.start : evidence.end] == marked
    assert (same.score, other.flags) == (1.0, ())
    assert (kept.score, [flag.name for flag in kept.flags]) == (1.0, ["unverified_quote"])
    assert (strict.score, strict.bounds) == (None, (0.0, 1.0))
    assert [failure.reason for failure in strict.failures] == ["unverified"]


# Context

CHUNKS: Final = ("The library is upstairs.", OPENS, "Guests pay five euros.", "It closes at nine.")
CLAIMS: Final = {
    "The canteen opens at seven in the morning.": ("full", [2]),
    "It closes at nine or ten.": ("partial", [4]),
    "It was founded in 1904.": ("none", []),
    "食堂七点开门。": ("full", [1, 3]),
    "Welcome, everyone.": ("no_claim", []),
}
"""The labels that a careful reader gives to the claims of references, and the chunks."""
REFERENCES: Final[list[tuple[str | None, float | None, float | None]]] = [
    # reference, recall and precision by hand
    (" ".join(list(CLAIMS)[:3]), (1 + 1 / 2 + 0) / 3, (1 / 2 + 2 / 4) / 2),
    ("食堂七点开门。", 1.0, (1 / 1 + 2 / 3) / 2),
    ("It was founded in 1904.", 0.0, 0.0),
    ("The canteen opens at seven in the morning. Welcome, everyone.", 1.0, 1 / 2),
    ("The server fails here.", None, None),
    ("The provided documents do not say when it opens.", None, None),
    (None, None, None),
]


def read_context(call: ChatCall) -> Answer:
    claims = call.sentences
    if any("fails" in text for text in claims.values()):
        return CRASHED
    if call.is_about_question or not set(claims.values()) & set(CLAIMS):
        return right(call)
    replies: list[dict[str, JsonValue]] = []
    for each in call.ids:
        support, supporting = CLAIMS[claims[each]]
        quotes: list[JsonValue] = [
            {"chunk": number, "quote": call.chunks[number - 1]} for number in supporting
        ]
        own = verdict(call, each, support)
        replies.append(own | {"evidence": quotes, "supporting": list[JsonValue](supporting)})
    return Says(packed(replies))


def with_references() -> list[dict[str, JsonValue]]:
    return [
        line(str(n), f"Room {n} opens at seven.", query="When does it open?", chunks=list(CHUNKS))
        | ({} if gold is None else {"gold_answer": gold})
        for n, (gold, *_) in enumerate(REFERENCES)
    ]


def test_references_are_judged_by_the_chunks_in_one_more_call(place: Path) -> None:
    write(place / "in.jsonl", with_references())
    with JudgeServer(read_context) as server:
        ran = score("first", server, "--context")
        assert ran.code == 0, ran.err
        # An answer costs one call, and its reference another: but not one without claims.
        assert server.calls == 7 + 5
        shown = next(each for each in server.requests if "founded in 1904" in each.user)
        assert shown.chunks == list(CHUNKS)
        score("again", server, "--context")
        # Nothing is asked twice, except what failed.
        assert server.calls == 7 + 5 + 1
    for run in ("first", "again"):
        for (gold, recall, precision), result in zip(REFERENCES, results(place / run), strict=True):
            context = present(result.context)
            assert context.recall == pytest.approx(recall), gold
            assert context.precision == pytest.approx(precision), gold
    totals = present(read_summary(place / "first").context)
    recalled, precise = present(totals.context_recall), present(totals.context_precision)
    assert recalled.macro == pytest.approx((0.5 + 1 + 0 + 1) / 4)
    assert precise.macro == pytest.approx((0.5 + 5 / 6 + 0 + 0.5) / 4)
    assert (recalled.answers, recalled.items) == (4, 6)
    limits = present(totals.context_recall_bounds)
    other = present(totals.context_precision_bounds)
    assert (limits.low, limits.high) == pytest.approx((2.5 / 5, 3.5 / 5))
    assert (other.low, other.high) == pytest.approx(((11 / 6) / 5, (11 / 6 + 1) / 5))
    assert totals.statuses == {"no_reference": 1, "no_claims": 1, "unscored": 1, "scored": 4}
    assert (totals.unscored, totals.untrusted) == ({"server_error": 1}, False)


def test_the_triad_costs_three_calls_and_prints_one_table(place: Path) -> None:
    write(place / "in.jsonl", with_references()[:1])
    with JudgeServer(read_context) as server:
        for calls, options in enumerate(([], ["--relevance"], ["--triad"]), 1):
            before = server.calls
            ran = score(f"run{calls}", server, "--no-cache", *options)
            assert (ran.code, server.calls - before) == (0, calls)
        config = server.config(triad=True)
        (result,) = evaluate(with_references()[:1], config)
        assert set(result.added) == {"relevance", "context"}
    title = "Faithfulness, answer relevance and context"
    table = ran.out[ran.out.index(title) :].split("\n\n")[1]
    assert all(name in table for name in ("faithfulness", "answer relevance"))
    with pytest.raises(ConfigError, match=r"triad: only a language model .* or say --context in"):
        Config(triad=True)


# Correctness

FIXTURE: Final = Path(__file__).resolve().parents[2] / "fixtures" / "correctness.jsonl"
KNOWN: Final[list[dict[str, Any]]] = [
    json.loads(row) for row in FIXTURE.read_text("utf-8").splitlines()
]
COMPARED: Final = [row for row in KNOWN if row["known_precision"] is not None]
LABELS: Final = {
    "214 people work in the Lisbon office of Harrow & Pell.": "full", "214": "full",
    "云帆公司的创始人是林若兰。": "full", "林若兰": "full",
    "The Larkfield R40 has a warranty of 36 months.": "contradicted",
    "The Larkfield R40 has a warranty of 24 months.": "contradicted",
    "每晚不超过450元。": "contradicted", "每晚不超过600元。": "contradicted",
    "Fill the kettle with vinegar and water.": "full", "Boil it twice.": "none",
    "Rinse it with cold water.": "none", "Let the lid dry overnight.": "none",
    "火车票全额报销。": "full", "出租车仅在晚上十点以后报销。": "none",
    "Karl Ritter designed the town hall of Oswick.": "full",
    "Its tower was struck by lightning twice.": "none", "Karl Ritter": "full",
    "图书馆工作日上午九点至下午六点开放。": "full", "馆内设有咖啡厅。": "none",
}  # fmt: skip
"""The labels that a careful reader gives to the sentences of one text by the other text."""


def compares(call: ChatCall) -> bool:
    return not call.is_probe and "two answers" in call.messages[0][1]


def read_comparison(call: ChatCall) -> Answer:
    labels = {name: LABELS[text] for name, text in call.sentences.items()}
    return Says(verdicts(call, **labels))


def check_known(run: list[SampleResult]) -> None:
    for row, result in zip(KNOWN, run, strict=True):
        found = present(result.correctness)
        precision, recall = row["known_precision"], row["known_recall"]
        assert (result.qid, found.precision, found.recall) == (row["qid"], precision, recall)
        f1 = None
        if precision is not None:
            f1 = pytest.approx(2 * precision * recall / ((precision + recall) or 1))
        assert found.f1 == f1, row["qid"]


def test_similarity_finds_the_known_correctness(place: Path) -> None:
    shutil.copy(FIXTURE, place / "in.jsonl")
    assert score("run", None, "--correctness").code == 0
    check_known(results(place / "run"))


def test_a_language_model_finds_it_in_a_call_each_way(place: Path) -> None:
    shutil.copy(FIXTURE, place / "in.jsonl")
    with JudgeServer(only(compares, read_comparison)) as server:
        for run in ("first", "second"):
            assert score(run, server, "--correctness").code == 0
            # One call about the chunks, one each way; an abstention is not compared.
            assert (server.probes, server.calls) == (1, 3 * len(COMPARED))
    first, second = results(place / "first"), results(place / "second")
    check_known(first)
    again = [each.model_dump(exclude={"calls"}) for each in second]
    assert again == [each.model_dump(exclude={"calls"}) for each in first]
    shown = [call.chunks for call in server.requests if compares(call)]
    texts = [[row[name]] for row in COMPARED for name in ("answer", "gold_answer")]
    assert sorted(shown) == sorted(texts)
    record = read_record(place / "first")
    totals = present(read_summary(place / "first").correctness)
    assert "|prompt:correctness-v1@7fc63cac|" in present(record.correctness)
    assert "|prompt:faithfulness-v" in record.signature
    assert totals.statuses[CorrectnessStatus.ABSTAINED] == len(KNOWN) - len(COMPARED)


@pytest.mark.parametrize("fallback", [True, False])
def test_failed_comparisons_stay_open(place: Path, *, fallback: bool) -> None:
    shutil.copy(FIXTURE, place / "in.jsonl")
    with JudgeServer(only(compares, lambda _: CRASHED)) as server:
        options = () if fallback else ("--no-fallback",)
        assert score("run", server, "--correctness", *options).code == 3
    for result in results(place / "run")[: len(COMPARED)]:
        found = present(result.correctness)
        assert (result.scores.unscored, found.status) == (0, CorrectnessStatus.UNSCORED)
        assert (found.precision, found.recall, found.f1) == (None, None, None)
        assert found.f1_bounds == (0.0, 1.0)
        assert (found.f1_with_fallback is not None) is fallback
        outcomes = [each.outcome for each in found.answer]
        outcomes += [each.outcome for each in found.reference]
        assert {type(each) for each in outcomes} == {Verdict if fallback else Unscored}
