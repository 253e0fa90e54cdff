import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.metrics.agreement import effective_size
from judge.metrics.agreement.rows import check_labels, mean, pair, scale

WEIGHTS = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=30)


@pytest.mark.parametrize(
    ("weights", "size"),
    [
        ([], 0.0),
        ([0.0, 0.0], 0.0),
        ([7.0], 1.0),
        ([0.1] * 10, 10.0),
        ([1, 2, 3], 36 / 14),
        ([1, 2, 3, 0], 36 / 14),
        # One row outweighs all others.
        ([1e9, 1, 1, 1], 1.0),
        # Neither squares that overflow nor squares that vanish.
        ([1e300, 1e300], 2.0),
        ([1e-300, 1e-300], 2.0),
    ],
)
def test_effective_size_by_hand(weights: list[float], size: float) -> None:
    assert effective_size(weights) == pytest.approx(size, abs=1e-8)


@given(WEIGHTS, st.floats(1e-100, 1e100))
def test_effective_size_is_between_one_and_all_in_any_unit(
    weights: list[float], unit: float
) -> None:
    size = effective_size(weights)
    assert 1 - 1e-9 <= size <= len(weights) + 1e-9
    assert effective_size([weight * unit for weight in weights]) == pytest.approx(size, rel=1e-9)


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf])
def test_no_weight_is_negative_or_endless(weight: float) -> None:
    with pytest.raises(ValueError, match=f"got {weight!r}"):
        effective_size([1.0, weight])


def test_weights_become_shares_of_the_largest() -> None:
    assert scale([1, 4, 0], 3) == [0.25, 1.0, 0.0]
    assert scale([0, 0], 2) == [0.0, 0.0]
    assert scale(None, 2) == [1.0, 1.0]
    assert scale([1e308, 1e308], 2) == [1.0, 1.0]


def test_there_is_one_weight_a_row() -> None:
    with pytest.raises(ValueError, match="got 1 for 2 rows"):
        scale([1.0], 2)


def test_sides_are_paired_row_by_row() -> None:
    assert pair([True, False], [False, False]) == [(True, False), (False, False)]
    with pytest.raises(ValueError, match="got 2 and 1"):
        pair("ab", "a")


@pytest.mark.parametrize(("first", "second"), [([math.nan], ["a"]), (["a"], [math.nan])])
def test_nan_is_no_label(first: list[object], second: list[object]) -> None:
    with pytest.raises(ValueError, match="got nan"):
        pair(first, second)
    check_labels(["a", 1.5, None])


def test_mean_weighs() -> None:
    assert mean([1.0, 0.0, 5.0], [1.0, 3.0, 0.0]) == pytest.approx(0.25)
    assert mean([1.0], [0.0]) is None
