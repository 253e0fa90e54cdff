"""Train the similarity judge's model: `python tests/bench/train_similarity.py`.

Writes background.json (document frequencies over the passages of the training sets),
similarity.json (the coefficients) and similarity.md (the report) to judge/data. What it is worth
on other sets, `python tests/bench/quality.py` measures. The data stand at ../shared/data.
"""

import asyncio
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

# Run as a file, Python looks for modules beside it and not where `tests` stands.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from judge.judges.similarity import Block, aligned
from judge.judges.similarity.align import SENTENCE_FEATURES, TERM_FEATURES, Measured
from judge.judges.similarity.embedding import LexicalEmbedder
from judge.text.words import words
from tests.bench import fitting, labelled
from tests.bench.fitting import Fit, Rows
from tests.bench.training_report import report

Floats = npt.NDArray[np.float64]

OUT: Final = Path(__file__).resolve().parents[2] / "judge" / "data"
SETS: Final = {"factscore": 1.0, "wice_dev": 2.0, "factcheckgpt": 1.0}
"""The training sets, and what a row of each weighs: WiCE's are long, of many facts, and few."""
RECALL: Final = 0.85
PASSAGE: Final = 600
RAREST: Final = 4


def count_background() -> None:
    """Document frequencies of stems over passages of some 600 characters, each text once."""
    counts: Counter[str] = Counter()
    passages = 0
    for name in SETS:
        seen: set[str] = set()
        for row in labelled.rows(name):
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


async def measured(name: str, weight: float) -> Rows:
    """All labelled sentences of a set, against all their chunks."""
    embedder = LexicalEmbedder()
    found: list[Measured] = []
    labels: list[bool] = []
    groups: list[str] = []
    answers: list[int] = []
    for number, row in enumerate(labelled.rows(name)):
        asked, supported = labelled.request(row)
        if not supported or not asked.chunks:
            continue
        async for block in aligned(asked, asked.ask, embedder):
            assert isinstance(block, Block)  # the built-in embedder does not fail
            found.append(block.alignment.measured(slice(1)))
        labels += supported
        groups += [f"{name} {row['group']}"] * len(supported)
        answers += [number] * len(supported)
    before = np.cumsum([0, *(len(each.sentences) for each in found)])
    return Rows(
        terms=np.concatenate([each.terms[:, 0] for each in found]),
        owner=np.concatenate([m.owner + low for m, low in zip(found, before, strict=False)]),
        sentences=np.concatenate([each.sentences[:, 0] for each in found]),
        supported=np.asarray(labels, np.float64),
        weight=np.full(len(labels), weight),
        group=np.asarray(groups),
        answer=np.asarray(answers),
    )


def settled(odds: Floats, rows: Rows, pull: float, centre: float) -> Floats:
    """Log odds with what the sentences beside one add."""
    mean, there = fitting.beside(odds, rows.answer)
    moved: Floats = odds + np.where(there, pull * (mean - centre), 0.0)
    return moved


def model(rows: Rows, fitted: Fit, pull: float, centre: float, least: float) -> dict[str, Any]:
    many = len(TERM_FEATURES)
    sentences = zip(
        SENTENCE_FEATURES, fitted.mean, fitted.scale, fitted.beta[many + 1 :], strict=True
    )
    return {
        "model": "conjunction-v1",
        "trained_on": {name: {"weight": weight} for name, weight in SETS.items()},
        "base_rate": round(float(np.average(rows.supported, weights=rows.weight)), 6),
        "threshold": round(float(1 / (1 + np.exp(-least))), 6),
        "threshold_rule": f"the highest that keeps recall of supported sentences >= {RECALL} "
        f"on held-out groups, {fitting.FOLDS} folds",
        "usual": fitting.USUAL,
        "damping": fitting.DAMPING,
        "intercept": round(float(fitted.beta[many]), 6),
        "terms": {
            name: round(float(value), 6)
            for name, value in zip(TERM_FEATURES, fitted.beta[:many], strict=True)
        },
        "sentences": {
            name: {
                "mean": round(float(mean), 6),
                "scale": round(float(scale), 6),
                "coefficient": round(float(value), 6),
            }
            for name, mean, scale, value in sentences
        },
        "neighbours": round(pull, 6),
        "centre": round(centre, 6),
    }


def train() -> None:
    count_background()
    sets = {name: asyncio.run(measured(name, weight)) for name, weight in SETS.items()}
    rows = Rows.joined(list(sets.values()))
    own = fitting.held_out(rows)
    pull, centre = fitting.neighbours(own, rows)
    odds = settled(own, rows, pull, centre)
    supported = np.sort(odds[rows.supported == 1])
    least = float(supported[int(np.floor((1 - RECALL) * len(supported)))])
    fitted = fitting.fit(rows)
    text = json.dumps(model(rows, fitted, pull, centre, least), indent=2) + "\n"
    (OUT / "similarity.json").write_text(text, encoding="utf-8")
    told = report(sets, own, odds, least)
    (OUT / "similarity.md").write_text(told, encoding="utf-8")
    print(told)


def main() -> None:
    if not labelled.FAITHFULNESS.is_dir():
        sys.exit(f"no data at {labelled.FAITHFULNESS}")
    train()


if __name__ == "__main__":
    main()
