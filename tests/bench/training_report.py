"""What a training run has to say for itself, as Markdown."""

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from tests.bench.figures import Resamples
from tests.bench.fitting import FOLDS, Rows

Floats = npt.NDArray[np.float64]

_HEAD: Final = """\
# How `similarity.json` was trained

By `python tests/bench/train_similarity.py`, which writes this page too. Each sentence was scored by
a model fitted to other groups ({folds} folds); what neighbours add and the threshold were then
found on these scores, all sentences alike. Sentences of one group share their source text;
intervals are 95 %, by resampling groups. What the model is worth on sets that it never saw:
`python tests/bench/quality.py`.

| trained on | sentences | groups | supported | AUROC, by itself | with its neighbours |
|---|---|---|---|---|---|
"""
_TABLE: Final = """
At the threshold, {caught:.1%} of the unsupported are caught and {kept:.1%} of the supported kept.

## Reliability

Rows weigh as in training; at the training base rate, {rate:.1%} supported.

| score | sentences | mean score | supported |
|---|---|---|---|
"""


def report(sets: Mapping[str, Rows], own: Floats, odds: Floats, least: float) -> str:
    """The page.

    Args:
        sets: the labelled sentences by data set.
        own: held-out log odds of each sentence by itself, the sets end to end.
        odds: the same with what its neighbours add.
        least: the threshold.
    """
    rows = Rows.joined(list(sets.values()))
    wrong = rows.supported == 0
    lines = [_HEAD.format(folds=FOLDS), *_by_set(sets, own, odds)]
    lines.append(
        _TABLE.format(
            caught=(odds[wrong] < least).mean(),
            kept=(odds[~wrong] >= least).mean(),
            rate=np.average(rows.supported, weights=rows.weight),
        )
    )
    lines += [
        f"| {low:.1f}–{low + 0.1:.1f} | {many} | {mean:.3f} | {share:.3f} |\n"
        for low, many, mean, share in _bins(1 / (1 + np.exp(-odds)), rows)
    ]
    return "".join(lines)


def _by_set(sets: Mapping[str, Rows], own: Floats, odds: Floats) -> Iterator[str]:
    start = 0
    for name, rows in sets.items():
        part = slice(start, start + len(rows.supported))
        start = part.stop
        resamples = Resamples(rows.group.tolist())
        alone, settled = (resamples.auroc(each[part], rows.supported) for each in (own, odds))
        yield (
            f"| {name} | {len(rows.supported)} | {len(np.unique(rows.group))} "
            f"| {rows.supported.mean():.3f} | {alone.value:.4f} "
            f"| {settled.value:.4f} [{settled.interval[0]:.3f}, {settled.interval[1]:.3f}] |\n"
        )


def _bins(scores: Floats, rows: Rows) -> Iterator[tuple[float, int, float, float]]:
    cell = np.minimum((scores * 10).astype(int), 9)
    for number in range(10):
        inside = cell == number
        if inside.any():
            weight = rows.weight[inside]
            yield (
                number / 10,
                int(inside.sum()),
                float(np.average(scores[inside], weights=weight)),
                float(np.average(rows.supported[inside], weights=weight)),
            )
