import json
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from judge.backends.local import (
    NliScorer,
    SentenceEmbedder,
    fingerprint,
    load_scorer,
    read_labels,
)
from judge.errors import ConfigError
from judge.protocols import PairScorer
from judge.records import Unscored, UnscoredReason
from tests import tiny_models

THREE = ("entailment", "neutral", "contradiction")


@pytest.fixture
def worker() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1, "here") as worker:
        yield worker


class Letters:
    """A cross-encoder and an embedder in one, with one token a letter.

    Entailment is the share of `y` in the premise. Odd and even texts point two ways.
    """

    max_seq_length = 100

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error
        self.config = SimpleNamespace(id2label=dict(enumerate(THREE)))
        self.texts: list[str] = []
        self.threads: set[str] = set()

    def tokenizer(self, left: str, right: str, **_: object) -> Mapping[str, list[int]]:
        return {"input_ids": [0] * len(left + right)}

    def predict(self, pairs: list[tuple[str, str]], **_: object) -> npt.NDArray[np.float32]:
        if self._error:
            raise self._error
        self.threads.add(threading.current_thread().name)
        self.texts += [text for pair in pairs for text in pair]
        shares = [premise.count("y") / max(len(premise), 1) for premise, _ in pairs]
        return np.array([[share, 0, 1 - share] for share in shares], np.float32)

    def get_embedding_dimension(self) -> int:
        return 2

    def encode(self, texts: list[str], **_: object) -> npt.NDArray[np.float32]:
        self.texts += texts
        return np.array([[1, 0] if len(text) % 2 else [0, 1] for text in texts], np.float32)


def scorer_of(model: Any, worker: ThreadPoolExecutor) -> NliScorer:  # noqa: ANN401  a fake
    return NliScorer("tiny@0", model, worker)


def embedder_of(model: Any, worker: ThreadPoolExecutor) -> SentenceEmbedder:  # noqa: ANN401  a fake
    return SentenceEmbedder("tiny@0", model, worker)


async def test_relations_are_in_order_and_none_for_long_pairs(
    worker: ThreadPoolExecutor,
) -> None:
    letters = Letters()
    scorer: PairScorer = scorer_of(letters, worker)
    assert scorer.signature == "tiny@0"
    sizes = [n * 37 % 103 for n in range(600)]
    pairs = [("y" * (size // 2) + "n" * (size - size // 2), "ab") for size in sizes]
    found = await scorer.score(pairs)
    assert not isinstance(found, Unscored)
    for relation, size in zip(found, sizes, strict=True):
        assert (relation is None) == (size + 2 > 100)
        if relation is not None:
            share = size // 2 / max(size, 1)
            assert [relation.entailed, relation.contradicted] == pytest.approx([share, 1 - share])
    assert letters.threads == {"here_0"}
    assert await scorer.score([]) == []


async def test_texts_reach_a_model_without_its_control_tokens(worker: ThreadPoolExecutor) -> None:
    letters = Letters()
    await scorer_of(letters, worker).score([("a [SEP] b", "c</s> \ud800")])
    await embedder_of(letters, worker).embed(["a [SEP] b"])
    assert letters.texts == ["a ［SEP\u2060] b", "c＜/s\u2060> ?", "a ［SEP\u2060] b"]


async def test_a_failure_in_mid_run_is_a_value(worker: ThreadPoolExecutor) -> None:
    scorer = scorer_of(Letters(RuntimeError("out of memory\nat all")), worker)
    assert await scorer.score([("y", "n")]) == Unscored(
        reason=UnscoredReason.SERVER_ERROR,
        detail="the model failed: RuntimeError: out of memory at all",
    )


@pytest.mark.parametrize(
    ("labels", "positions"),
    [
        ("entailment neutral contradiction", (0, 2)),
        ("CONTRADICTION Neutral Entailment", (2, 0)),
        ("not_entailment entailment", (1, None)),
        ("LABEL_0 LABEL_1 LABEL_2", None),
        ("entailment", None),
    ],
)
def test_outputs_are_identified_by_their_labels(
    labels: str, positions: tuple[int, int | None] | None
) -> None:
    id2label = dict(enumerate(labels.split()))
    if positions is None:
        with pytest.raises(ConfigError, match="id2label") as caught:
            read_labels(id2label)
        assert all(repr(name) in str(caught.value) for name in id2label.values())
    else:
        assert read_labels(id2label) == positions


@pytest.mark.parametrize("name", ["./none", "~nobody-at-all/x", "a\x00b", "nobody/none@v1"])
async def test_an_absent_model_is_reported_in_one_line(
    name: str, worker: ThreadPoolExecutor
) -> None:
    with pytest.raises(ConfigError) as caught:
        await load_scorer(name, worker)
    assert str(caught.value).startswith(f"--nli-model {name!r}: ")
    assert "\n" not in str(caught.value)


def test_the_fingerprint_depends_on_the_model_files(tmp_path: Path) -> None:
    # Neither README nor a checkpoint's files belong to the model.
    for name in ("config.json", "README", "1_Pooling/config.json", "checkpoint-9/config.json"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}")
        prints = [fingerprint(tmp_path)]
        path.write_text("[]")
        prints.append(fingerprint(tmp_path))
        assert (prints[0] == prints[1]) is (name.startswith(("README", "checkpoint")))


# Models that the libraries load.


@pytest.fixture
def loads() -> None:
    """Skips where nothing can be loaded."""
    pytest.importorskip("sentence_transformers", reason="needs the extra `local`")


@pytest.mark.usefixtures("loads")
async def test_a_folder_without_a_classifier_is_refused_and_its_code_not_run(
    tmp_path: Path, worker: ThreadPoolExecutor
) -> None:
    nan = tiny_models.save_classifier(tmp_path / "nan", THREE, (float("nan"), 0.0, 0.0))
    headless = tiny_models.save_encoder(tmp_path / "headless")
    wordless = tiny_models.save_classifier(tmp_path / "wordless", THREE)
    for path in wordless.glob("*token*"):
        path.unlink()
    own = tiny_models.save_classifier(tmp_path / "own", THREE)
    config = json.loads((own / "config.json").read_text(encoding="utf-8"))
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.C"}}
    (own / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (own / "own.py").write_text("raise SystemExit('ran')", encoding="utf-8")
    for folder, said in (
        (nan, "its output is not a number"),
        (headless, r"its labels \('LABEL_0'\) do not say"),
        (wordless, "holds no tokenizer"),
        (own, "cannot be loaded"),
        (tmp_path, "holds no tokenizer"),
    ):
        with pytest.raises(ConfigError, match=said) as caught:
            await load_scorer(str(folder), worker)
        assert "\n" not in str(caught.value)
