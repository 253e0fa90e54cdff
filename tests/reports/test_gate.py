from itertools import permutations

import pytest

from judge.errors import ConfigError
from judge.records import CorpusBounds, CorpusScore, Interval, Sample, Summary
from judge.reports.gate import (
    GATED,
    Gate,
    GateResult,
    check_gates,
    exit_code,
    hold,
    parse_gate,
)
from judge.scores.answer import aggregate
from judge.scores.totals import summarize
from tests.compared import compared

NOTHING = summarize([])


def interval(low: float, high: float) -> Interval:
    return Interval(low=low, high=high, method="wilson")


SCORE = CorpusScore(macro=0.8, micro=0.7, answers=9, items=30, interval=interval(0.6, 0.9))
BOUNDS = CorpusBounds(low=0.75, high=0.85, answers=10, low_interval=interval(0.5, 0.88))


F1 = SCORE.model_copy(update={"macro": 0.55})
COMPARED = summarize([compared("q", "f", "f")]).correctness


def totals(*, untrusted: bool = False) -> Summary:
    judged = ("faithfulness", "faithfulness_strict", "citation_recall")
    bounds = {f"{name}_bounds": BOUNDS for name in judged}
    scores = dict.fromkeys((*judged, "coverage"), SCORE)
    return NOTHING.model_copy(update={**scores, **bounds, "untrusted": untrusted})


def with_correctness(**changes: object) -> Summary:
    """Totals with an F1 of .55, whose lower bound's interval begins at .5; recall has no value."""
    assert COMPARED is not None
    fields = {"f1": F1, "f1_bounds": BOUNDS, "precision": SCORE, "precision_bounds": None}
    found = COMPARED.model_copy(update=fields | {"recall": None} | changes)
    return totals().model_copy(update={"correctness": found})


def result(*, passed: bool | None) -> GateResult:
    return GateResult(Gate("coverage", 0.5), None if passed is None else float(passed), "")


def test_a_gate_names_a_score_and_a_share() -> None:
    rows = [(f"{name}={share}", Gate(name, share)) for name in GATED for share in (0, 0.9, 1)]
    assert [parse_gate(text) for text, _ in rows] == [gate for _, gate in rows]


def test_another_gate_is_refused_by_its_value_and_a_way_out() -> None:
    shares = ("", "=", "=much", "=1.1", "=-0.1", "=nan", "=inf")
    others = ("", "contradiction_rate=0.1", "answers=1", "=0.5")
    for text in (*(f"faithfulness{share}" for share in shares), *others):
        with pytest.raises(ConfigError) as caught:
            parse_gate(text)
        assert repr(text) in str(caught.value)
        assert "one of faithfulness" in str(caught.value) or "from 0 to 1" in str(caught.value)


def test_what_is_held_against_a_gate() -> None:
    rows = {
        ("faithfulness", False): 0.8,
        ("coverage", False): 0.8,
        ("faithfulness", True): 0.5,  # failures could hide in it: they count 0
        ("coverage", True): 0.6,
        ("faithfulness_strict", True): 0.5,
        ("citation_recall", True): 0.5,
        ("citation_recall", False): 0.8,
        ("citation_validity", True): None,
        ("correctness", False): 0.55,
        ("correctness", True): 0.5,  # likewise
        ("correctness_precision", False): 0.8,
        ("correctness_precision", True): 0.6,
        ("correctness_recall", False): None,
        ("correctness_recall", True): None,
    }
    found = {
        (name, strict): hold(Gate(name, 0.5), with_correctness(), strict=strict).value
        for name, strict in rows
    }
    assert found == rows


def test_a_gate_is_passed_at_its_value_and_above_rounding_errors_aside() -> None:
    passed = [hold(Gate("faithfulness", least), totals()).passed for least in (0.79, 0.8, 0.81)]
    assert passed == [True, True, False]
    for values in permutations((0.6, 0.7, 0.8)):
        score = SCORE.model_copy(update={"macro": sum(values) / 3})
        summary = totals().model_copy(update={"faithfulness": score})
        assert hold(Gate("faithfulness", 0.7), summary).passed


def test_three_comes_before_one() -> None:
    rows: list[tuple[Summary, list[bool | None], int]] = [
        (totals(), [], 0),
        (totals(), [True, True], 0),
        (totals(), [True, False], 1),
        (totals(), [False, None], 3),
        (totals(untrusted=True), [], 3),
        (totals(untrusted=True), [True], 3),
        (totals(untrusted=True), [False], 3),
        (with_correctness(), [True], 0),
        (with_correctness(untrusted=True), [True], 3),
        (with_correctness(untrusted=True), [False], 3),
    ]
    for summary, passed, code in rows:
        assert exit_code(summary, [result(passed=one) for one in passed]) == code


def test_nothing_measured_passes_no_gate() -> None:
    assert not hold(Gate("faithfulness", 0), NOTHING).passed
    # A run without claims fails no run but any gate.
    claimless = summarize([aggregate(Sample(qid="q"), [], {}, [], signature="s")])
    assert exit_code(claimless, []) == 0
    assert exit_code(claimless, [hold(Gate("faithfulness", 0.5), claimless)]) == 3
    unmeasured = hold(Gate("correctness", 0), totals())
    assert (unmeasured.value, unmeasured.passed) == (None, False)
    assert exit_code(totals(), [unmeasured]) == 3


def test_a_gate_on_what_is_not_going_to_be_measured_is_refused() -> None:
    for name in ("correctness", "correctness_precision", "correctness_recall"):
        gates = [Gate("faithfulness", 0.9), Gate(name, 0.7)]
        with pytest.raises(ConfigError, match=f"'{name}=0.7': .*add --correctness"):
            check_gates(gates, strict=False, correctness=False)
        check_gates(gates, strict=True, correctness=True)
        check_gates(gates[:1], strict=False, correctness=False)
    # Strictness without a gate would pass everything.
    check_gates([], strict=False, correctness=False)
    with pytest.raises(ConfigError, match="--strict-gate without a gate; add --fail-under"):
        check_gates([], strict=True, correctness=True)
