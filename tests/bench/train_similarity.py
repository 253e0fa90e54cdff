"""Train the similarity judge's model: `python tests/bench/train_similarity.py`.

Writes background.json (document frequencies over the passages of the training sets) and
similarity.json (the coefficients) to judge/data, and prints how good the fit is on held-out groups.
What it is worth on other sets, `python tests/bench/quality.py` measures. The data are in
../shared/data. The fit is penalised maximum likelihood, and the same on every run.
"""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.metrics import roc_auc_score
from statsmodels.api import Logit

# A script finds only the modules beside it: add the root folder of the project.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from judge.checks.mismatch import Source
from judge.judges.similarity import LexicalEmbedder, aligned
from judge.judges.similarity.align import SENTENCE_FEATURES, TERM_FEATURES, Alignment
from judge.records import Unscored
from judge.text.words import words
from tests.bench import labelled

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

OUT: Final = Path(__file__).resolve().parents[2] / "judge" / "data"
SETS: Final = {"factscore": 1.0, "wice_dev": 2.0, "factcheckgpt": 1.0}
"""The training sets, and what a row of each weighs: WiCE's are long, of many facts, and few."""
CLAIMS: Final = 2
"""The threshold is for whole answers of so many claims, of which one or none is unsupported.

More make it fall: .80 for three. Claims of RAG answers are easier than those of the training sets,
so that an answer of six fails no more often than two of these.
"""
FLAT: Final = 0.001
"""Balanced accuracy on whole answers below which two thresholds count as equally good."""
PASSAGE: Final = 600
RAREST: Final = 4
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
_EXACT: Final = {"gtol": 1e-7}


@dataclass(frozen=True, slots=True)
class TrainingRows:
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

    def __getitem__(self, kept: npt.NDArray[np.bool_]) -> "TrainingRows":
        inside = kept[self.owner]
        renumbered = np.cumsum(kept) - 1
        own = ("sentences", "supported", "weight", "group", "answer")
        return TrainingRows(
            terms=self.terms[inside],
            owner=renumbered[self.owner[inside]],
            **{name: getattr(self, name)[kept] for name in own},
        )

    @classmethod
    def joined(cls, parts: Sequence["TrainingRows"]) -> "TrainingRows":
        sizes = np.cumsum([0, *(len(part.supported) for part in parts)])
        moved = [
            replace(part, owner=part.owner + size, answer=part.answer + 10**6 * number)
            for number, (part, size) in enumerate(zip(parts, sizes, strict=False))
        ]
        names = [field.name for field in fields(cls)]
        return cls(*(np.concatenate([getattr(part, name) for part in moved]) for name in names))


@dataclass(frozen=True, slots=True)
class Fit:
    """A model as fitted."""

    mean: Floats
    scale: Floats
    beta: Floats
    """Of the terms, then the intercept, then of the standardised features of sentences."""

    def odds(self, rows: TrainingRows) -> Floats:
        return _odds(self.beta, rows, (rows.sentences - self.mean) / self.scale)


def fit(rows: TrainingRows) -> Fit:
    """Fit by penalised maximum likelihood, with the curvature of Gauss and Newton."""
    mean = np.average(rows.sentences, axis=0, weights=rows.weight)
    scale = np.sqrt(np.average((rows.sentences - mean) ** 2, axis=0, weights=rows.weight))
    scale = np.where(scale > 0, scale, 1.0)
    standard = (rows.sentences - mean) / scale
    many = len(TERM_FEATURES)
    penalty = np.full(many + 1 + len(SENTENCE_FEATURES), RIDGE * rows.weight.sum())
    penalty[many] = 0.0
    centre = np.zeros(len(penalty))
    centre[0] = _FOUND
    for name, value in DECLARED.items():
        place = TERM_FEATURES.index(name)
        penalty[place], centre[place] = _FIRMLY * rows.weight.sum(), value

    def loss(beta: Floats) -> float:
        odds = _odds(beta, rows, standard)
        own = rows.weight * (np.logaddexp(0.0, odds) - rows.supported * odds)
        return float(own.sum() + (penalty * (beta - centre) ** 2).sum() / 2)

    def gradient(beta: Floats) -> Floats:
        p = expit(_odds(beta, rows, standard))
        slope = _slopes(beta, rows, standard)
        found: Floats = slope.T @ (rows.weight * (p - rows.supported)) + penalty * (beta - centre)
        return found

    def curvature(beta: Floats) -> Floats:
        p = expit(_odds(beta, rows, standard))
        slope = _slopes(beta, rows, standard)
        found: Floats = (slope * (rows.weight * p * (1 - p))[:, None]).T @ slope + np.diag(penalty)
        return found

    found = minimize(
        loss, centre, jac=gradient, hess=curvature, method="trust-exact", options=_EXACT
    )
    return Fit(mean, scale, found.x)


