import math

import numpy as np
import pytest
from hypothesis import given
from sklearn.metrics import accuracy_score, roc_auc_score

from judge.retrieval.metrics import accuracy_at_k, roc_auc
from tests.retrieval.metrics.rankings import RANKINGS, K, Ranking, at, batch


def pairs(gains: list[float], scores: list[float]) -> float:
    """The definition: every relevant against every irrelevant one."""
    up = [score for gain, score in zip(gains, scores, strict=True) if gain > 0]
    down = [score for gain, score in zip(gains, scores, strict=True) if gain <= 0]
    won = [1.0 if a > b else 0.5 if a == b else 0.0 for a in up for b in down]
    return sum(won) / len(won) if won else math.nan


def test_roc_auc_by_hand() -> None:
    # Relevant at 1 and 3, not at 2 and 4: 3 of the 4 pairs stand rightly.
    assert roc_auc([1, 0, 1, 0], 4) == 0.75
    # The middle two are tied: 3½ of 4.
    assert roc_auc([1, 0, 1, 0], 4, [9, 5, 5, 1]) == 0.875
    # Which of the tied is named first does not matter.
    assert roc_auc([1, 1, 0, 0], 4, [9, 5, 5, 1]) == 0.875
    assert roc_auc([1, 0, 1, 0], 4, [7, 7, 7, 7]) == 0.5


def test_roc_auc_needs_both_kinds() -> None:
    gains = [[1, 1, 0], [0, 0, 0], [0, 0, 0], [1, 0, 0]]
    lengths = [2, 3, 0, 2]
    assert np.isnan(roc_auc(gains, lengths)).tolist() == [True, True, True, False]
    assert np.isnan(roc_auc(gains, lengths, np.zeros((4, 3)))).tolist() == [True, True, True, False]
    assert math.isnan(roc_auc([], 0))
    assert math.isnan(roc_auc([], 0, []))


def test_what_fills_up_a_row_is_tied_with_nothing() -> None:
    assert roc_auc([1, 0, 0, 0], 2, [0, 0, 0, 0]) == 0.5
    # Beyond the length scores may rise or be no number.
    assert roc_auc([0, 1, 0, 0], 2, [2, 1, 9, math.nan]) == 0


def test_scores_that_do_not_fit_are_said() -> None:
    with pytest.raises(ValueError, match=r"differ in shape: \(2,\), \(3,\)"):
        roc_auc([1, 0], 2, [3, 2, 1])
    with pytest.raises(ValueError, match="scores must fall from rank to rank"):
        roc_auc([1, 0], 2, [1, 2])


def test_accuracy_by_hand() -> None:
    # Right: the second, which is relevant and called so, and the last two. Wrong: the first, and
    # the relevant one that was never ranked.
    assert accuracy_at_k([0, 1, 0, 0], 2, 4, 2) == 0.6
    # Relevant but called not: the third.
    assert accuracy_at_k([1, 0, 1, 0], 1, 4, 2) == 0.75
    # Nothing ranked, all missed.
    assert accuracy_at_k([], 3, 0, 2) == 0


def test_accuracy_is_high_where_little_is_relevant() -> None:
    gains = np.zeros((2, 100))
    gains[0, 0] = gains[1, 99] = 1
    assert accuracy_at_k(gains, 1, [100, 100], [1, 1]).tolist() == [1, 0.98]


def test_accuracy_where_nothing_is_relevant() -> None:
    values = accuracy_at_k(np.zeros((2, 3)), 1, [3, 0], [0, 0])
    assert values.tolist() == pytest.approx([0, math.nan], nan_ok=True)


@given(RANKINGS)
def test_roc_auc_is_the_share_of_pairs(rows: list[Ranking]) -> None:
    gains, length, _, _, scores = batch(rows)
    tied = [pairs(row.gains, row.scores) for row in rows]
    assert roc_auc(gains, length, scores) == pytest.approx(tied, abs=1e-12, nan_ok=True)
    by_order = [pairs(row.gains, [-float(i) for i, _ in enumerate(row.gains)]) for row in rows]
    assert roc_auc(gains, length) == pytest.approx(by_order, abs=1e-12, nan_ok=True)


@given(RANKINGS)
def test_a_perfect_pool_is_exactly_one(rows: list[Ranking]) -> None:
    gains, length, _, _, _ = batch(rows)
    for row, n in zip(gains, length, strict=True):
        value = roc_auc(-np.sort(-row[:n]), n)
        assert value == 1 or not 0 < (row > 0).sum() < n


@given(RANKINGS, K)
def test_a_query_is_the_same_alone_and_among_others(rows: list[Ranking], k: int) -> None:
    gains, length, relevant, _, scores = batch(rows)
    for place, row in enumerate(rows):
        n, r = len(row.gains), int(relevant[place])
        alone = [roc_auc(row.gains, n), roc_auc(row.gains, n, row.scores)]
        alone.append(accuracy_at_k(row.gains, k, n, r))
        among = [
            at(roc_auc(gains, length), place),
            at(roc_auc(gains, length, scores), place),
        ]
        among.append(at(accuracy_at_k(gains, k, length, relevant), place))
        assert np.array_equal(alone, among, equal_nan=True)


@given(RANKINGS, K)
def test_accuracy_as_scikit_learn_has_it(rows: list[Ranking], k: int) -> None:
    gains, length, relevant, _, _ = batch(rows)
    values = accuracy_at_k(gains, k, length, relevant)
    for place, row in enumerate(rows):
        if relevant[place] == 0:
            continue
        truth = [gain > 0 for gain in row.gains] + [True] * len(row.missed)
        said = [rank < k and rank < len(row.gains) for rank, _ in enumerate(truth)]
        assert at(values, place) == pytest.approx(accuracy_score(truth, said), abs=1e-12)


def test_roc_auc_as_scikit_learn_has_it_ties_included() -> None:
    rng = np.random.default_rng(11)
    lengths = rng.integers(2, 40, 300)
    gains = np.zeros((300, 40))
    scores = np.zeros((300, 40))
    expected = []
    for place, n in enumerate(lengths):
        # Both kinds, and about five to a score.
        gains[place, :n] = rng.permutation([2.0, 0.0, *rng.integers(0, 2, n - 2)])
        scores[place, :n] = -np.sort(-rng.integers(0, max(2, n // 5), n) / 7)
        expected.append(roc_auc_score(gains[place, :n] > 0, scores[place, :n]))
    assert roc_auc(gains, lengths, scores) == pytest.approx(expected, abs=1e-9)
