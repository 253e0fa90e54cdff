import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.scores.interval import difference, wilson


def test_newcombe_s_example() -> None:
    # Newcombe (1998), Statistics in Medicine 17, 873-890, table II: 56/70 - 48/80, method 10.
    found = difference(56 / 70, wilson(56 / 70, 70), 48 / 80, wilson(48 / 80, 80))
    assert found == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_worked_by_hand() -> None:
    # Reach below .3 and above .4 (3-4-5); the other way .0 and .0.
    assert difference(0.5, (0.2, 0.5), 0.1, (0.1, 0.5)) == pytest.approx((-0.1, 0.4))


def test_a_limit_on_the_wrong_side_counts_as_the_mean() -> None:
    assert difference(0.5, (0.6, 0.4), 0.25, (0.3, 0.2)) == pytest.approx((0.25, 0.25))


SHARES = st.tuples(*[st.floats(0, 1)] * 3).map(sorted)


@given(SHARES, SHARES)
def test_the_other_way_round_it_is_mirrored(one: list[float], two: list[float]) -> None:
    low, high = difference(one[1], (one[0], one[2]), two[1], (two[0], two[2]))
    assert low <= one[1] - two[1] <= high
    mirrored = difference(two[1], (two[0], two[2]), one[1], (one[0], one[2]))
    assert mirrored == pytest.approx((-high, -low))
