import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from judge.scores.interval import wilson


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # Newcombe (1998), Statistics in Medicine 17, 857-872, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_agrees_with_published_values(
    successes: int, n: int, low: float, high: float
) -> None:
    assert wilson(successes / n, n) == pytest.approx((low, high), abs=5e-5)
    mirrored = wilson(1 - successes / n, n)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=5e-5)


@pytest.mark.parametrize(("mean", "n"), [(0.5, 0), (-0.1, 5), (1.1, 5), (math.nan, 5)])
def test_wilson_refuses_what_is_no_share(mean: float, n: int) -> None:
    with pytest.raises(ValueError, match="wilson needs"):
        wilson(mean, n)


@given(st.integers(1, 10_000), st.data())
def test_wilson_is_statsmodels_s(n: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, n))
    reference = proportion_confint(successes, n, alpha=0.05, method="wilson")
    assert wilson(successes / n, n) == pytest.approx(reference, abs=1e-9)