def _damped(rows: TrainingRows) -> Floats:
    items = np.bincount(rows.owner, rows.terms[:, 0], len(rows.supported))
    damped: Floats = (USUAL / np.maximum(items, 1.0)) ** DAMPING
    return damped


def _odds(beta: Floats, rows: TrainingRows, standard: Floats) -> Floats:
    many = rows.terms.shape[1]
    lost = np.logaddexp(0.0, rows.terms @ beta[:many]) * rows.terms[:, 0]
    kept = -np.bincount(rows.owner, lost, len(rows.supported)) * _damped(rows)
    odds: Floats = kept + beta[many] + standard @ beta[many + 1 :]
    return odds


def _slopes(beta: Floats, rows: TrainingRows, standard: Floats) -> Floats:
    many = rows.terms.shape[1]
    wrong = expit(rows.terms @ beta[:many])
    own = -rows.terms * (wrong * _damped(rows)[rows.owner])[:, None]
    sums = np.zeros((len(rows.supported), many))
    np.add.at(sums, rows.owner, own)
    return np.column_stack([sums, np.ones(len(sums)), standard])


def folds(group: npt.NDArray[np.str_]) -> Iterator[npt.NDArray[np.bool_]]:
    """Which rows to hold out, ten times; a group is never on both sides."""
    names, of = np.unique(group, return_inverse=True)
    fold = (np.random.default_rng(0).permutation(len(names)) % FOLDS)[of]
    for number in range(FOLDS):
        yield fold == number


def held_out(rows: TrainingRows) -> Floats:
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


def neighbours(odds: Floats, rows: TrainingRows) -> tuple[float, float]:
    """(what neighbours add, the mean they are measured from), fitted to held-out log odds."""
    mean, there = beside(odds, rows.answer)
    centre = float(np.average(odds[there], weights=rows.weight[there]))
    x = np.column_stack([np.ones(there.sum()), odds[there], mean[there] - centre])
    beta = Logit(rows.supported[there], x).fit(disp=False).params
    # Its own odds keep the weight 1, so that only the ratio moves.
    return float(beta[2] / beta[1]), centre


def print_report(odds: Floats, rows: TrainingRows, least: float) -> None:
    """Print what held-out log odds say, beside the labels."""
    for name in SETS:
        own = np.char.startswith(rows.group, f"{name} ")
        auroc = roc_auc_score(rows.supported[own], odds[own])
        print(f"{name}: {own.sum()} sentences, AUROC {auroc:.4f}")
    full, right = odds >= least, rows.supported == 1
    print(f"at the threshold {full[right].mean():.1%} of the supported are full,")
    print(f"and {full[~right].mean():.1%} of the unsupported; supported by score:")
    cell = np.minimum(expit(odds) * 10, 9).astype(int)
    for number in range(10):
        inside = cell == number
        share = np.average(right[inside], weights=rows.weight[inside])
        print(f"  {number / 10:.1f} {inside.sum():5} {share:.3f}")


def count_background() -> None:
    """Document frequencies of stems over passages of some 600 characters, each text once."""
    counts: Counter[str] = Counter()
    passages = 0
    for name in SETS:
        seen: set[str] = set()
        for row in labelled.rows(name):
            passage = ""
            for chunk in [*row["chunks"], None]:
                text = chunk["text"] if chunk else ""
                if text not in seen:
                    seen.add(text)
                    passage += f" {text}"
                if passage.strip() and (len(passage) > PASSAGE or chunk is None):
                    passages += 1
                    counts.update({stem for stem in words(passage).stems if stem.isascii()})
                    passage = ""
    kept = {stem: n for stem, n in sorted(counts.items()) if n >= RAREST and len(stem) <= 20}
    text = json.dumps({"passages": passages, "counts": kept}, separators=(",", ":"))
    (OUT / "background.json").write_text(text + "\n", encoding="utf-8")


