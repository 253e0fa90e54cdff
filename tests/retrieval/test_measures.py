import math

import numpy as np
import pytest
from sklearn.metrics import dcg_score, ndcg_score

from judge.retrieval.measures import (
    Gain,
    average_precision,
    dcg,
    f1_at_k,
    hit_at_k,
    ndcg,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
)

SEVEN_IN_TWENTY = [float(rank % 20 < 7) for rank in range(100)]
AT_2_4_5_9 = [0, 1, 0, 1, 1, 0, 0, 0, 1, 0]
LOG3, LOG5, LOG6 = math.log2(3), math.log2(5), math.log2(6)
BEST = 31 + 31 / LOG3 + 15 / 2 + 7 / LOG5 + 7 / LOG6
EQUAL = [1.6416903194997552, 1.6416903194997552, 1.6416903194997547, 1.6416903194997554]

# Each value by hand.
BY_HAND: list[tuple[str, float, float]] = [
    ("2 · .35 · .7/(.35 + .7)", f1_at_k(SEVEN_IN_TWENTY, 100, 50), 0.49 / 1.05),
    ("shorter than k: precision", precision_at_k([1, 1], 10), 0.2),
    ("shorter than k: f1", f1_at_k([1, 1], 10, 2), 4 / 12),
    ("rr of the first two", reciprocal_rank([0, 0, 1], 2), 0),
    ("ap", average_precision(AT_2_4_5_9, 4), (1 / 2 + 2 / 4 + 3 / 5 + 4 / 9) / 4),
    ("ap@4, divided by R", average_precision(AT_2_4_5_9, 4, 4), (1 / 2 + 1 / 2) / 4),
    ("a long perfect ranking", average_precision([1] * 1000, 1000), 1),
    ("1/log2(2) + 1/log2(4)", dcg([1, 0, 1, 0, 0], 5), 1.5),
    ("over the best, 1 + 1/log2(3)", ndcg([1, 0, 1, 0, 0], [1, 1], 5), 1.5 / (1 + 1 / LOG3)),
    ("grades under exp2", dcg([5, 5, 4, 3, 3], 5, gain="exp2"), BEST),
    (
        "the same in another order",
        ndcg([3, 5, 5, 4, 3], [3, 5, 5, 4, 3], 5, gain="exp2"),
        (7 + 31 / LOG3 + 31 / 2 + 15 / LOG5 + 7 / LOG6) / BEST,
    ),
    (".5/1 + 0 + .25/2, under 0 counting 0", dcg([0.5, -1, 0.25]), 0.625),
    # The four differ in their last digits, and the sum in this order is larger than best first.
    ("rounding lifts no ranking over the best", ndcg(EQUAL, EQUAL), 1),
]


@pytest.mark.parametrize(("case", "value", "expected"), BY_HAND)
def test_by_hand(case: str, value: float, expected: float) -> None:
    assert value == pytest.approx(expected, abs=1e-12), case


def test_nothing_relevant_and_nothing_ranked_are_0() -> None:
    gains: tuple[Gain, ...] = ("linear", "exp2")
    for ranked, relevant in (([0.0, 0.0], 0), ([], 3)):
        values = [
            hit_at_k(ranked, 2),
            recall_at_k(ranked, 2, relevant),
            precision_at_k(ranked, 2),
            f1_at_k(ranked, 2, relevant),
            reciprocal_rank(ranked),
            average_precision(ranked, relevant),
            *(ndcg(ranked, [1.0] * relevant, gain=gain) for gain in gains),
        ]
        assert values == [0] * len(values)


def test_fractional_grades_as_scikit_learn_has_them() -> None:
    # scikit-learn's best ranking has only the ranked chunks, so here no relevant chunk is missed.
    gains = np.random.default_rng(7).choice([0, 0, 0.1, 0.5, 1.7, 3], (200, 30))
    scores = np.arange(30, 0, -1)
    for row in gains.tolist():
        for k in (1, 3, 10, None):
            linear, exp2 = [row], [[2**grade - 1 for grade in row]]
            assert dcg(row, k) == pytest.approx(dcg_score(linear, [scores], k=k))
            assert ndcg(row, row, k) == pytest.approx(ndcg_score(linear, [scores], k=k))
            found = ndcg(row, row, k, gain="exp2")
            assert found == pytest.approx(ndcg_score(exp2, [scores], k=k))
