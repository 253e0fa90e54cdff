"""Coefficients of agreement worked by hand and compared with libraries, and their use on draws."""

import math
import random
from collections.abc import Hashable, Sequence
from itertools import product
from typing import Literal

# The reference libraries take a second or so to import; the tests themselves are quick.
import krippendorff
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import brier_score_loss, cohen_kappa_score

from judge.records import Outcome
from judge.review.agreement import findings
from judge.review.coefficients import (
    brier,
    calibration_error,
    cohen_kappa,
    krippendorff_alpha,
    mcnemar,
)
from judge.review.records import Agreement, DrawnSentence, Share
from tests.draws import FAILED, NO_SUMMARY, draw, label, row, stratum, verdict

SEEDS = range(30)


def near(value: float | None) -> object:
    return value if value is None else pytest.approx(value, abs=1e-9)


def test_kappa_by_hand() -> None:
    table: list[tuple[Sequence[Hashable], Sequence[Hashable], list[float], float | None]] = [
        # p_o = .7, p_e = .5 · .6 + .5 · .4 = .5.
        (["yes", "yes", "no", "no"], ["yes", "no", "yes", "no"], [20, 5, 10, 15], 0.4),
        ("abc", "abc", [1] * 3, 1.0),
        ("ab", "ba", [1] * 2, -1.0),
        # One side always says the same: it tells nothing, however often it agrees.
        ("aaaa", "aaab", [1] * 4, 0.0),
        # No rows, no weight, no second label: undefined, whatever weights round to.
        ("", "", [], None),
        ("ab", "ab", [0, 0], None),
        ("aa", "aa", [1] * 2, None),
        *(("aaab", "aaaa", [w, 0.3, 0.1, 0], None) for w in (0.1, 1 / 3, 0.7)),
        # p_o = 1 - ε and p_e = 1 - ε: no better than chance, and 1 - p_e is no rounding error.
        ("aaa", "aab", [0.1, 0.7, 1e-18], 0.0),
        # One b in a billion, found by both.
        ("aab", "aab", [0.1, 0.7, 1e-18], 1.0),
    ]
    for one, other, weights, expected in table:
        assert cohen_kappa(one, other, weights) == near(expected), (one, other, weights)


def test_forecasts_by_hand() -> None:
    for measure in (brier, calibration_error):
        assert measure([], [], []) is None
        assert measure([0.5], [True], [0]) is None
    # Bins [.2, .3) and [.9, 1], by weight: |(3 - .6 - .24)| / 6 + |2 - 1.9| / 6.
    said, true = [0.2, 0.24, 0.9, 1.0], [True, False, True, True]
    assert calibration_error(said, true, [3, 1, 1, 1]) == pytest.approx((2.16 + 0.1) / 6)
    # One belongs to the last bin.
    assert calibration_error([0.95, 1.0], [True, False], [1, 1]) == pytest.approx(0.95 / 2)
    # An edge belongs to the bin above: two rows that would cancel in one bin add up in two.
    for low, edge in ((0.49, 0.5), (0.05, 0.1), (0.2, 0.3), (0.69, 0.7)):
        apart = calibration_error([low, edge], [True, False], [1, 1])
        assert apart == pytest.approx(((1 - low) + edge) / 2)


def test_kappa_and_brier_equal_scikit_learns() -> None:
    for seed in SEEDS:
        dice = random.Random(seed)  # noqa: S311  no secret
        names = "abcdef"[: dice.randint(2, 6)]
        first = [*"ab", *dice.choices(names, k=dice.randint(3, 78))]
        second = [*"ab", *(x if dice.random() < 0.6 else dice.choice(names) for x in first[2:])]
        said = [dice.choice((0.0, 1.0, dice.random())) for _ in first]
        true = [True, False, *(dice.random() < p for p in said[2:])]
        weights = [1.0, 1.0, *(dice.choice((0.0, dice.random(), 99.0)) for _ in first[2:])]
        kappa = cohen_kappa_score(first, second, sample_weight=weights)
        assert cohen_kappa(first, second, weights) == near(kappa), seed
        error = brier_score_loss(true, said, sample_weight=weights)
        assert brier(said, true, weights) == near(error), seed


@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_is_the_exact_sum(first: int, second: int) -> None:
    expected = binomtest(first, first + second).pvalue if first + second else 1
    assert mcnemar(first, second) == pytest.approx(expected, rel=1e-9, abs=0)


def found(rows: list[DrawnSentence], said: list[str]) -> Agreement:
    drawn = draw([stratum("supported", len(rows), 0, len(rows))], rows)
    labels = [label(r, word) for r, word in zip(rows, said, strict=False)]
    return findings(drawn, labels, NO_SUMMARY)


def value(share: Share | None) -> float:
    assert share is not None
    assert 0 <= share.low <= share.value <= share.high <= 1
    return share.value


