from collections.abc import Callable

import numpy as np
import pytest

from judge.retrieval.metrics import (
    accuracy_at_k,
    average_precision,
    dcg,
    f1_at_k,
    hit_at_k,
    ndcg,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
)
from judge.retrieval.metrics.ranks import count, first, hits, share, summed, values

SAYS = "k must be an int of at least 1, got "


@pytest.mark.parametrize("k", [0, -1, 2.5, 3.0, True, "3", float("nan")])
def test_a_k_that_is_no_rank_is_said(k: int) -> None:
    measures: list[Callable[[], object]] = [
        lambda: hit_at_k([1], k),
        lambda: recall_at_k([1], k, 1),
        lambda: precision_at_k([1], k),
        lambda: f1_at_k([1], k, 1),
        lambda: reciprocal_rank([1], k),
        lambda: average_precision([1], 1, k),
        lambda: dcg([1], k),
        lambda: ndcg([1], [1], k),
        lambda: accuracy_at_k([1], k, 1, 1),
    ]
    for measure in measures:
        with pytest.raises(ValueError, match=SAYS) as caught:
            measure()
        assert str(caught.value) == f"{SAYS}{k!r}"


def test_a_k_may_be_numpys_and_larger_than_the_ranking() -> None:
    assert first([1, 2], 9).tolist() == [1, 2]
    assert hit_at_k([0, 1], int(np.int64(2))) == hit_at_k([0, 1], np.int64(2))  # type: ignore[arg-type]


def test_a_number_is_no_ranking() -> None:
    with pytest.raises(ValueError, match=r"needs an axis of ranks, got 1; write \[1\]"):
        hit_at_k(1, 1)


def test_the_first_ranks_are_not_copied() -> None:
    gains = np.zeros((3, 4))
    assert np.shares_memory(first(gains, 2), gains)
    assert first(gains, None) is gains


def test_what_is_above_zero_is_relevant() -> None:
    assert hits([[0.1, 0.0, -1.0], [2.0, 1.0, 0.0]], 2).tolist() == [[True, False], [True, True]]
    assert count(np.zeros((2, 0), np.bool_)).tolist() == [0, 0]


def test_a_sum_does_not_depend_on_what_fills_up_the_row() -> None:
    # Tenths are not binary fractions: added in another order they differ in the last digit.
    terms = np.random.default_rng(3).integers(0, 10, 100) / 10
    sums = {float(summed(np.append(terms, np.zeros(more)))) for more in (0, 1, 28, 29, 900)}
    assert sums == {sum(terms.tolist(), start=0.0)}
    assert summed(np.zeros((2, 0))).tolist() == [0.0, 0.0]


def test_a_share_of_nothing_is_zero() -> None:
    assert share(0, 0) == 0.0
    assert share([1, 2], 4).tolist() == [0.25, 0.5]
    assert share([[1], [3]], [4, 0]).tolist() == [[0.25, 0.0], [0.75, 0.0]]


def test_one_query_gives_a_number() -> None:
    assert isinstance(values(np.array(0.5)), np.float64)
    assert isinstance(hit_at_k([0, 1], 1), float)
    assert np.shape(values(np.array([0.5]))) == (1,)
