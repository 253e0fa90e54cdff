from itertools import permutations

import pytest

from judge.config import Config
from judge.errors import ConfigError
from judge.records import (
    CorpusBounds,
    CorpusScore,
    CorrectnessTotals,
    GateResult,
    Interval,
    Sample,
    Summary,
)
from judge.records.comparison import Side
from judge.reports.gate import GATED, OPTIONS, Gate, Gates, exit_code, hold, parse_gate, parse_loss
from judge.scores.answer import aggregate
from judge.scores.totals import summarize
from tests.comparisons import compared

NOTHING = summarize([])


def interval(low: float, high: float) -> Interval:
    return Interval(low=low, high=high, method="wilson_effective")


SCORE = CorpusScore(macro=0.8, micro=0.7, answers=9, items=30, interval=interval(0.6, 0.9))
BOUNDS = CorpusBounds(
    low=0.75,
    high=0.85,
    answers=10,
    low_interval=interval(0.5, 0.88),
    high_interval=interval(0.65, 0.97),
)


F1 = SCORE.model_copy(update={"macro": 0.55})
COMPARED = summarize([compared("q", "f", "f")]).correctness


def totals(*, untrusted: bool = False) -> Summary:
    rates = ("contradiction_rate", "hallucination_rate")
    judged = ("faithfulness", "faithfulness_strict", *rates, "citation_recall")
    bounds = {f"{name}_bounds": BOUNDS for name in judged}
    scores = dict.fromkeys((*judged, "coverage", "abstentions"), SCORE)
    return NOTHING.model_copy(update={**scores, **bounds, "untrusted": untrusted})


def with_correctness(**changes: object) -> Summary:
    """Totals with an F1 of .55, whose lower bound's interval begins at .5; recall has no value."""
    assert COMPARED is not None
    fields = {"f1": F1, "f1_bounds": BOUNDS, "precision": SCORE, "precision_bounds": None}
    fields |= {"f1_overall": SCORE, "f1_overall_bounds": BOUNDS}
    found = COMPARED.model_copy(update=fields | {"recall": None} | changes)
    return totals().model_copy(update={"correctness": found})


def held(summary: Summary, *passed: bool | None) -> Summary:
    """The totals with gates, each failed, passed, or on nothing."""
    gates = tuple(
        GateResult(
            name="coverage",
            side="least",
            bound=0.5,
            value=None if each is None else float(each),
            what="",
            passed=bool(each),
        )
        for each in passed
    )
    return summary.model_copy(update={"gates": gates})


def test_every_score_of_the_summary_can_be_gated() -> None:
    compared_too = {"f1", "precision", "recall", "f1_with_fallback", "f1_overall", "recall_overall"}
    judged = GATED.keys() | {"abstentions"}  # its gate is abstention_rate
    for record, names in ((Summary, judged), (CorrectnessTotals, compared_too)):
        fields = record.model_fields.items()
        scores = {name for name, field in fields if field.annotation == CorpusScore | None}
        assert scores
        assert scores <= names
    assert [name for name, side in GATED.items() if side == "most"] == [
        "hallucination_rate",
        "hallucination_rate_strict",
        "contradiction_rate",
        "abstention_rate",
        "abstention_rate_answerable",  # to abstain from what has no answer is right
    ]


REFUSED: list[tuple[str, Side]] = [
    *((f"faithfulness{share}", "least") for share in ("", "=", "=much", "=1.1", "=-0.1", "=nan")),
    *((f"contradiction_rate{share}", "most") for share in ("", "=2", "=inf")),
    ("", "least"),
    ("answers=1", "least"),
    ("=0.5", "most"),
    ("contradiction_rate=0.1", "least"),
    ("coverage=0.5", "most"),
]


@pytest.mark.parametrize(("text", "side"), REFUSED)
def test_another_gate_is_refused(text: str, side: Side) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_gate(text, side)
    assert str(caught.value).startswith(f"{OPTIONS[side]} {text!r}: ")


def test_a_misspelled_score_is_answered_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="unknown score 'coverge'; did you mean 'coverage'"):
        parse_loss("coverge=0.1", of_mean=False)


