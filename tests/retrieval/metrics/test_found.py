import numpy as np
import pytest
from hypothesis import given

from judge.retrieval.metrics import f1_at_k, hit_at_k, precision_at_k, r_precision, recall_at_k
from tests.retrieval.metrics.rankings import RANKINGS, K, Ranking, at, batch

# One relevant each, at rank 2, 8, 15 and 1, twenty ranks deep.
FOUR = np.zeros((4, 20))
FOUR[range(4), [1, 7, 14, 0]] = 1


def test_four_questions_by_hand() -> None:
    # Within ten: yes, yes, no, yes.
    assert hit_at_k(FOUR, 10).tolist() == [1, 1, 0, 1]
    assert hit_at_k(FOUR, 10).mean() == 0.75
    # A tenth, a tenth, nothing, a tenth: .3/4.
    assert precision_at_k(FOUR, 10).mean() == pytest.approx(0.075)
    # With one relevant each, hit and recall are the same.
    assert recall_at_k(FOUR, 10, np.ones(4)).tolist() == hit_at_k(FOUR, 10).tolist()


def test_thirty_five_of_fifty_in_a_hundred() -> None:
    gains = np.arange(100) % 20 < 7
    assert precision_at_k(gains, 100) == pytest.approx(0.35)
    assert recall_at_k(gains, 100, 50) == pytest.approx(0.70)
    # 2 · .35 · .7/(.35 + .7) = .49/1.05
    assert f1_at_k(gains, 100, 50) == pytest.approx(0.49 / 1.05)
    assert round(float(f1_at_k(gains, 100, 50)), 4) == 0.4667


def test_a_short_ranking_is_divided_by_k_all_the_same() -> None:
    assert precision_at_k([1, 1], 10) == pytest.approx(0.2)
    assert recall_at_k([1, 1], 10, 2) == 1.0
    assert f1_at_k([1, 1], 10, 2) == pytest.approx(4 / 12)


def test_r_precision_by_hand() -> None:
    # Two of the first four; of three relevant, the ranking shows two and one stands too low.
    assert r_precision([0, 1, 0, 1, 1], 4) == 0.5
    assert r_precision([1, 0, 0, 1], 3) == pytest.approx(1 / 3)
    # The ranking ends before R.
    assert r_precision([1, 1], 5) == pytest.approx(0.4)


def test_nothing_relevant_or_nothing_ranked_is_zero() -> None:
    empty = np.zeros((2, 0))
    for gains in (np.zeros((2, 3)), empty):
        assert hit_at_k(gains, 2).tolist() == [0, 0]
        assert precision_at_k(gains, 2).tolist() == [0, 0]
        assert recall_at_k(gains, 2, [0, 3]).tolist() == [0, 0]
        assert f1_at_k(gains, 2, [0, 3]).tolist() == [0, 0]
        assert r_precision(gains, [0, 3]).tolist() == [0, 0]
    assert r_precision(np.zeros((0, 3)), np.zeros(0)).tolist() == []


@given(RANKINGS, K)
def test_all_are_shares_and_agree(rows: list[Ranking], k: int) -> None:
    gains, _, relevant, _, _ = batch(rows)
    hit, precision = hit_at_k(gains, k), precision_at_k(gains, k)
    recall, f1 = recall_at_k(gains, k, relevant), f1_at_k(gains, k, relevant)
    for value in (hit, precision, recall, f1, r_precision(gains, relevant)):
        assert ((value >= 0) & (value <= 1)).all()
    assert ((hit == 1) == (precision > 0)).all()
    assert ((hit == 1) == (recall > 0)).all()
    both = precision + recall
    harmonic = np.divide(2 * precision * recall, both, out=np.zeros(len(rows)), where=both > 0)
    assert f1 == pytest.approx(harmonic)
    assert r_precision(gains, relevant) == pytest.approx(
        [recall_at_k(row, int(r), r) if r else 0 for row, r in zip(gains, relevant, strict=True)]
    )


@given(RANKINGS, K)
def test_hit_and_recall_grow_with_k(rows: list[Ranking], k: int) -> None:
    gains, _, relevant, _, _ = batch(rows)
    assert (hit_at_k(gains, k) <= hit_at_k(gains, k + 1)).all()
    assert (recall_at_k(gains, k, relevant) <= recall_at_k(gains, k + 1, relevant)).all()


@given(RANKINGS, K)
def test_a_perfect_ranking_has_the_most(rows: list[Ranking], k: int) -> None:
    _, _, relevant, judged, _ = batch(rows)
    ideal = -np.sort(-judged, axis=-1)
    some = (relevant > 0).astype(float)
    assert hit_at_k(ideal, k).tolist() == some.tolist()
    assert precision_at_k(ideal, k) == pytest.approx(np.minimum(relevant, k) / k)
    assert recall_at_k(ideal, k, relevant) == pytest.approx(
        np.minimum(relevant, k) / np.maximum(relevant, 1)
    )
    assert f1_at_k(ideal, k, relevant) == pytest.approx(
        2 * np.minimum(relevant, k) / (relevant + k)
    )
    assert r_precision(ideal, relevant).tolist() == some.tolist()


@given(RANKINGS, K)
def test_a_query_is_the_same_alone_and_among_others(rows: list[Ranking], k: int) -> None:
    gains, _, relevant, _, _ = batch(rows)
    for place, row in enumerate(rows):
        own = row.gains, int(relevant[place])
        assert hit_at_k(own[0], k) == at(hit_at_k(gains, k), place)
        assert precision_at_k(own[0], k) == at(precision_at_k(gains, k), place)
        assert recall_at_k(own[0], k, own[1]) == at(recall_at_k(gains, k, relevant), place)
        assert f1_at_k(own[0], k, own[1]) == at(f1_at_k(gains, k, relevant), place)
        assert r_precision(*own) == at(r_precision(gains, relevant), place)
