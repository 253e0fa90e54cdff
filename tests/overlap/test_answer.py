import pytest

from judge.overlap.answer import MEASURES, has_gold, measure
from judge.records import Sample


def test_every_measure_by_hand() -> None:
    found = measure("the cat is on mat", "the cat is on the mat", stem=False)
    assert tuple(found.scores) == MEASURES
    assert (found.language, found.gold_tokens) == ("other", 6)
    assert found.scores["exact_match"] == found.scores["token_f1"] == 1  # articles do not count
    assert found.scores["token_precision"] == found.scores["token_recall"] == 1
    assert found.scores["rouge1_precision"] == 1
    assert found.scores["rouge1_recall"] == pytest.approx(5 / 6)
    assert found.scores["rouge2"] == pytest.approx(2 / 3)
    assert found.scores["rougeW_precision"] == pytest.approx(0.924449, abs=1e-6)


def test_sentences_are_found_without_line_breaks() -> None:
    # Turned round, sentence by sentence all is there; as one subsequence only the longer one is.
    found = measure("费用由公司承担。发票要交。", "发票要交。费用由公司承担。", stem=False)
    assert found.scores["rougeLsum"] == 1
    assert found.scores["rougeL"] == pytest.approx(7 / 11)
    found = measure("It was paid for. He left.", "He left.\r\nIt was paid\nfor.", stem=False)
    assert found.scores["rougeLsum"] == 1
    assert found.scores["rougeL"] == pytest.approx(4 / 6)


def test_token_shares_by_hand() -> None:
    scores = measure("It is Paris, France", "Paris", stem=False).scores
    assert (scores["token_precision"], scores["token_recall"]) == (0.25, 1)


def test_a_sentence_over_two_lines_is_one() -> None:
    # As one, ten words in a row of fourteen; as two lines the other four would be found as well.
    wrapped = "The whole of the invoice was in the end paid\nfor by the company."
    turned = "For by the company the whole of the invoice was in the end paid."
    for texts in ((wrapped, turned), (turned, wrapped)):
        found = measure(*texts, stem=False).scores["rougeLsum"]
        assert found == pytest.approx(10 / 14)


def test_without_a_letter_there_is_no_language() -> None:
    assert measure("500", "500", stem=False).language is None


def test_an_empty_answer_is_zero_whatever_was_asked() -> None:
    for gold in ("Paris", "。", "the"):
        assert set(measure(" \n", gold, stem=False).scores.values()) == {0.0}
    assert measure("?", "。", stem=False).scores["exact_match"] == 1


def test_stems_reach_rouge() -> None:
    assert measure("reports", "reporting", stem=False).scores["rouge1"] == 0
    assert measure("reports", "reporting", stem=True).scores["rouge1"] == 1


def test_too_long_is_null_and_the_rest_is_there() -> None:
    scores = measure("a b " * 1_001, "a " * 2_000, stem=False).scores
    null = {name for name, score in scores.items() if score is None}
    names = ("rougeL", "rougeLsum", "rougeW")
    assert null == {f"{name}{part}" for name in names for part in ("", "_precision", "_recall")}


@pytest.mark.parametrize(
    ("gold", "there"), [(None, False), ("", False), (" \n\u3000", False), ("。", True), ("a", True)]
)
def test_a_blank_gold_answer_is_none(gold: str | None, there: bool) -> None:  # noqa: FBT001  a case
    assert has_gold(Sample(qid="1", gold_answer=gold)) is there


@pytest.mark.parametrize(
    "text", ["", "👍👍", "\0\0", "!?。", "ภาษาไทย", "اللغة", "a\r\nb\r", "用 git 提交"]
)
def test_any_text_is_measured(text: str) -> None:
    for other in ("差旅标准", "the cat", text or "。"):
        scores = measure(text, other, stem=True).scores
        assert all(score is not None and 0 <= score <= 1 for score in scores.values())
