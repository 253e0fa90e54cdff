import json
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from itertools import permutations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from judge.backends.labels import Roles, read_labels, relations
from judge.backends.local import SentenceEmbedder, TransformersScorer
from judge.backends.local.network import Encoded
from judge.backends.local.scorer import Network
from judge.backends.local.weights import fingerprint, load, located
from judge.errors import ConfigError
from judge.protocols import Embedder, PairScorer
from judge.records import Relation, Unscored, UnscoredReason
from tests import tiny

# Batches.


@pytest.fixture
def worker() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1, "here") as worker:
        yield worker


class Letters:
    """One token a letter; entailed is the share of `y` among those of the premise."""

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error
        self.batches: list[list[int]] = []
        self.pairs: list[tuple[str, str]] = []
        self.threads: set[str] = set()

    @property
    def network(self) -> Network:
        return Network(100, self.encode, self.relate)

    def encode(self, pairs: Sequence[tuple[str, str]]) -> list[Encoded]:
        if ("", "") in pairs:
            raise ValueError("nothing to encode")
        self.threads.add(threading.current_thread().name)
        self.pairs += pairs
        return [
            {"input_ids": [ord(letter) for letter in premise + hypothesis], "ends": [len(premise)]}
            for premise, hypothesis in pairs
        ]

    def relate(self, rows: Sequence[Encoded]) -> list[Relation]:
        self.threads.add(threading.current_thread().name)
        if self._error:
            raise self._error
        self.batches.append([len(row["input_ids"]) for row in rows])
        return [
            Relation(entailed=row["input_ids"].count(ord("y")) / max(row["ends"][0], 1))
            for row in rows
        ]


