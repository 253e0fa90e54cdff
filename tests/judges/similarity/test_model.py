import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from judge.errors import ConfigError
from judge.judges.similarity.model import ConjunctionModel, LexicalEmbedder

RAW: dict[str, Any] = {
    "model": "tiny-v1",
    "terms": {"one": -math.log(3), "gone": 2 * math.log(3)},
    "sentences": {
        "pairs": {"mean": 1.0, "scale": 2.0, "coefficient": 0.5},
        "cosine": {"mean": 0.25, "scale": 0.5, "coefficient": -1.0},
    },
    "usual": 4.0,
    "damping": 0.0,
    "intercept": 0.25,
    "neighbours": 0.5,
    "centre": -1.0,
    "base_rate": 0.5,
    "threshold": 0.4,
}
TEXT = json.dumps(RAW)
MODEL = ConjunctionModel.load(TEXT, ["one", "gone"], ["pairs", "cosine"])

HELD, GONE = [1.0, 0.0], [1.0, 1.0]
MEAN = [1.0, 0.25]
# The odds that a held item fails are 1 : 3, so it holds with 3/4; a gone one with 1/4.
LN_HELD, LN_GONE = math.log(3 / 4), math.log(1 / 4)


def logits(
    model: ConjunctionModel, sentences: list[list[list[float]]], own: list[list[float]]
) -> list[float]:
    """Log odds against one column, of sentences given as their items."""
    items = [item for sentence in sentences for item in sentence]
    owner = [at for at, sentence in enumerate(sentences) for _ in sentence]
    found = model.logits(
        np.asarray(items, np.float64).reshape(-1, 1, 2),
        np.asarray(owner, np.int64),
        np.asarray(own, np.float64)[:, None, :],
    )
    assert found.shape == (len(sentences), 1)
    values: list[float] = found[:, 0].tolist()
    return values


def test_log_odds_by_hand() -> None:
    # A sentence holds if all its items do; without items it has the intercept.
    found = logits(MODEL, [[HELD, GONE], [HELD], [GONE] * 3, []], [MEAN] * 4)
    sums = [LN_HELD + LN_GONE, LN_HELD, 3 * LN_GONE, 0]
    assert found == pytest.approx([0.25 + each for each in sums])
    # Features of the sentence are standardised: 0.25 + ½ · (3 - 1) / 2 - (1.25 - 0.25) / ½.
    assert logits(MODEL, [[HELD]], [[3.0, 1.25]]) == pytest.approx([LN_HELD - 1.25])
    # Four items are usual: with damping 1 each of two counts double, each of eight half.
    mean, half = replace(MODEL, damping=1.0), replace(MODEL, damping=0.5)
    found = logits(mean, [[HELD, GONE] * n for n in (1, 2, 4)], [MEAN] * 3)
    assert found == pytest.approx([0.25 + 2 * LN_HELD + 2 * LN_GONE] * 3)
    found = logits(half, [[GONE] * n for n in (1, 4, 16)], [MEAN] * 3)
    assert found == pytest.approx([0.25 + n * LN_GONE for n in (2, 4, 8)])


def test_another_list_of_features_is_refused() -> None:
    for terms, sentences in (
        (["gone", "one"], ["pairs", "cosine"]),
        (["one", "gone"], ["cosine", "pairs"]),
        (["one"], ["pairs", "cosine"]),
        (["one", "gone"], ["pairs", "cosine", "skips"]),
    ):
        with pytest.raises(ConfigError, match="train it again"):
            ConjunctionModel.load(TEXT, terms, sentences)


# Vectors.


async def test_rows_have_unit_length_and_an_empty_text_is_zero() -> None:
    rows = await LexicalEmbedder().embed(["It rained.", "", "下雨了。", "***"])
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 0, 1, 0])