def test_what_is_held_against_a_gate() -> None:
    rows = {
        ("faithfulness", False): 0.8,
        ("coverage", False): 0.8,
        ("faithfulness", True): 0.5,  # failures could hide in it: they count 0
        ("coverage", True): 0.6,
        ("faithfulness_with_fallback", False): None,
        ("contradiction_rate", False): 0.8,
        ("contradiction_rate", True): 0.97,  # here they count 1
        ("citation_validity", True): None,
        ("abstention_rate", False): 0.8,
        ("abstention_rate", True): 0.9,  # the upper limit: no failure can hide in it
        ("abstention_rate_answerable", True): None,
        ("correctness", False): 0.55,
        ("correctness", True): 0.5,  # the failures count 0
        ("correctness_precision", True): 0.6,
        ("correctness_recall", False): None,
    }
    found = {
        (name, strict): hold(Gate(name, 0.5, strict), with_correctness()).value
        for name, strict in rows
    }
    assert found == rows


def test_a_gate_is_passed_at_its_value_and_beyond_rounding_errors_aside() -> None:
    for name, passed in (("faithfulness", [1, 1, 0]), ("contradiction_rate", [0, 1, 1])):
        assert [hold(Gate(name, x), totals()).passed for x in (0.79, 0.8, 0.81)] == passed
        for values in permutations((0.6, 0.7, 0.8)):
            score = SCORE.model_copy(update={"macro": sum(values) / 3})
            summary = totals().model_copy(update={name: score})
            assert hold(Gate(name, 0.7), summary).passed


def test_three_comes_before_one() -> None:
    rows: list[tuple[Summary, list[bool | None], int]] = [
        (totals(), [], 0),
        (totals(), [True, False], 1),
        (totals(), [False, None], 3),
        (totals(untrusted=True), [], 3),
        (totals(untrusted=True), [False], 3),
        (with_correctness(), [True], 0),
        (with_correctness(untrusted=True), [False], 3),
    ]
    for summary, passed, code in rows:
        assert exit_code(held(summary, *passed)) == code


def test_nothing_measured_passes_no_gate() -> None:
    for name, side in GATED.items():
        assert not hold(Gate(name, 0 if side == "least" else 1), NOTHING).passed
    # A run without claims fails no run but any gate.
    claimless = summarize([aggregate(Sample(qid="q"), [], {}, [], signature="s")])
    assert exit_code(claimless) == 0
    assert exit_code(Gates((Gate("faithfulness", 0.5),)).hold(claimless)) == 3
    unmeasured = Gates((Gate("correctness", 0),)).hold(totals())
    assert [(each.value, each.passed) for each in unmeasured.gates] == [(None, False)]
    assert exit_code(unmeasured) == 3


def test_a_gate_on_what_is_not_going_to_be_measured_is_refused() -> None:
    for name, setting in (
        ("correctness", "correctness"),
        ("correctness_precision", "correctness"),
        ("relevance_overall", "relevance"),
        ("context_recall", "context"),
        ("context_precision", "context"),
    ):
        gates = Gates.read({"least": ["faithfulness=0.9", f"{name}=0.7"]}, strict=True)
        with pytest.raises(ConfigError, match=f"{name} is not measured; add --{setting}"):
            gates.check(Config(model="m"))
        gates.check(Config.model_validate({"model": "m", setting: True}))
        Gates(gates.bounds[:1]).check(Config())
    # Strictness without a gate would pass everything.
    assert Gates.read({}) == Gates()
    with pytest.raises(ConfigError, match="--strict-gate"):
        Gates.read({}, strict=True)
    # A limit in which failures hide would, too.
    with pytest.raises(ConfigError, match="--strict-gate"):
        Gates.read({"least": ["faithfulness_with_fallback=0.9"]}, strict=True)


def test_a_judge_that_is_not_expected_is_refused() -> None:
    made = "llm:gpt-5-mini@api.openai.com|prompt:faithfulness-v1@b90c7437|t:0|judge:0.1.0"
    expected = ["llm", "llm:gpt-5-mini", "llm:gpt-5-mini@api.openai.com", made, made[:-12]]
    for name in expected:
        Gates(judge=name).expect(made)
    others = ["", "llm:", "l", "similarity", "nli", "llm:gpt-5", "llm:gpt-5-mini@api.openai.co"]
    others += [made + "|t:0", made[:-1], "prompt:faithfulness-v1@b90c7437", "LLM"]
    for name in others:
        with pytest.raises(ConfigError, match="would judge"):
            Gates(judge=name).expect(made)
    Gates().expect(made)
    # An empty variable of a CI names no judge.
    offline = "similarity:lexical-v1|model:conjunction-v1@95115ac4|prior:0.9|t:0.877"
    Gates(judge="similarity").expect(offline)
    with pytest.raises(ConfigError, match="would judge"):
        Gates(judge=" ").expect(offline)