async def test_relations_come_back_in_order_and_what_is_too_long_is_none(
    worker: ThreadPoolExecutor,
) -> None:
    letters = Letters()
    scorer: PairScorer = TransformersScorer("tiny@0", letters.network, worker)
    assert scorer.signature == "tiny@0"
    sizes = [n * 37 % 103 for n in range(600)]
    pairs = [("y" * (size // 2) + "n" * (size - size // 2), "ab") for size in sizes]
    found = await scorer.score(pairs)
    assert not isinstance(found, Unscored)
    for relation, size in zip(found, sizes, strict=True):
        assert (relation is None) == (size + 2 > 100)
        if relation is not None:
            assert relation.entailed == (size // 2) / max(size, 1)
    # Those of like length share a batch, so that little of it is padding.
    assert max(map(len, letters.batches)) == 32
    assert all(batch == sorted(batch) for batch in letters.batches)
    assert letters.threads == {"here_0"}

    # Nothing asked, and nothing that fits.
    del letters.batches[:]
    assert await scorer.score([]) == []
    assert await scorer.score([("y" * 101, "")] * 2) == [None, None]
    assert letters.batches == []


async def test_no_token_of_the_model_s_own_stands_in_a_text(worker: ThreadPoolExecutor) -> None:
    letters = Letters()
    await TransformersScorer("tiny@0", letters.network, worker).score([("a [SEP] b", "c</s>")])
    assert letters.pairs == [("a ［SEP\u2060] b", "c＜/s\u2060>")]
    given: list[str] = []

    def encode(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        given.extend(texts)
        return np.ones((len(texts), 1), np.float32)

    await SentenceEmbedder("tiny@0", encode, 1, worker).embed(["a [SEP] b"])
    assert given == ["a ［SEP\u2060] b"]


async def test_a_failure_in_mid_run_is_a_value(worker: ThreadPoolExecutor) -> None:
    for letters, pairs, said in (
        (Letters(RuntimeError("out of memory\nat all")), [("y", "n")], "out of memory"),
        (Letters(), [("y", "n"), ("", "")], "nothing to encode"),
    ):
        scorer = TransformersScorer("tiny@0", letters.network, worker)
        assert await scorer.score(pairs) == Unscored(
            reason=UnscoredReason.SERVER_ERROR, detail=f"the model failed: {said}"
        )


# Labels.

THREES = [
    ("entailment", "neutral", "contradiction"),
    ("ENTAILMENT", "NEUTRAL", "CONTRADICTION"),
    ("SUPPORTS", "NOT ENOUGH INFO", "REFUTES"),
    ("supported", "not enough information", "refuted"),
    ("蕴含", "中立", "矛盾"),
]


TWOS = """consistent inconsistent; supported unsupported; Supported Not Supported;
    entailment not_entailment; faithful hallucinated; ENTAILED NON_ENTAILED;
    entailment non-entailment; entailment no_entailment; consistent not_consistent;
    grounded Not Grounded; true false; True Untrue; yes no; 一致 不一致; 蕴含 非蕴含; 支持 未支持;
    是 否; 真 假"""


def test_labels_in_any_order_and_spelling() -> None:
    wrong = []
    for names in THREES:
        for order in permutations(names):
            roles = Roles(order.index(names[0]), order.index(names[2]))
            if read_labels(dict(enumerate(order))) != roles:
                wrong.append(order)
    # Two labels tell nothing of contradiction.
    for yes, no in (pair.split(maxsplit=1) for pair in TWOS.split(";")):
        if read_labels({0: yes, 1: no}) != Roles(0, None):
            wrong.append((yes, no))
        if read_labels({0: no, 1: yes}) != Roles(1, None):
            wrong.append((no, yes))
    assert wrong == []
    assert read_labels({0: "entailment", 1: "contradiction"}) == Roles(0, 1)


@pytest.mark.parametrize("names", ["LABEL_0 LABEL_1 LABEL_2", "POSITIVE NEGATIVE", "entailment x"])
def test_labels_that_do_not_say_are_refused_by_name(names: str) -> None:
    with pytest.raises(ConfigError, match="id2label") as caught:
        read_labels(dict(enumerate(names.split())))
    assert all(repr(name) in str(caught.value) for name in names.split())


def test_logits_become_probabilities() -> None:
    # Softmax of (0, ln 2, ln 5) is (1, 2, 5) / 8; one logit becomes its sigmoid.
    (first,) = relations(np.log(np.array([[1.0, 2.0, 5.0]])), Roles(2, 0))
    assert [first.entailed, first.contradicted] == pytest.approx([5 / 8, 1 / 8])
    (one,) = relations(np.log(np.array([[3.0]])), Roles(1, None))
    assert [one.entailed, one.contradicted] == pytest.approx([0.75, 0])


# Models that are loaded.


THREE = ("entailment", "neutral", "contradiction")
WORDS = {"open": 0, "开": 0, "shut": 2, "关": 2}
SURE = (0.0, 4.0, 0.0)
needs_transformers = pytest.mark.skipif(
    find_spec("transformers") is None, reason="needs the extra `local`: transformers and torch"
)


async def told(
    folder: Path, worker: ThreadPoolExecutor, *pairs: tuple[str, str]
) -> list[Relation | None]:
    scorer = await TransformersScorer.opened(str(folder), worker)
    found = await scorer.score(pairs)
    assert not isinstance(found, Unscored)
    assert await scorer.score(pairs) == found
    return found


@needs_transformers
async def test_each_label_is_reached_by_the_premise_in_both_languages(
    tmp_path: Path, worker: ThreadPoolExecutor
) -> None:
    folder = tiny.save_classifier(tmp_path / "tiny", THREE, SURE, WORDS)
    found = await told(
        folder,
        worker,
        ("the room is open.", "the room is shut."),
        ("the room is shut.", "the room is open."),
        ("the room is a room.", "the room is open."),
        ("门开。", "门关。"),
        ("第室门关。", "门开。"),
        ("第室门。", "门开。"),
    )
    entailed = [each.entailed > 0.9 for each in found if each]
    contradicted = [each.contradicted > 0.9 for each in found if each]
    assert entailed == [True, False, False, True, False, False]
    assert contradicted == [False, True, False, False, True, False]
    # What is no text to a tokenizer is scored all the same.
    odd = await told(folder, worker, ("open \ud800", ""), ("", "\x00"), ("", ""))
    assert None not in odd


@needs_transformers
async def test_labels_are_read_from_the_models_own_config(
    tmp_path: Path, worker: ThreadPoolExecutor
) -> None:
    # Softmax of (0, 0, ln 6) is (1, 1, 6) / 8; the sigmoid of ln 3 is 3/4.
    cases = [
        (("neutral", "CONTRADICTION", "Entailment"), (0.0, 0.0, 1.791759), (6 / 8, 1 / 8)),
        (("LABEL_0", "LABEL_1"), (0.0, 1.098612), (3 / 4, 0)),
        (("consistent", "inconsistent"), (0.0, 1.098612), (1 / 4, 0)),
        (("LABEL_0",), (1.098612,), (3 / 4, 0)),
    ]
    for number, (labels, bias, expected) in enumerate(cases):
        folder = tiny.save_classifier(tmp_path / str(number), labels, bias)
        (found,) = await told(folder, worker, ("the room", "is open"))
        assert found is not None
        assert [found.entailed, found.contradicted] == pytest.approx(expected, abs=1e-5)


@needs_transformers
async def test_a_folder_that_holds_no_classifier_is_refused_and_its_code_not_run(
    tmp_path: Path, worker: ThreadPoolExecutor
) -> None:
    nan = tiny.save_classifier(tmp_path / "nan", THREE, (float("nan"), 0.0, 0.0))
    headless = tiny.save_encoder(tmp_path / "headless")
    wordless = tiny.save_classifier(tmp_path / "wordless", THREE)
    for path in wordless.glob("*token*"):
        path.unlink()
    unnamed = tiny.save_classifier(tmp_path / "unnamed", ("joy", "anger"))
    own = tiny.save_classifier(tmp_path / "own", THREE)
    config = json.loads((own / "config.json").read_text(encoding="utf-8"))
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.C"}}
    (own / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (own / "own.py").write_text("raise SystemExit('ran')", encoding="utf-8")
    for folder, said in (
        (nan, "its output is no number"),
        (headless, r"lack classifier\.bias: it is no classifier of pairs"),
        (wordless, "holds no tokenizer"),
        (unnamed, r"its labels \('joy', 'anger'\) do not say"),
        (own, "cannot be loaded"),
    ):
        with pytest.raises(ConfigError, match=said) as caught:
            await TransformersScorer.opened(str(folder), worker)
        assert "\n" not in str(caught.value)


# Embeddings.


@pytest.fixture
def loads() -> None:
    """Skips where nothing can be loaded."""
    pytest.importorskip("sentence_transformers", reason="needs the extra `local`")


def lengths(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """An even text points one way, an odd one the other."""
    return np.array([[1, 0] if len(text) % 2 else [0, 1] for text in texts], np.float32)


async def test_each_text_has_its_row_and_a_blank_one_zeros(worker: ThreadPoolExecutor) -> None:
    embedder: Embedder = SentenceEmbedder("tiny@0", lengths, 2, worker)
    assert embedder.signature == "embedding:tiny@0"
    texts = ["a", " ", "雨雨", *["abc", "ab", ""] * 200]
    rows = await embedder.embed(texts, deadline=0.0)
    assert not isinstance(rows, Unscored)
    assert rows.dtype == np.float32
    assert rows.tolist() == [[1, 0], [0, 0], [0, 1], *[[1, 0], [0, 1], [0, 0]] * 200]
    none = await embedder.embed([])
    assert not isinstance(none, Unscored)
    assert none.shape == (0, 2)


@pytest.mark.usefixtures("loads")
async def test_rows_have_unit_length_and_blank_texts_none(
    tmp_path: Path, worker: ThreadPoolExecutor
) -> None:
    folder = tiny.save_encoder(tmp_path / "tiny")
    embedder: Embedder = await SentenceEmbedder.opened(str(folder), worker)
    assert embedder.signature.startswith("embedding:tiny@")
    rows = await embedder.embed(["the room is open.", " \n", "门开。", "", "the room is open."])
    assert not isinstance(rows, Unscored)
    assert rows.shape == (5, 16)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 0, 1, 0, 1], abs=1e-5)
    assert rows[0] @ rows[4] == pytest.approx(1, abs=1e-5)
    assert rows[0] @ rows[2] < 0.999
    again = await embedder.embed(["the room is open."], deadline=0.0)
    assert not isinstance(again, Unscored)
    assert again[0] == pytest.approx(rows[0], abs=1e-5)


@pytest.mark.usefixtures("loads")
async def test_a_folder_that_holds_no_model(tmp_path: Path, worker: ThreadPoolExecutor) -> None:
    with pytest.raises(ConfigError, match="cannot be loaded") as caught:
        await SentenceEmbedder.opened(str(tmp_path), worker)
    assert str(caught.value).startswith(f"--embedding-model {f'local:{tmp_path}'!r}: ")
    assert "\n" not in str(caught.value)


# Weights.


def test_a_folder_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("./none", "/none", "~/none", "~nobody-at-all/x", "a/b/c"):
        with pytest.raises(ConfigError, match="there is no such folder"):
            located(name)


@pytest.mark.skipif(find_spec("huggingface_hub") is None, reason="needs the extra `local`")
def test_what_the_cache_does_not_hold_is_to_be_fetched() -> None:
    with pytest.raises(ConfigError, match=r"hf download nobody/judge-none, or"):
        located("nobody/judge-none")
    with pytest.raises(ConfigError, match=r"hf download nobody/judge-none --revision v1, or"):
        located("nobody/judge-none@v1")
    for name in ("x" * 500, "no name", "a\x00b"):
        with pytest.raises(ConfigError, match="is no folder"):
            located(name)


def made(folder: Path, **files: str) -> str:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return fingerprint(folder)


def test_the_contents_of_a_models_files_make_its_fingerprint(tmp_path: Path) -> None:
    modules = '[{"path": ""}, {"path": "1"}]'
    parts = {"config_json": "{}", "model_safetensors": "12", "1__config_json": "[]"}
    parts["modules_json"] = modules
    usual = made(tmp_path / "a", **parts)
    assert len(usual) == 8
    assert int(usual, 16) >= 0
    # Not where it stands, nor what else lies there.
    others = {"README_md": "read", "optimizer_pt": "9", "checkpoint-9__model_bin": "9"}
    assert made(tmp_path / "b", **parts, **others) == usual
    changed = [
        made(tmp_path / "c", **parts | {"model_safetensors": "13"}),
        made(tmp_path / "d", **parts | {"1__config_json": "[1]"}),
        made(tmp_path / "e", **parts | {"vocab_txt": ""}),
        made(tmp_path / "f", model_safetensors="12", config_json="{}", modules_json=modules),
        made(tmp_path / "g", **parts | {"model_safetensors": "{}", "config_json": "12"}),
    ]
    assert len({usual, *changed}) == 6


async def test_whatever_goes_wrong_is_one_line_that_names_the_option(
    tmp_path: Path, worker: ThreadPoolExecutor
) -> None:
    def fail(_: Path) -> None:
        raise errors.pop()

    errors: list[Exception] = [ImportError("x"), ConfigError("x"), OSError("\n\n no file \nat all")]
    while errors:
        with pytest.raises(ConfigError, match=r"^--option 'x': .*(x|no file)") as caught:
            await load(str(tmp_path), "--option 'x'", fail, worker)
        assert "\n" not in str(caught.value)
    name, made = await load(str(tmp_path), "--option 'x'", lambda folder: folder.name, worker)
    assert name == f"{made}@{fingerprint(tmp_path)}"
