"""Fitting the conjunction model of the similarity judge: numpy alone, deterministic."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from judge.judges.similarity.align import SENTENCE_FEATURES, TERM_FEATURES

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

RIDGE: Final = 0.006
"""Penalty on the squares of the coefficients, in units of the mean log loss."""
USUAL: Final = 4.0
DAMPING: Final = 0.7
FOLDS: Final = 10
# An item that is found is wrong one time in twenty, before any row was seen.
_FOUND: Final = -3.0
# The training sets hold too few words that are denied to weigh them, and none in Chinese: D43.
DECLARED: Final = {"denied": 2.5}
_FIRMLY: Final = 1e6
_STEPS: Final = 200
_HALVINGS: Final = 30
_TINY: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Rows:
    """Labelled sentences, measured."""

    terms: Floats
    """Features of their items, shape (items, len(TERM_FEATURES))."""
    owner: Ints
    """For each item its sentence, ascending."""
    sentences: Floats
    """Features of the sentences, shape (sentences, len(SENTENCE_FEATURES))."""
    supported: Floats
    """1 or 0."""
    weight: Floats
    group: npt.NDArray[np.str_]
    answer: Ints
    """Sentences of one answer bear one number."""

    def __getitem__(self, kept: npt.NDArray[np.bool_]) -> "Rows":
        inside = kept[self.owner]
        renumbered = np.cumsum(kept) - 1
        return Rows(
            self.terms[inside],
            renumbered[self.owner[inside]],
            self.sentences[kept],
            self.supported[kept],
            self.weight[kept],
            self.group[kept],
            self.answer[kept],
        )

    @classmethod
    def joined(cls, parts: Sequence["Rows"]) -> "Rows":
        sizes = np.cumsum([0, *(len(part.supported) for part in parts)])
        return cls(
            np.concatenate([part.terms for part in parts]),
            np.concatenate([p.owner + size for p, size in zip(parts, sizes, strict=False)]),
            np.concatenate([part.sentences for part in parts]),
            np.concatenate([part.supported for part in parts]),
            np.concatenate([part.weight for part in parts]),
            np.concatenate([part.group for part in parts]),
            np.concatenate([p.answer + 10**6 * i for i, p in enumerate(parts)]),
        )


@dataclass(frozen=True, slots=True)
class Fit:
    """A model as fitted."""

    mean: Floats
    scale: Floats
    beta: Floats
    """Of the terms, then the intercept, then of the standardised features of sentences."""

    def odds(self, rows: Rows) -> Floats:
        return _odds(self.beta, rows, (rows.sentences - self.mean) / self.scale)


def fit(rows: Rows) -> Fit:
    """Penalised maximum likelihood by Gauss-Newton steps, halved until they help."""
    mean = np.average(rows.sentences, axis=0, weights=rows.weight)
    scale = np.sqrt(np.average((rows.sentences - mean) ** 2, axis=0, weights=rows.weight))
    standard = (rows.sentences - mean) / np.where(scale > 0, scale, 1.0)
    many = len(TERM_FEATURES)
    penalty = np.full(many + 1 + len(SENTENCE_FEATURES), RIDGE * rows.weight.sum())
    penalty[many] = 0.0
    centre = np.zeros(len(penalty))
    centre[0] = _FOUND
    for name, value in DECLARED.items():
        place = TERM_FEATURES.index(name)
        penalty[place], centre[place] = _FIRMLY * rows.weight.sum(), value
    beta, loss = centre.copy(), np.inf
    for _ in range(_STEPS):
        odds = _odds(beta, rows, standard)
        p = 1 / (1 + np.exp(-odds))
        slope = _slopes(beta, rows, standard)
        gradient = slope.T @ (rows.weight * (rows.supported - p)) - penalty * (beta - centre)
        curve = (slope * (rows.weight * p * (1 - p))[:, None]).T @ slope + np.diag(penalty)
        step = np.linalg.solve(curve, gradient)
        before = loss
        for _ in range(_HALVINGS):
            loss = _loss(beta + step, rows, standard, penalty, centre)
            if loss <= before:
                break
            step = step / 2
        beta = beta + step
        if before - loss < _TINY * abs(loss):
            return Fit(mean, np.where(scale > 0, scale, 1.0), beta)
    message = f"no minimum after {_STEPS} steps; the loss is {loss}"
    raise ArithmeticError(message)


def _damped(rows: Rows) -> Floats:
    items = np.bincount(rows.owner, rows.terms[:, 0], len(rows.supported))
    damped: Floats = (USUAL / np.maximum(items, 1.0)) ** DAMPING
    return damped


def _odds(beta: Floats, rows: Rows, standard: Floats) -> Floats:
    many = rows.terms.shape[1]
    lost = np.logaddexp(0.0, rows.terms @ beta[:many]) * rows.terms[:, 0]
    kept = -np.bincount(rows.owner, lost, len(rows.supported)) * _damped(rows)
    odds: Floats = kept + beta[many] + standard @ beta[many + 1 :]
    return odds


def _slopes(beta: Floats, rows: Rows, standard: Floats) -> Floats:
    many = rows.terms.shape[1]
    wrong = 1 / (1 + np.exp(-(rows.terms @ beta[:many])))
    own = -rows.terms * (wrong * _damped(rows)[rows.owner])[:, None]
    sums = np.zeros((len(rows.supported), many))
    np.add.at(sums, rows.owner, own)
    return np.column_stack([sums, np.ones(len(sums)), standard])


def _loss(beta: Floats, rows: Rows, standard: Floats, penalty: Floats, centre: Floats) -> float:
    odds = _odds(beta, rows, standard)
    own = rows.weight * (np.logaddexp(0.0, odds) - rows.supported * odds)
    return float(own.sum() + (penalty * (beta - centre) ** 2).sum() / 2)


def folds(group: npt.NDArray[np.str_]) -> Iterator[npt.NDArray[np.bool_]]:
    """Which rows to hold out, ten times; a group is never on both sides."""
    names, of = np.unique(group, return_inverse=True)
    fold = (np.random.default_rng(0).permutation(len(names)) % FOLDS)[of]
    for held in range(FOLDS):
        yield fold == held


def held_out(rows: Rows) -> Floats:
    """Log odds of each sentence by a fit to the other folds."""
    odds = np.zeros(len(rows.supported))
    for out in folds(rows.group):
        odds[out] = fit(rows[~out]).odds(rows[out])
    return odds


def beside(odds: Floats, answer: Ints) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Mean log odds of the sentences before and after one in its answer, and whether any is."""
    same = answer[1:] == answer[:-1]
    near = np.zeros(len(odds), np.int64)
    total = np.zeros(len(odds))
    near[1:] += same
    near[:-1] += same
    total[1:] += np.where(same, odds[:-1], 0.0)
    total[:-1] += np.where(same, odds[1:], 0.0)
    return total / np.maximum(near, 1), near > 0


def neighbours(odds: Floats, rows: Rows) -> tuple[float, float]:
    """(what neighbours add, the mean they are measured from), fitted to held-out log odds."""
    mean, there = beside(odds, rows.answer)
    centre = float(np.average(odds[there], weights=rows.weight[there]))
    x = np.column_stack([np.ones(there.sum()), odds[there], mean[there] - centre])
    y, beta = rows.supported[there], np.asarray([0.0, 1.0, 0.0])
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ beta))
        beta = beta + np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x, x.T @ (y - p))
    # Its own odds keep the weight 1, so that only the ratio moves.
    return float(beta[2] / beta[1]), centre
