import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.judges.similarity.model import expit, logit, shift

SHARES = st.floats(min_value=0.001, max_value=0.999)


@pytest.mark.parametrize(
    ("share", "odds"), [(0.5, 0.0), (0.9, math.log(9)), (0.1, -math.log(9)), (0.75, math.log(3))]
)
def test_log_odds_by_hand(share: float, odds: float) -> None:
    assert logit(share) == pytest.approx(odds)
    assert expit(odds) == pytest.approx(share)


def test_shift_by_hand() -> None:
    # From even odds to 9 : 1, and from 1 : 3 to 9 : 1.
    assert shift(0.9, 0.5) == pytest.approx(math.log(9))
    assert shift(0.9, 0.25) == pytest.approx(math.log(27))


@given(SHARES)
def test_expit_undoes_logit(share: float) -> None:
    assert expit(logit(share)) == pytest.approx(share)


@given(SHARES, SHARES)
def test_what_was_learned_at_a_prior_is_moved_to_it(prior: float, base_rate: float) -> None:
    assert expit(logit(base_rate) + shift(prior, base_rate)) == pytest.approx(prior)


@given(st.floats(allow_nan=False))
def test_a_probability_for_any_log_odds(odds: float) -> None:
    assert 0 <= expit(odds) <= 1
    assert expit(odds) + expit(-odds) == pytest.approx(1)
