from pathlib import Path

import pytest

from judge.inputs.samples import read_samples
from judge.overlap import measure_overlap
from judge.overlap.evaluate import MEASURES, AnswerOverlap, measure
from judge.records import Sample

FIXTURE = Path(__file__).resolve().parents[2] / "fixtures" / "overlap.jsonl"


def sample(qid: str, answer: str, gold: str | None, query: str = "") -> Sample:
    return Sample(qid=qid, query=query, answer=answer, gold_answer=gold)


def test_the_fixture_by_hand() -> None:
    overlaps: list[AnswerOverlap] = []
    report = measure_overlap(read_samples(FIXTURE, needs=("answer",)), each=overlaps.append)
    # Same, mat without its article, and the Chinese that differs in width; 18/21 of zh-part.
    assert report.mean["exact_match"] == pytest.approx(3 / 6)
    assert report.mean["token_f1"] == pytest.approx((3 + 18 / 21) / 6)
    # 1 and 10/11 of two in English, 1 and 18/21 of two in Chinese, 0 of two.
    assert report.mean["rouge1"] == pytest.approx((1 + 10 / 11 + 1 + 18 / 21) / 6)
    assert report.answers["rougeL"] == 6
    assert report.without_gold_answer == ("en-no-gold",)
    empty, missing = overlaps[5], overlaps[6]
    assert set(empty.scores.values()) == {0.0}
    assert (missing.qid, missing.language) == ("en-no-gold", None)
    assert missing.scores == dict.fromkeys(empty.scores)


def test_every_measure_of_an_answer() -> None:
    assert tuple(measure("the cat is on mat", "the cat is on the mat")) == MEASURES
    # The empty answer is wrong whatever was asked.
    for gold in ("Paris", "。", "the"):
        assert set(measure(" \n", gold).values()) == {0.0}
    for text in ("", "👍👍", "\0\0", "!?。", "ภาษาไทย", "اللغة", "a\r\nb\r", "用 git 提交"):
        for other in ("差旅标准", "the cat", text or "。"):
            shares = measure(text, other).values()
            assert all(share is not None and 0 <= share <= 1 for share in shares)


WRAPPED = "The whole of the invoice was in the end paid\nfor by the company."
TURNED = "For by the company the whole of the invoice was in the end paid."
SENTENCES = [
    # Turned round, all is there sentence by sentence; as one text only the longer sentence is.
    ("费用由公司承担。发票要交。", "发票要交。费用由公司承担。", 1, 7 / 11),
    ("It was paid for. He left.", "He left.\r\nIt was paid\nfor.", 1, 4 / 6),
    # A sentence over two lines is one: ten words in a row of fourteen.
    (WRAPPED, TURNED, 10 / 14, 10 / 14),
]


def test_sentences_are_found_without_line_breaks() -> None:
    for answer, gold, by_sentence, whole in SENTENCES:
        scores = measure(answer, gold)
        shares = (scores["rougeLsum"], scores["rougeL"])
        assert shares == pytest.approx((by_sentence, whole)), answer


def test_a_gold_answer_without_a_letter_has_the_language_of_its_question() -> None:
    for query, language in (("住宿费?", "zh"), ("How much?", "other")):
        (found,) = measure_overlap([sample("q", "500 100 20 3", "500 100 20 4", query)]).bleu
        assert (found.language, found.answers) == (language, 1)


def test_what_changes_the_numbers_is_counted_and_warned_of() -> None:
    samples = [
        sample("none", "a", None),
        sample("empty", " \n\u3000", "an answer of four or more words"),
        sample("long", "a " * 2_001, "a " * 2_000),
        sample("zh", "差旅", "差旅标准"),
    ]
    report = measure_overlap(samples)
    counts = report.counts.model_dump(exclude={"samples", "measured"})
    assert counts == dict.fromkeys(counts, 1)
    # One for each count, and one for two languages.
    assert len(report.warnings) == len(counts) + 1
    assert [(each.language, each.answers) for each in report.bleu] == [("other", 2), ("zh", 1)]
    # Texts that are too long are not averaged.
    assert (report.answers["rougeL"], report.answers["rouge1"]) == (2, 3)
    assert measure_overlap([samples[2]]).mean["rougeL"] is None
