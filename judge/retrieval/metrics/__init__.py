"""Rank measures: what stands at ranks 1…n, against all that is relevant.

What holds for all of them:

- The last axis is the rank, the axes before it are queries: (n,) is one query, (q, n) are q of
  them. The result is a float64 array of the leading shape, for one query a numpy float64.
- `gains` (..., n): relevance of what stands at ranks 1…n. Above 0 is relevant, fractions too; 0
  or less is not, and fills up the ranking that is shorter than its neighbours. Nothing stands in
  a ranking twice: that is the caller's to see to.
- `relevant` (...): how many relevant chunks the query has in all, found or not. That it is no
  less than what `gains` shows is the caller's to see to.
- `judged` (..., m): relevance of every relevant chunk the query has, in any order, then 0.
- `k`: how many ranks are looked at; None is all. Not an int of at least 1: ValueError.
- A query with nothing relevant gives 0.0, trec_eval's convention; who averages decides whether it
  counts. What is undefined for another reason is NaN.
- Ties are broken before: a ranking is an order. Only `roc_auc` can be told of equal scores.
- Sums run from the first rank to the last, so that a query's value is the same to the last bit
  alone and among others, whatever fills it up.
"""

from judge.retrieval.metrics.found import (
    f1_at_k,
    hit_at_k,
    precision_at_k,
    r_precision,
    recall_at_k,
)
from judge.retrieval.metrics.graded import Gain, dcg, ndcg
from judge.retrieval.metrics.placed import average_precision, reciprocal_rank
from judge.retrieval.metrics.pool import accuracy_at_k, roc_auc
from judge.retrieval.metrics.ranks import Values

__all__ = [
    "Gain",
    "Values",
    "accuracy_at_k",
    "average_precision",
    "dcg",
    "f1_at_k",
    "hit_at_k",
    "ndcg",
    "precision_at_k",
    "r_precision",
    "recall_at_k",
    "reciprocal_rank",
    "roc_auc",
]
