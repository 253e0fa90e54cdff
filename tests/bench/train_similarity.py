"""Train the similarity judge's model, or measure the one that ships.

    python tests/bench/train_similarity.py             # writes background.json, similarity.json
    python tests/bench/train_similarity.py --measure   # AUROC, recalls, calibration per data set

Trained on factscore.jsonl alone (document frequencies: the passages of factscore, wice_dev and
factcheckgpt). Every other set is only measured. The data stand at ../shared/data.
"""

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from judge.backends.lexical import LexicalEmbedder
from judge.judges.similarity import Block, SimilarityJudge, aligned
from judge.metrics.alignment import FEATURES
from judge.records import Chunk, JudgeRequest, Sentence, SentenceKind, Support, Verdict
from judge.steps.kinds import classify
from judge.text.words import words

Floats = npt.NDArray[np.float64]

ROOT: Final = Path(__file__).resolve().parents[2]
FAITHFULNESS: Final = ROOT.parent / "shared" / "data" / "faithfulness"
OUT: Final = ROOT / "judge" / "data"
BACKGROUND: Final = ("factscore", "wice_dev", "factcheckgpt")
MEASURED: Final = (
    "ragtruth_qa_dev", "qags", "wice_test", "attributionbench_dev", "cnli_zh",
)  # fmt: skip
RIDGE: Final = 10.0
FOLDS: Final = 10
RECALL: Final = 0.85
# The one way each feature may push; the two that only say what there was to measure are free.
UP: Final = frozenset({"cover_best", "pairs_best", "pairs_all", "cosine"})
FREE: Final = frozenset({"names_none", "length"})
PASSAGE: Final = 600
RAREST: Final = 4


def rows(name: str) -> Iterator[dict[str, Any]]:
    with (FAITHFULNESS / f"{name}.jsonl").open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def request(row: dict[str, Any], *, claims: bool = False) -> tuple[JudgeRequest, list[bool]]:
    """All labelled sentences of a row, or those that `classify` takes for claims."""
    labelled = [each for each in row["labels"]["sentences"] if each["supported"] is not None]
    sentences = tuple(
        Sentence(index=index, start=each["start"] or 0, end=each["end"] or 0, text=each["text"])
        for index, each in enumerate(labelled)
    )
    kinds = classify(sentences) if claims else sentences
    asked = JudgeRequest(
        query=row["query"],
        answer=row["answer"],
        sentences=sentences,
        ask=tuple(s.index for s in kinds if s.kind is SentenceKind.CLAIM),
        chunks=tuple(Chunk(chunk_id=each["id"], text=each["text"]) for each in row["chunks"]),
    )
    return asked, [labelled[index]["supported"] for index in asked.ask]


def count_background() -> None:
    """Document frequencies of stems over passages of some 600 characters, each text once."""
    counts: Counter[str] = Counter()
    passages = 0
    for name in BACKGROUND:
        seen: set[str] = set()
        for row in rows(name):
            held = ""
            for chunk in [*row["chunks"], None]:
                text = chunk["text"] if chunk else ""
                if text not in seen:
                    seen.add(text)
                    held += f" {text}"
                if held.strip() and (len(held) > PASSAGE or chunk is None):
                    passages += 1
                    counts.update({stem for stem in words(held).stems if stem.isascii()})
                    held = ""
    kept = {stem: n for stem, n in sorted(counts.items()) if n >= RAREST and len(stem) <= 20}
    text = json.dumps({"passages": passages, "counts": kept}, separators=(",", ":"))
    (OUT / "background.json").write_text(text + "\n", encoding="utf-8")


async def measured(name: str) -> tuple[Floats, Floats, npt.NDArray[np.str_]]:
    features: list[Floats] = []
    labels: list[bool] = []
    groups: list[str] = []
    embedder = LexicalEmbedder()
    for row in rows(name):
        asked, supported = request(row)
        if not supported or not asked.chunks:
            continue
        async for block in aligned(asked, embedder):
            assert isinstance(block, Block)  # the built-in embedder does not fail
            features.append(block.alignment.features[:, 0])
        labels += supported
        groups += [row["group"]] * len(supported)
    return np.concatenate(features), np.asarray(labels, np.float64), np.asarray(groups)


def fit(x: Floats, y: Floats) -> Floats:
    """Ridge logistic regression by Newton steps; the intercept, first, is not penalised.

    A coefficient of the wrong sign is held at 0, the worst first, until none is left.
    """
    sign = np.asarray([0 if n in FREE else 1 if n in UP else -1 for n in FEATURES])
    free = np.ones(len(FEATURES), np.bool_)
    while True:
        design = np.column_stack([np.ones(len(x)), x[:, free]])
        ridge = np.diag([0.0] + [RIDGE] * int(free.sum()))
        beta = np.zeros(design.shape[1])
        for _ in range(30):
            p = 1 / (1 + np.exp(-design @ beta))
            hessian = design.T @ (design * (p * (1 - p))[:, None]) + ridge
            beta += np.linalg.solve(hessian, design.T @ (y - p) - ridge @ beta)
        coefficients = np.zeros(len(FEATURES))
        coefficients[free] = beta[1:]
        wrong = -coefficients * sign
        if wrong.max() <= 0:
            return np.concatenate([beta[:1], coefficients])
        free[int(wrong.argmax())] = False


def standard(x: Floats) -> tuple[Floats, Floats]:
    scale = x.std(axis=0)
    return x.mean(axis=0), np.where(scale > 0, scale, 1.0)


