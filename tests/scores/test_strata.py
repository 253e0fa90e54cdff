import math
from dataclasses import replace
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from statsmodels.stats.proportion import proportion_confint

from judge.scores.strata import StratumSample, corrected_mean
from tests import present

Floats = npt.NDArray[np.float64]
BOTH = (-1.0, 1.0)


def simple(
    units: int,
    predicted: float,
    errors: list[float] | Floats,
    span: tuple[float, float] = BOTH,
    shifts: list[float] | None = None,
) -> StratumSample:
    """A simple draw from `units` claims of weight 1, whose predictions add up to `predicted`."""
    n = len(errors)
    return StratumSample(
        weight=units,
        predicted=predicted,
        counted=units,
        span=span,
        weights=np.full(n, units / n),
        probabilities=np.full(n, n / units),
        errors=np.array(errors),
        shifts=np.zeros(n) if shifts is None else np.array(shifts),
    )


UNLIKE = StratumSample(
    weight=100,
    predicted=20,
    counted=100,
    span=BOTH,
    weights=np.array([10.0, 10.0, 20.0]),
    probabilities=np.full(3, 0.1),
    errors=np.array([0.0, 0.0, 1.0]),
    shifts=np.zeros(3),
)
# Strata; the mean and its variance, by hand.
BY_HAND = [
    # W .9 and .1; mean f 1 and .5; mean of y - f is -1/3 and 0; s² of y - f is 1/3 and 1/2.
    (
        [simple(90, 90, [0, 0, -1]), simple(10, 5, [-0.5, 0.5])],
        0.9 * (1 - 1 / 3) + 0.1 * 0.5,
        0.81 * (1 - 3 / 90) * (1 / 3) / 3 + 0.01 * (1 - 2 / 10) * (1 / 2) / 2,
    ),
    # Eight claims; the judge counts six of them, four full. Of four drawn a person agrees with one,
    # finds that one of the full asserts nothing, and that two which the judge left out assert
    # something, one of them supported: (4 + 8 · 0) / (6 + 8 · 1/4). error - shift / 2 is 0, -.5,
    # -.5, .5, its squared deviations add up to .6875.
    (
        [replace(simple(8, 4, [0, -1, 0, 1], shifts=[0, -1, 1, 1]), counted=6)],
        0.5,
        (1 - 4 / 8) * (0.6875 / 3) / 4,
    ),
    # Unlike probabilities: 3/2 · .9 · (5² + 5² + 10²) / 40².
    ([UNLIKE], 0.2 + 20 / 40, 1.5 * 0.9 * 150 / 1600),
]


@pytest.mark.parametrize(("strata", "mean", "variance"), BY_HAND)
def test_means_by_hand(strata: list[StratumSample], mean: float, variance: float) -> None:
    found = present(corrected_mean(strata))
    assert found.mean == pytest.approx(mean)
    assert found.standard_error == pytest.approx(math.sqrt(variance))


def test_the_limits_of_one_kind_of_error_are_wilson_s_over_the_labels_it_is_worth() -> None:
    found = present(corrected_mean([simple(100, 0, [0, 0, 1, 0], span=(0, 1))]))
    # A mean of 1/4 with variance .96 · .25 / 4 is worth .1875 / .06 = 3.125 labels.
    limits = proportion_confint(0.25 * 3.125, 3.125, method="wilson")
    assert found[1:3] == pytest.approx(limits, abs=1e-9)
    assert found.standard_error == pytest.approx(math.sqrt(0.06))


def test_where_no_error_was_seen_there_may_be_some() -> None:
    none = [0.0] * 9
    found = present(corrected_mean([simple(10**9, 10**9, none, span=(-1, 0))]))
    # (1 - p)¹⁰ = 1/20.
    assert found == pytest.approx((1.0, 0.05**0.1, 1.0, 0.0))
    both = present(corrected_mean([simple(10**9, 0.5e9, none, span=(-0.5, 0.5))]))
    p = 1 - 0.05**0.1
    assert both == pytest.approx((0.5, 0.5 - p / 2, 0.5 + p / 2, 0.0))


def test_equal_errors_are_not_certainty() -> None:
    for n, error in product(range(5, 40), [-1 / 3, -0.2, -0.1, -2 / 3]):
        # One claim of three is wrong in every answer drawn; thirds do not add up exactly.
        found = present(corrected_mean([simple(1000, 1000, [error] * n, span=(-1, 0))]))
        assert found.mean == pytest.approx(1 + error)
        assert found.low < found.mean - 0.02
        assert found.high > found.mean + 0.02


def test_a_uniform_draw_is_prediction_powered_inference() -> None:
    """A. N. Angelopoulos and others (2023), Science 382, 669-674: mean of f, plus that of y - f."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n, units = int(rng.integers(20, 80)), int(rng.integers(200, 900))
        unlabelled = rng.choice([0, 0.5, 1], units)
        f = rng.choice([0, 0.5, 1], n)
        y = np.where(rng.random(n) < 0.8, f, rng.choice([0, 0.5, 1], n))
        # Labelled and unlabelled share nothing: drawn from what has no end.
        endless = np.full(n, 1e-300)
        h = replace(simple(units, float(unlabelled.sum()), y - f), probabilities=endless)
        found = present(corrected_mean([h]))
        assert 0 < found.mean < 1
        assert found.mean == pytest.approx(unlabelled.mean() + (y - f).mean(), abs=1e-9)
        assert found.standard_error == pytest.approx(math.sqrt((y - f).var(ddof=1) / n), abs=1e-9)


def test_nothing_seen_in_half_of_a_small_stratum() -> None:
    # 10 of 20 were looked at and none was wrong: with K wrong ones that has the chance ½^K or less,
    # and ½^K = .05 at K = 4.32; that is less than 1 - .05^(1/11).
    found = present(corrected_mean([simple(20, 20, [0] * 10, span=(-1, 0))]))
    assert 1 - found.low == pytest.approx(math.log(20) / math.log(2) / 20)
    assert found.high == found.mean == 1
    found = present(corrected_mean([simple(10_000, 10_000, [0] * 10, span=(-1, 0))]))
    assert 1 - found.low == pytest.approx(1 - 0.05 ** (1 / 11))
