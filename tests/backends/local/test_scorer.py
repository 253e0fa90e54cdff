import json
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from judge.backends.local.scorer import Encoded, Roles, TransformersScorer, read_labels, relations
from judge.errors import ConfigError
from judge.protocols import PairScorer
from judge.records import Relation, Unscored, UnscoredReason
from tests import tiny

# Batches.


@pytest.fixture
def worker() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1, "here") as worker:
        yield worker


class Letters:
    """One token a letter; entailed is the share of `y` among those of the premise."""

    limit = 100

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error
        self.batches: list[list[int]] = []
        self.threads: set[str] = set()

    def encode(self, pairs: Sequence[tuple[str, str]]) -> list[Encoded]:
        if ("", "") in pairs:
            raise ValueError("nothing to encode")
        self.threads.add(threading.current_thread().name)
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
    network = Letters()
    scorer: PairScorer = TransformersScorer("tiny@0", network, worker)
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
    assert max(map(len, network.batches)) == 32
    assert all(batch == sorted(batch) for batch in network.batches)
    assert network.threads == {"here_0"}


async def test_nothing_asked_and_nothing_that_fits(worker: ThreadPoolExecutor) -> None:
    network = Letters()
    scorer = TransformersScorer("tiny@0", network, worker)
    assert await scorer.score([]) == []
    assert await scorer.score([("y" * 101, "")] * 2) == [None, None]
    assert network.batches == []


