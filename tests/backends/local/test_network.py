import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from judge.backends.local.scorer import TransformersScorer
from judge.errors import ConfigError
from judge.protocols import PairScorer
from judge.records import Relation, Unscored, UnscoredReason
from tests import tiny

THREE = ("entailment", "neutral", "contradiction")
WORDS = {"open": 0, "开": 0, "shut": 2, "关": 2}
SURE = (0.0, 4.0, 0.0)


@pytest.fixture
def worker() -> Iterator[ThreadPoolExecutor]:
    pytest.importorskip("transformers", reason="needs the extra `local`: transformers and torch")
    with ThreadPoolExecutor(1) as worker:
        yield worker


async def told(scorer: PairScorer, pairs: Sequence[tuple[str, str]]) -> list[Relation | None]:
    found = await scorer.score(pairs)
    assert not isinstance(found, Unscored)
    return list(found)


async def test_each_label_is_reached_by_the_premise_in_both_languages(
    tmp_path: Path, worker: ThreadPoolExecutor
) -> None:
    folder = tiny.save_classifier(tmp_path / "tiny", THREE, SURE, WORDS)
    scorer = await TransformersScorer.opened(str(folder), worker)
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
        scorer = await TransformersScorer.opened(str(folder), worker)
        (found,) = await told(scorer, [("the room", "is open")])
        assert found is not None
        assert [found.entailed, found.contradicted] == pytest.approx(expected, abs=1e-5)


async def test_pairs_of_all_lengths_come_back_in_order_and_what_is_too_long_is_not_cut(
    tmp_path: Path, worker: ThreadPoolExecutor
) -> None:
    folder = tiny.save_classifier(tmp_path / "tiny", THREE, SURE, WORDS)
    scorer = await TransformersScorer.opened(str(folder), worker)
    # With three marks and one word of the hypothesis, 60 words fill the 64 tokens.
    words = ["open" if n % 3 == 0 else "shut" for n in range(300)]
    sizes = [n * 7 % 67 + 1 for n in range(300)]
    pairs = [(" ".join([word] * size), "room") for word, size in zip(words, sizes, strict=True)]
    found = await told(scorer, pairs)
    for each, word, size in zip(found, words, sizes, strict=True):
        assert (each is None) == (size > 60)
        if each is not None:
            assert (each.entailed > 0.9) == (word == "open")
            assert (each.contradicted > 0.9) == (word == "shut")


async def test_text_that_is_none_to_a_tokenizer_is_scored_all_the_same(
    tmp_path: Path, worker: ThreadPoolExecutor
) -> None:
    folder = tiny.save_classifier(tmp_path / "tiny", THREE, SURE, WORDS)
    scorer = await TransformersScorer.opened(str(folder), worker)
    found = await told(scorer, [("open \ud800", ""), ("", "\x00"), ("", "")])
    assert [each is not None for each in found] == [True, True, True]


async def test_a_model_that_gives_no_numbers_is_refused(
    tmp_path: Path, worker: ThreadPoolExecutor
) -> None:
    folder = tiny.save_classifier(tmp_path / "tiny", THREE, (float("nan"), 0.0, 0.0))
    with pytest.raises(ConfigError, match="its output is no number"):
        await TransformersScorer.opened(str(folder), worker)


async def test_a_failure_in_mid_run_is_a_value(tmp_path: Path, worker: ThreadPoolExecutor) -> None:
    folder = tiny.save_classifier(tmp_path / "tiny", THREE)
    # Out of range of the embeddings, as memory would be out of range of the machine.
    config = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    config["model"]["vocab"]["room"] = 500
    (folder / "tokenizer.json").write_text(json.dumps(config), encoding="utf-8")
    scorer = await TransformersScorer.opened(str(folder), worker)
    found = await scorer.score([("the room", "is open")])
    assert isinstance(found, Unscored)
    assert found.reason is UnscoredReason.SERVER_ERROR
    assert "\n" not in found.detail


async def test_a_model_without_a_head_or_a_tokenizer_is_refused(
    tmp_path: Path, worker: ThreadPoolExecutor
) -> None:
    headless = tiny.save_encoder(tmp_path / "headless")
    with pytest.raises(ConfigError, match=r"lack classifier\.bias: it is no classifier of pairs"):
        await TransformersScorer.opened(str(headless), worker)
    wordless = tiny.save_classifier(tmp_path / "wordless", THREE)
    for path in wordless.glob("*token*"):
        path.unlink()
    with pytest.raises(ConfigError, match="holds no tokenizer"):
        await TransformersScorer.opened(str(wordless), worker)
    unnamed = tiny.save_classifier(tmp_path / "unnamed", ("joy", "anger"))
    with pytest.raises(ConfigError, match=r"its labels \('joy', 'anger'\) do not say"):
        await TransformersScorer.opened(str(unnamed), worker)


async def test_a_models_own_code_is_not_run(tmp_path: Path, worker: ThreadPoolExecutor) -> None:
    folder = tiny.save_classifier(tmp_path / "tiny", THREE)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.C"}}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "own.py").write_text("raise SystemExit('ran')", encoding="utf-8")
    with pytest.raises(ConfigError, match="cannot be loaded") as caught:
        await TransformersScorer.opened(str(folder), worker)
    assert "\n" not in str(caught.value)
