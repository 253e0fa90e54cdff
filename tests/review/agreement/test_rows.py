import math

import pytest

from judge.review.agreement.rows import check_labels, mean, pair, scale


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf])
def test_no_weight_is_negative_or_endless(weight: float) -> None:
    with pytest.raises(ValueError, match=f"got {weight!r}"):
        scale([1.0, weight], 2)


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