async def test_a_failure_in_mid_run_is_a_value(worker: ThreadPoolExecutor) -> None:
    scorer = TransformersScorer("tiny@0", Letters(RuntimeError("out of memory\nat all")), worker)
    assert await scorer.score([("y", "n")]) == Unscored(
        reason=UnscoredReason.SERVER_ERROR, detail="the model failed: out of memory"
    )
    scorer = TransformersScorer("tiny@0", Letters(), worker)
    assert await scorer.score([("y", "n"), ("", "")]) == Unscored(
        reason=UnscoredReason.SERVER_ERROR, detail="the model failed: nothing to encode"
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
            roles = Roles(order.index(names[0]), order.index(names[2]), single=False)
            if read_labels(dict(enumerate(order))) != roles:
                wrong.append(order)
    # Two labels tell nothing of contradiction.
    for yes, no in (pair.split(maxsplit=1) for pair in TWOS.split(";")):
        if read_labels({0: yes, 1: no}) != Roles(0, None, single=False):
            wrong.append((yes, no))
        if read_labels({0: no, 1: yes}) != Roles(1, None, single=False):
            wrong.append((no, yes))
    assert wrong == []
    assert read_labels({0: "entailment", 1: "contradiction"}) == Roles(0, 1, single=False)


def test_two_labels_without_names_and_one() -> None:
    assert read_labels({0: "LABEL_0", 1: "LABEL_1"}) == Roles(1, None, single=False)
    assert read_labels({0: "LABEL_0"}) == Roles(1, None, single=True)
    assert read_labels({0: "consistent"}) == Roles(1, None, single=True)
    assert read_labels({0: "hallucination"}) == Roles(0, None, single=True)
    assert read_labels({0: "not_entailed"}) == Roles(0, None, single=True)


UNKNOWN: list[tuple[str, ...]] = [
    ("LABEL_0", "LABEL_1", "LABEL_2"),
    ("POSITIVE", "NEGATIVE"),
    ("neutral", "contradiction"),
    ("entailment", "supported"),
    ("entailment", "contradiction", "refutes"),
    ("entailment", "joy"),
    ("joy",),
    ("contradiction",),
    ("refuted",),
    ("not_contradiction",),
    (),
]


def test_labels_that_do_not_say_are_refused_by_name() -> None:
    for names in UNKNOWN:
        with pytest.raises(ConfigError, match="id2label") as caught:
            read_labels(dict(enumerate(names)))
        assert all(repr(name) in str(caught.value) for name in names), names


def test_logits_become_probabilities() -> None:
    # Softmax of (0, ln 2, ln 5) is (1, 2, 5) / 8.
    logits = np.log(np.array([[1.0, 2.0, 5.0], [8.0, 1.0, 1.0]]))
    first, second = relations(logits, Roles(2, 0, single=False))
    assert [first.entailed, first.contradicted] == pytest.approx([5 / 8, 1 / 8])
    assert [second.entailed, second.contradicted] == pytest.approx([0.1, 0.8])
    assert relations(logits, Roles(1, None, single=False))[0].contradicted == 0
    (sure,) = relations(np.array([[1e4, -1e4]]), Roles(0, 1, single=False))
    assert (sure.entailed, sure.contradicted) == (1.0, 0.0)
    # One logit becomes its sigmoid.
    logits = np.log(np.array([[3.0], [1.0], [1 / 3]]))
    for role, wanted in ((1, [0.75, 0.5, 0.25]), (0, [0.25, 0.5, 0.75])):
        shares = [each.entailed for each in relations(logits, Roles(role, None, single=True))]
        assert shares == pytest.approx(wanted)


# Models that are loaded.


@pytest.fixture
def loading() -> Iterator[ThreadPoolExecutor]:
    pytest.importorskip("transformers", reason="needs the extra `local`: transformers and torch")
    with ThreadPoolExecutor(1) as worker:
        yield worker


THREE = ("entailment", "neutral", "contradiction")

WORDS = {"open": 0, "开": 0, "shut": 2, "关": 2}

SURE = (0.0, 4.0, 0.0)


async def told(scorer: PairScorer, pairs: Sequence[tuple[str, str]]) -> list[Relation | None]:
    found = await scorer.score(pairs)
    assert not isinstance(found, Unscored)
    return list(found)


async def test_each_label_is_reached_by_the_premise_in_both_languages(
    tmp_path: Path, loading: ThreadPoolExecutor
) -> None:
    folder = tiny.save_classifier(tmp_path / "tiny", THREE, SURE, WORDS)
    scorer = await TransformersScorer.opened(str(folder), loading)
    assert scorer.signature.startswith("tiny@")
    pairs = [
        ("the room is open.", "the room is shut."),
        ("the room is shut.", "the room is open."),
        ("the room is a room.", "the room is open."),
        ("门开。", "门关。"),
        ("第室门关。", "门开。"),
        ("第室门。", "门开。"),
    ]
    found = await told(scorer, pairs)
    entailed = [each.entailed > 0.9 for each in found if each]
    contradicted = [each.contradicted > 0.9 for each in found if each]
    assert entailed == [True, False, False, True, False, False]
    assert contradicted == [False, True, False, False, True, False]
    assert await told(scorer, pairs) == found
    assert await told(scorer, []) == []


async def test_labels_are_read_from_the_models_own_config(
    tmp_path: Path, loading: ThreadPoolExecutor
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
        scorer = await TransformersScorer.opened(str(folder), loading)
        (found,) = await told(scorer, [("the room", "is open")])
        assert found is not None
        assert [found.entailed, found.contradicted] == pytest.approx(expected, abs=1e-5)


async def test_text_that_is_none_to_a_tokenizer_is_scored_all_the_same(
    tmp_path: Path, loading: ThreadPoolExecutor
) -> None:
    folder = tiny.save_classifier(tmp_path / "tiny", THREE, SURE, WORDS)
    scorer = await TransformersScorer.opened(str(folder), loading)
    found = await told(scorer, [("open \ud800", ""), ("", "\x00"), ("", "")])
    assert [each is not None for each in found] == [True, True, True]


async def test_a_model_that_gives_no_numbers_is_refused(
    tmp_path: Path, loading: ThreadPoolExecutor
) -> None:
    folder = tiny.save_classifier(tmp_path / "tiny", THREE, (float("nan"), 0.0, 0.0))
    with pytest.raises(ConfigError, match="its output is no number"):
        await TransformersScorer.opened(str(folder), loading)


async def test_a_model_without_a_head_or_a_tokenizer_is_refused(
    tmp_path: Path, loading: ThreadPoolExecutor
) -> None:
    headless = tiny.save_encoder(tmp_path / "headless")
    with pytest.raises(ConfigError, match=r"lack classifier\.bias: it is no classifier of pairs"):
        await TransformersScorer.opened(str(headless), loading)
    wordless = tiny.save_classifier(tmp_path / "wordless", THREE)
    for path in wordless.glob("*token*"):
        path.unlink()
    with pytest.raises(ConfigError, match="holds no tokenizer"):
        await TransformersScorer.opened(str(wordless), loading)
    unnamed = tiny.save_classifier(tmp_path / "unnamed", ("joy", "anger"))
    with pytest.raises(ConfigError, match=r"its labels \('joy', 'anger'\) do not say"):
        await TransformersScorer.opened(str(unnamed), loading)


async def test_a_models_own_code_is_not_run(tmp_path: Path, loading: ThreadPoolExecutor) -> None:
    folder = tiny.save_classifier(tmp_path / "tiny", THREE)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.C"}}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "own.py").write_text("raise SystemExit('ran')", encoding="utf-8")
    with pytest.raises(ConfigError, match="cannot be loaded") as caught:
        await TransformersScorer.opened(str(folder), loading)
    assert "\n" not in str(caught.value)


async def test_a_failure_of_the_library_is_a_value(
    tmp_path: Path, loading: ThreadPoolExecutor
) -> None:
    folder = tiny.save_classifier(tmp_path / "tiny", THREE)
    # Out of range of the embeddings, as memory would be out of range of the machine.
    config = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    config["model"]["vocab"]["room"] = 500
    (folder / "tokenizer.json").write_text(json.dumps(config), encoding="utf-8")
    scorer = await TransformersScorer.opened(str(folder), loading)
    found = await scorer.score([("the room", "is open")])
    assert isinstance(found, Unscored)
    assert found.reason is UnscoredReason.SERVER_ERROR
    assert "\n" not in found.detail
