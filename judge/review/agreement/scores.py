"""How good a judge is on each label, people being right."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from judge.review.agreement.rows import mean, pair, scale

Label = TypeVar("Label", bound=Hashable)


@dataclass(frozen=True, slots=True)
class LabelScore:
    """How good a judge is on one label."""

    precision: float | None
    """Weighted share of the rows the judge gave it that people gave it too; None without any."""
    recall: float | None
    """Weighted share of the rows people gave it that the judge gave it too; None without any."""
    judged: int
    """Rows the judge gave this label, whatever their weight."""
    labelled: int
    """Rows people gave this label, whatever their weight."""


@dataclass(slots=True)
class _Rows:
    hits: list[bool] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)

    def add(self, weight: float, *, hit: bool) -> None:
        self.hits.append(hit)
        self.weights.append(weight)


def label_scores(
    judged: Sequence[Label],
    labelled: Sequence[Label],
    weights: Sequence[float] | None = None,
) -> dict[Label, LabelScore]:
    """Precision and recall of a judge for each label that either side gave.

    precision = Σ w [judged = labelled = c] / Σ w [judged = c], and recall has Σ w [labelled = c]
    below; 0 to 1, None where that is 0.

    Args:
        judged: the judge's labels, one a row.
        labelled: people's, of the same rows.
        weights: one a row; None is 1 for each.

    Returns:
        By label in order of first appearance, the judge's before the person's; empty without rows.

    Raises:
        ValueError: lengths differ, a weight is negative or not finite, or a label is NaN.

    Source: C. J. van Rijsbergen (1979), Information Retrieval, 2nd edition, chapter 7.

    >>> scores = label_scores("aab", "abb", [1, 2, 1])
    >>> scores["a"].precision, scores["a"].recall
    (0.3333333333333333, 1.0)
    """
    pairs = pair(judged, labelled)
    rows: defaultdict[Label, tuple[_Rows, _Rows]] = defaultdict(lambda: (_Rows(), _Rows()))
    for (own, theirs), weight in zip(pairs, scale(weights, len(pairs)), strict=True):
        rows[own][0].add(weight, hit=own == theirs)
        rows[theirs][1].add(weight, hit=own == theirs)
    return {label: _score(own, theirs) for label, (own, theirs) in rows.items()}


def _score(judged: _Rows, labelled: _Rows) -> LabelScore:
    return LabelScore(
        precision=mean(judged.hits, judged.weights),
        recall=mean(labelled.hits, labelled.weights),
        judged=len(judged.hits),
        labelled=len(labelled.hits),
    )