def cross_validated(x: Floats, y: Floats, groups: npt.NDArray[np.str_]) -> Floats:
    """Out-of-fold log odds; a group is never on both sides."""
    names, of = np.unique(groups, return_inverse=True)
    fold = (np.random.default_rng(0).permutation(len(names)) % FOLDS)[of]
    out = np.zeros(len(y))
    for held in range(FOLDS):
        mean, scale = standard(x[fold != held])
        beta = fit((x[fold != held] - mean) / scale, y[fold != held])
        out[fold == held] = beta[0] + (x[fold == held] - mean) / scale @ beta[1:]
    return out


def auroc(scores: Floats, labels: Floats) -> float:
    """Share of (supported, unsupported) pairs in the right order, ties half (Mann-Whitney U)."""
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place]
    positive = labels.sum()
    negative = len(labels) - positive
    return float((rank[labels == 1].sum() - positive * (positive + 1) / 2) / (positive * negative))


def interval(scores: Floats, labels: Floats, groups: npt.NDArray[np.str_]) -> tuple[float, float]:
    """95 % by resampling groups 1 000 times."""
    names, of = np.unique(groups, return_inverse=True)
    members = [np.flatnonzero(of == g) for g in range(len(names))]
    rng = np.random.default_rng(0)
    found = []
    for _ in range(1000):
        drawn = np.concatenate([members[g] for g in rng.integers(0, len(names), len(names))])
        if 0 < labels[drawn].sum() < len(drawn):
            found.append(auroc(scores[drawn], labels[drawn]))
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)


def calibration_error(scores: Floats, labels: Floats, bins: int = 10) -> float:
    """ECE: mean |share supported - mean score| over equal-width bins, weighted by their size."""
    cell = np.minimum((scores * bins).astype(int), bins - 1)
    gaps = [
        abs(labels[cell == b].mean() - scores[cell == b].mean()) * (cell == b).mean()
        for b in range(bins)
        if (cell == b).any()
    ]
    return float(sum(gaps))


def train() -> None:
    count_background()
    x, y, groups = asyncio.run(measured("factscore"))
    held_out = cross_validated(x, y, groups)
    supported = np.sort(held_out[y == 1])
    threshold = 1 / (1 + np.exp(-supported[int(np.floor((1 - RECALL) * len(supported)))]))
    mean, scale = standard(x)
    beta = fit((x - mean) / scale, y)
    model = {
        "model": "logistic-v1",
        "trained_on": f"factscore, {len(y)} sentences in {len(np.unique(groups))} groups",
        "ridge": RIDGE,
        "auroc_cross_validated": round(auroc(held_out, y), 4),
        "base_rate": round(float(y.mean()), 6),
        "threshold": round(float(threshold), 6),
        "threshold_rule": (
            f"the highest that keeps recall of supported sentences >= {RECALL} "
            f"on held-out groups, {FOLDS} folds"
        ),
        "intercept": round(float(beta[0]), 6),
        "features": list(FEATURES),
        "mean": [round(float(v), 6) for v in mean],
        "scale": [round(float(v), 6) for v in scale],
        "coefficients": [round(float(v), 6) for v in beta[1:]],
    }
    text = json.dumps(model, indent=2) + "\n"
    (OUT / "similarity.json").write_text(text, encoding="utf-8")
    print(text)
    unsupported = held_out[y == 0]
    caught = float((unsupported < np.log(threshold / (1 - threshold))).mean())
    print(f"held out: recall of unsupported {caught:.3f} at recall of supported >= {RECALL}")


async def measure(name: str, *, claims: bool = False) -> str:
    judge = SimilarityJudge(LexicalEmbedder())
    scores: list[float] = []
    full: list[bool] = []
    labels: list[bool] = []
    groups: list[str] = []
    seconds = 0.0
    for row in rows(name):
        asked, supported = request(row, claims=claims)
        if not supported:
            continue
        began = time.perf_counter()
        judgment = await judge.judge(asked)
        seconds += time.perf_counter() - began
        for index in asked.ask:
            verdict = judgment.outcomes[index]
            assert isinstance(verdict, Verdict)
            scores.append(verdict.score or 0.0)
            full.append(verdict.support is Support.FULL)
        labels += supported
        groups += [row["group"]] * len(supported)
    s, y, f = np.asarray(scores), np.asarray(labels, np.float64), np.asarray(full)
    low, high = interval(s, y, np.asarray(groups))
    return (
        f"{name + ' claims' * claims:24}{len(y):6}{y.mean():8.3f}"
        f"{auroc(s, y):9.4f}  [{low:.3f}, {high:.3f}]"
        f"{f[y == 1].mean():9.3f}{(~f[y == 0]).mean():9.3f}{calibration_error(s, y):8.3f}"
        f"{len(y) / seconds:9.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--measure", action="store_true", help="measure the model that ships")
    options = parser.parse_args()
    if not FAITHFULNESS.is_dir():
        sys.exit(f"no data at {FAITHFULNESS}")
    if not options.measure:
        train()
        return
    print(f"{'set':24}{'n':>6}{'share':>8}{'AUROC':>9}  {'95 %':16}", end="")
    print(f"{'rec sup':>7}{'rec uns':>9}{'ECE':>8}{'sent/s':>9}")
    for name in MEASURED:
        print(asyncio.run(measure(name)), flush=True)
        if name == MEASURED[0]:  # the one set of whole answers, pleasantries and all
            print(asyncio.run(measure(name, claims=True)), flush=True)


if __name__ == "__main__":
    main()