async def measured(name: str, weight: float) -> TrainingRows:
    """All labelled sentences of a set, against all their chunks."""
    embedder = LexicalEmbedder()
    found: list[Alignment] = []
    labels: list[bool] = []
    groups: list[str] = []
    answers: list[int] = []
    for number, row in enumerate(labelled.rows(name)):
        asked, supported = labelled.request(row)
        if not supported or not asked.chunks:
            continue
        blocks = await aligned(asked, embedder, asked.ask, Source(asked))
        assert not isinstance(blocks, Unscored)  # the built-in embedder does not fail
        found += [alignment for _, alignment in blocks]
        labels += supported
        groups += [f"{name} {row['group']}"] * len(supported)
        answers += [number] * len(supported)
    before = np.cumsum([0, *(len(each.sentences) for each in found)])
    return TrainingRows(
        terms=np.concatenate([each.terms[:, 0] for each in found]),
        owner=np.concatenate([m.owner + low for m, low in zip(found, before, strict=False)]),
        sentences=np.concatenate([each.sentences[:, 0] for each in found]),
        supported=np.asarray(labels, np.float64),
        weight=np.full(len(labels), weight),
        group=np.asarray(groups),
        answer=np.asarray(answers),
    )


def settled(odds: Floats, rows: TrainingRows, pull: float, centre: float) -> Floats:
    """Log odds with what the sentences beside one add."""
    mean, there = beside(odds, rows.answer)
    moved: Floats = odds + np.where(there, pull * (mean - centre), 0.0)
    return moved


def threshold(odds: Floats, supported: Floats) -> float:
    """The log odds from which on claims are supported, best for whole answers.

    With r the share of supported claims that reach it, m that of unsupported ones, and n claims an
    answer, r^n of sound answers pass, and r^(n - 1)·m of those with one unsupported claim; half of
    1 + r^(n - 1)·(r - m) is the balanced accuracy. Its maximum is flat, so the lowest threshold
    within `FLAT` of it is taken: it raises the fewest false alarms.
    """
    good, bad = np.sort(odds[supported == 1]), np.sort(odds[supported == 0])
    r = 1 - np.arange(len(good)) / len(good)
    m = 1 - np.searchsorted(bad, good) / len(bad)
    balanced = r ** (CLAIMS - 1) * (r - m)
    return float(good[np.argmax(balanced >= balanced.max() - 2 * FLAT)])


def model(
    rows: TrainingRows, fitted: Fit, pull: float, centre: float, least: float
) -> dict[str, Any]:
    many, columns = len(TERM_FEATURES), ("mean", "scale", "coefficient")
    sentences = zip(
        SENTENCE_FEATURES, fitted.mean, fitted.scale, fitted.beta[many + 1 :], strict=True
    )
    return {
        "model": "conjunction-v2",
        "trained_on": {name: {"weight": weight} for name, weight in SETS.items()},
        "base_rate": round(float(np.average(rows.supported, weights=rows.weight)), 6),
        "threshold": round(float(expit(least)), 6),
        "threshold_rule": "the lowest that tells within .001 of the best which answers of "
        f"{CLAIMS} claims have an unsupported one, on held-out groups, {FOLDS} folds",
        "usual": USUAL,
        "damping": DAMPING,
        "intercept": round(float(fitted.beta[many]), 6),
        "terms": {
            name: round(float(value), 6)
            for name, value in zip(TERM_FEATURES, fitted.beta, strict=False)
        },
        "sentences": {
            name: dict(zip(columns, (round(float(value), 6) for value in values), strict=True))
            for name, *values in sentences
        },
        "neighbours": round(pull, 6),
        "centre": round(centre, 6),
    }


def train() -> None:
    count_background()
    sets = [asyncio.run(measured(name, weight)) for name, weight in SETS.items()]
    rows = TrainingRows.joined(sets)
    own = held_out(rows)
    pull, centre = neighbours(own, rows)
    odds = settled(own, rows, pull, centre)
    least = threshold(odds, rows.supported)
    fitted = fit(rows)
    text = json.dumps(model(rows, fitted, pull, centre, least), indent=2) + "\n"
    (OUT / "similarity.json").write_text(text, encoding="utf-8")
    print_report(odds, rows, least)


if __name__ == "__main__":
    if not labelled.FAITHFULNESS.is_dir():
        sys.exit(f"no data at {labelled.FAITHFULNESS}")
    train()