def test_each_label_weighs_one_over_its_chance() -> None:
    # The first row represents 8 claims, each other row 2.
    rows = [
        row("a", verdict("full"), probability=1 / 8),
        row("b", verdict("full"), probability=1 / 2),
        row("c", verdict("none"), probability=1 / 2),
        row("d", verdict("partial"), probability=1 / 2),
    ]
    says = found(rows, ["full", "none", "none", "full"])
    assert value(says.agreement) == pytest.approx(10 / 14)
    assert says.base_rate == pytest.approx(10 / 14)
    # Expected: full 10/14 · 10/14, none 2/14 · 4/14.
    expected = (100 + 8) / 196
    assert says.kappa == pytest.approx((10 / 14 - expected) / (1 - expected))
    by_label = {each.label: each for each in says.accuracy}
    assert list(by_label) == ["full", "partial", "none"]
    assert value(by_label["full"].precision) == pytest.approx(0.8)
    assert value(by_label["full"].recall) == pytest.approx(0.8)
    assert value(by_label["none"].recall) == pytest.approx(0.5)
    assert by_label["partial"].labelled == 0
    assert by_label["partial"].recall is None
    assert says.agreement is not None
    assert says.agreement.size == pytest.approx(14**2 / (64 + 4 + 4 + 4))


def test_all_figures_are_means_over_answers() -> None:
    # Eight claims of one answer, all rightly called full; one claim each of two others, wrongly.
    long = [row(f"a{k}", verdict("full", 0.9), qid="a", sentence=k, weight=1 / 8) for k in range(8)]
    short = [row("b", verdict("full", 0.9), stratum=1), row("c", verdict("none", 0.4), stratum=1)]
    strata = [
        stratum("supported", 8, 1, 8, weight=1, counted=1),
        stratum("supported_doubtful", 2, 1, 2),
    ]
    rows = [*long, *short]
    said = ["full"] * 8 + ["none", "full"]
    labels = [label(r, word) for r, word in zip(rows, said, strict=True)]
    says = findings(draw(strata, rows), labels, NO_SUMMARY)
    headline = says.corrected[0]
    assert headline.corrected == pytest.approx(2 / 3)
    # Over claims 8 of 10 agree; over answers 1 of 3.
    assert value(says.agreement) == pytest.approx(1 / 3)
    assert says.base_rate == pytest.approx(2 / 3)
    precision = {each.label: each.precision for each in says.accuracy}
    assert value(precision["full"]) == pytest.approx(1 / 2)
    assert value(precision["none"]) == 0
    assert says.brier == pytest.approx((0.1**2 + 0.9**2 + 0.6**2) / 3)
    # Errors of 0, and of -1 and 1; the answers that they are of are a third and two thirds.
    assert [h.share for h in says.strata] == pytest.approx([1 / 3, 2 / 3])
    assert [h.error for h in says.strata] == pytest.approx([0, 0])


def test_a_bare_no_or_similarity_compares_full_with_the_rest() -> None:
    full, none = (verdict(said, 0.5, "similarity") for said in ("full", "none"))
    both = {"faithfulness", "faithfulness_strict"}
    llm = [verdict(said) for said in ("full", "partial", "none")]
    table: list[tuple[list[Outcome], list[str], set[str]]] = [
        # A bare no may be none or partial.
        ([*llm], ["full", "contradicted", "no"], {"faithfulness_strict"}),
        # Similarity is compared on the two labels it has; a failure does not change the scale.
        ([full, none], ["full", "contradicted"], both),
        ([none, FAILED], ["contradicted", "partial"], both),
    ]
    for outcomes, said, names in table:
        says = found([row(f"q{n}", outcome) for n, outcome in enumerate(outcomes)], said)
        assert says.scale == "full_or_rest"
        assert value(says.agreement) == 1
        assert {score.name for score in says.corrected} == names
        assert says.disagreements == ()


def test_agreement_of_several_reviewers() -> None:
    rows = [row(name, verdict("full")) for name in "abcd"]
    drawn = draw([stratum("supported", 4, 4, 4)], rows)
    first = [label(r, s, "x") for r, s in zip(rows, ["full", "full", "none", "none"], strict=True)]
    second = [label(r, s, "y") for r, s in zip(rows, ["full", "none", "none"], strict=False)]
    says = findings(drawn, [*first, *second], NO_SUMMARY)
    assert (says.labelled, says.labels, says.shared) == (4, 7, 3)
    assert says.reviewers == ("x", "y")
    # Krippendorff: pairs ff, fn, nn; 3 full and 3 none: 1 - (2/6) / (2·3·3/(6·5)).
    assert says.alpha == pytest.approx(1 - (2 / 6) / (18 / 30))
    # Each row weighs 1, whatever its number of labels: 1, ½, 0, 0 of 4 agree.
    assert value(says.agreement) == pytest.approx(1.5 / 4)
    assert [each.people for each in says.disagreements] == [
        {"x": "none", "y": "none"},
        {"x": "none"},
        {"x": "full", "y": "none"},
    ]


def test_alpha_equals_that_of_the_krippendorff_package() -> None:
    levels: tuple[Literal["nominal", "interval"], ...] = ("nominal", "interval")
    for seed, level in product(SEEDS, levels):
        dice = random.Random(seed)  # noqa: S311  no secret
        values, raters = dice.randint(2, 5), dice.randint(2, 6)
        units: list[list[float]] = []  # the label of each rater; NaN if it is missing
        for _ in range(dice.randint(6, 40)):
            truth = dice.randrange(values)
            labels = [
                truth if dice.random() < 0.6 else dice.randrange(values) for _ in range(raters)
            ]
            units.append([label if dice.random() < 0.7 else math.nan for label in labels])
        columns = [list(column) for column in zip(*units, strict=True)]
        expected = krippendorff.alpha(columns, level_of_measurement=level)
        rated = [[label for label in unit if not math.isnan(label)] for unit in units]
        assert krippendorff_alpha(rated, squared=level == "interval") == near(expected), seed
    assert krippendorff_alpha([[2, 2], [2, 2]], squared=True) is None
