import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.scores.shares import f1, share

SHARES = st.floats(min_value=0, max_value=1)


@pytest.mark.parametrize(
    ("precision", "recall", "mean"),
    [
        (0.5, 0.5, 0.5),
        (1, 1, 1),
        (1, 0, 0),
        (0, 0, 0),
        (0.5, 1, 2 / 3),
        (0.75, 0.25, 0.375),
        (None, 1, None),
        (0, None, None),
    ],
)
def test_f1_by_hand(precision: float | None, recall: float | None, mean: float | None) -> None:
    assert f1(precision, recall) == pytest.approx(mean)


@given(SHARES, SHARES)
def test_f1_lies_between_the_two_and_nearer_the_lesser(precision: float, recall: float) -> None:
    mean = f1(precision, recall)
    assert mean is not None
    assert min(precision, recall) - 1e-12 <= mean <= (precision + recall) / 2 + 1e-12
    assert mean == f1(recall, precision)


@given(SHARES, SHARES, SHARES)
def test_f1_rises_with_either(precision: float, low: float, high: float) -> None:
    less, more = f1(precision, min(low, high)), f1(precision, max(low, high))
    assert less is not None
    assert more is not None
    assert less <= more + 1e-12


def test_a_share_of_nothing_is_none() -> None:
    assert share(0, 0) is None
    assert share(0, 3) == 0
    assert share(1.5, 2) == 0.75
