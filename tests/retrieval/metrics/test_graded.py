import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import dcg_score, ndcg_score

from judge.retrieval.metrics import Gain, dcg, ndcg
from tests.retrieval.metrics.rankings import RANKINGS, K, Ranking, at, batch

GAINS = st.sampled_from(["linear", "exp2"])
GAIN: tuple[Gain, ...] = ("linear", "exp2")


def test_two_relevant_by_hand() -> None:
    # Ranks 1 and 3: 1/log2(2) + 1/log2(4) = 1.5; best 1/log2(2) + 1/log2(3) = 1.6309.
    gains = [1, 0, 1, 0, 0]
    assert dcg(gains, 5) == 1.5
    assert ndcg(gains, [1, 1], 5) == pytest.approx(1.5 / (1 + 1 / math.log2(3)))
    assert round(float(ndcg(gains, [1, 1], 5)), 4) == 0.9197
    # For 0 and 1 both gains are the same.
    assert ndcg(gains, [1, 1], 5, gain="exp2") == ndcg(gains, [1, 1], 5)


def test_grades_under_exp2_by_hand() -> None:
    # 31/1 + 31/1.58496 + 15/2 + 7/2.32193 + 7/2.58496
    assert round(float(dcg([5, 5, 4, 3, 3], 5, gain="exp2")), 4) == 63.7815
    # 7/1 + 31/1.58496 + 31/2 + 15/2.32193 + 7/2.58496 = 51.2272, ÷ 63.7815
    ranked = [3, 5, 5, 4, 3]
    assert round(float(ndcg(ranked, ranked, 5, gain="exp2")), 4) == 0.8032


def test_fractions_and_less_than_nothing() -> None:
    # .5/1 + 0/1.585 + .25/2, what is under 0 counting as 0
    assert dcg([0.5, -1, 0.25]) == 0.625
    assert dcg([0.5, -3, 0], gain="exp2") == pytest.approx(math.sqrt(2) - 1)
    assert ndcg([-1, 1], [1, -1]) == pytest.approx(1 / math.log2(3))


def test_the_ideal_holds_what_was_never_found() -> None:
    # 1 of the 3 + 1/log2(3) that there were.
    assert ndcg([1], [1, 3]) == pytest.approx(1 / (3 + 1 / math.log2(3)))
    assert ndcg([1], [1, 3], 1) == pytest.approx(1 / 3)


@pytest.mark.parametrize("gain", GAIN)
def test_nothing_relevant_or_nothing_ranked_is_zero(gain: Gain) -> None:
    for gains in (np.zeros((2, 3)), np.zeros((2, 0))):
        for judged in (np.zeros((2, 0)), [[0, 0], [0, 2]]):
            assert ndcg(gains, judged, gain=gain).tolist() == [0, 0]
        assert dcg(gains, gain=gain).tolist() == [0, 0]


def test_another_gain_is_said() -> None:
    with pytest.raises(ValueError, match="gain is 'linear' or 'exp2', got 'exp'"):
        dcg([1], gain="exp")  # type: ignore[arg-type]


def test_a_grade_too_large_for_exp2_is_said() -> None:
    with pytest.raises(ValueError, match=r"2\^2000 - 1 is too large for gain 'exp2'"):
        ndcg([0, 1], [2000], gain="exp2")
    assert ndcg([2000], [2000]) == 1
    with pytest.raises(ValueError, match=r"2\^1000 - 1 is too large"):
        dcg([1000], gain="exp2")
    # 2^999 (1 + 1/log2 3): a float.
    assert math.log2(dcg([999, 999], gain="exp2")) == pytest.approx(999 + math.log2(1.63093))


def test_rounding_lifts_no_ranking_over_the_ideal() -> None:
    # The four differ in their last digits, and the sum in this order is larger than best first.
    grades = [1.6416903194997552, 1.6416903194997552, 1.6416903194997547, 1.6416903194997554]
    assert dcg(grades) > dcg(sorted(grades, reverse=True))
    assert ndcg(grades, grades) == 1


def test_what_was_handed_in_is_not_changed() -> None:
    gains, judged = np.array([[0.0, 2.0]]), np.array([[1.0, 2.0]])
    ndcg(gains, judged, gain="exp2")
    assert gains.tolist() == [[0, 2]]
    assert judged.tolist() == [[1, 2]]


@given(RANKINGS, K, GAINS)
def test_in_range_and_dcg_grows_with_k(rows: list[Ranking], k: int, gain: Gain) -> None:
    gains, _, _, judged, _ = batch(rows)
    for depth in (k, None):
        value = ndcg(gains, judged, depth, gain=gain)
        assert ((value >= 0) & (value <= 1)).all()
    assert (dcg(gains, k, gain=gain) <= dcg(gains, k + 1, gain=gain)).all()


@given(RANKINGS, K, GAINS)
def test_an_ideal_ranking_is_exactly_one(rows: list[Ranking], k: int, gain: Gain) -> None:
    _, _, relevant, judged, _ = batch(rows)
    some = (relevant > 0).astype(float).tolist()
    ideal = np.pad(-np.sort(-judged, axis=-1), ((0, 0), (0, 5)))
    for depth in (k, None):
        assert ndcg(ideal, judged, depth, gain=gain).tolist() == some


@given(RANKINGS, K, GAINS)
def test_the_order_of_the_judged_does_not_matter(rows: list[Ranking], k: int, gain: Gain) -> None:
    gains, _, _, judged, _ = batch(rows)
    expected = ndcg(gains, judged, k, gain=gain).tolist()
    assert ndcg(gains, judged[:, ::-1], k, gain=gain).tolist() == expected
    assert ndcg(gains, np.sort(judged, axis=-1), k, gain=gain).tolist() == expected
    assert ndcg(gains, np.asfortranarray(judged), k, gain=gain).tolist() == expected


@given(RANKINGS, K, GAINS)
def test_a_query_is_the_same_alone_and_among_others(
    rows: list[Ranking], k: int, gain: Gain
) -> None:
    gains, _, _, judged, _ = batch(rows)
    for place, row in enumerate(rows):
        own = [grade for grade in row.gains if grade > 0] + row.missed
        for depth in (k, None):
            together = at(ndcg(gains, judged, depth, gain=gain), place)
            assert ndcg(row.gains, own, depth, gain=gain) == together
            assert dcg(row.gains, depth, gain=gain) == at(dcg(gains, depth, gain=gain), place)


def test_fractional_grades_as_scikit_learn_has_them() -> None:
    # Its ideal knows only what is ranked: nothing is missed here. Its scores are tie-free.
    rng = np.random.default_rng(7)
    gains = rng.choice([0, 0, 0.1, 0.5, 1.7, 3], (2000, 30))
    scores = np.tile(np.arange(30, 0, -1), (2000, 1))
    for k in (1, 3, 10, None):
        one = np.array([ndcg_score(gains[:1], scores[:1], k=k)])
        assert ndcg(gains[:1], gains[:1], k) == pytest.approx(one, abs=1e-9)
        assert np.mean(dcg(gains, k)) == pytest.approx(dcg_score(gains, scores, k=k), abs=1e-9)
        mean = np.mean(ndcg(gains, gains, k))
        assert mean == pytest.approx(ndcg_score(gains, scores, k=k), abs=1e-9)
        exp2 = np.mean(ndcg(gains, gains, k, gain="exp2"))
        assert exp2 == pytest.approx(ndcg_score(2**gains - 1, scores, k=k), abs=1e-9)
