from collections.abc import Iterator
from pathlib import Path

import pytest
from sacrebleu.metrics.bleu import BLEU

from judge.inputs.samples import read_samples
from judge.overlap import measure_overlap, with_bad_lines
from judge.overlap.evaluate import MEASURES, measure
from judge.overlap.records import AnswerOverlap, OverlapReport
from judge.records import Sample

FIXTURE = Path(__file__).resolve().parents[2] / "fixtures" / "overlap.jsonl"


def fixture() -> Iterator[Sample]:
    return read_samples(FIXTURE, needs=("answer",))


def sample(qid: str, answer: str, gold: str | None) -> Sample:
    return Sample(qid=qid, answer=answer, gold_answer=gold)


def test_the_fixture_by_hand_and_what_is_left_out() -> None:
    rows: list[AnswerOverlap] = []
    report = measure_overlap(fixture(), each=rows.append)
    # Same, mat without its article, and the Chinese that differs in width; 18/21 of zh-part.
    assert report.mean["exact_match"] == pytest.approx(3 / 6)
    assert report.mean["token_f1"] == pytest.approx((3 + 18 / 21) / 6)
    # 1 and 10/11 of two in English, 1 and 18/21 of two in Chinese, 0 of two.
    assert report.mean["rouge1"] == pytest.approx((1 + 10 / 11 + 1 + 18 / 21) / 6)
    assert report.answers["rougeW"] == 6
    assert [row.qid for row in rows][-1] == "en-no-gold"
    assert [item.qid for item in report.worst] == ["en-paraphrase", "zh-empty", "zh-part"]
    assert report.without_gold_answer == ("en-no-gold",)

    counts = report.counts
    assert (counts.samples, counts.measured, counts.without_gold_answer) == (7, 6, 1)
    assert counts.empty_answers == 1
    empty, missing = rows[5], rows[6]
    assert set(empty.scores.values()) == {0.0}
    assert missing.unmeasured == "no_gold_answer"
    assert set(missing.scores.values()) == {None}
    assert set(missing.scores) == set(empty.scores)


def test_too_long_is_counted_and_not_averaged() -> None:
    long = sample("long", "a " * 2_001, "a " * 2_000)
    rows: list[AnswerOverlap] = []
    report = measure_overlap([long, sample("short", "a b", "a b")], each=rows.append)
    assert [row.too_long for row in rows] == [True, False]
    assert report.counts.too_long == 1
    assert report.answers["rougeL"] == 1
    assert report.answers["rouge1"] == 2
    assert report.mean["rougeL"] == 1
    alone = measure_overlap([long])
    assert alone.mean["rougeL"] is None
    assert alone.interval["rougeL"] is None


def test_every_measure_of_an_answer() -> None:
    found = measure("the cat is on mat", "the cat is on the mat", stem=False)
    assert tuple(found) == MEASURES
    assert measure("reports", "reporting", stem=False)["rouge1"] == 0
    assert measure("reports", "reporting", stem=True)["rouge1"] == 1
    # An answer is owed, whatever was asked.
    for gold in ("Paris", "。", "the"):
        assert set(measure(" \n", gold, stem=False).values()) == {0.0}
    assert measure("?", "。", stem=False)["exact_match"] == 1
    scores = measure("a b " * 1_001, "a " * 2_000, stem=False)
    names = ("rougeL", "rougeLsum", "rougeW")
    assert tuple(name for name, score in scores.items() if score is None) == names
    for text in ("", "👍👍", "\0\0", "!?。", "ภาษาไทย", "اللغة", "a\r\nb\r", "用 git 提交"):
        for other in ("差旅标准", "the cat", text or "。"):
            shares = measure(text, other, stem=True).values()
            assert all(share is not None and 0 <= share <= 1 for share in shares)


WRAPPED = "The whole of the invoice was in the end paid\nfor by the company."
TURNED = "For by the company the whole of the invoice was in the end paid."


SENTENCES = [
    # Turned round, sentence by sentence all is there; as one only the longer sentence is.
    ("费用由公司承担。发票要交。", "发票要交。费用由公司承担。", 1, 7 / 11),
    ("It was paid for. He left.", "He left.\r\nIt was paid\nfor.", 1, 4 / 6),
    # A sentence over two lines is one: ten words in a row of fourteen.
    (WRAPPED, TURNED, 10 / 14, 10 / 14),
    (TURNED, WRAPPED, 10 / 14, 10 / 14),
]


def test_sentences_are_found_without_line_breaks() -> None:
    for answer, gold, by_sentence, whole in SENTENCES:
        scores = measure(answer, gold, stem=False)
        shares = (scores["rougeLsum"], scores["rougeL"])
        assert shares == pytest.approx((by_sentence, whole)), answer


DIGITS = ("500 100 20 3", "500 100 20 4")
CHINESE = ("报销由部门经理审批。", "报销由部门经理和财务审批。")
ENGLISH = ("the cat is on mat", "the cat is on the mat")


def pairs(*given: tuple[str, str]) -> OverlapReport:
    return measure_overlap(sample(str(n), *pair) for n, pair in enumerate(given))


def sacrebleu(tokenizer: str, *given: tuple[str, str]) -> float:
    answers, golds = zip(*given, strict=True)
    return float(BLEU(tokenize=tokenizer).corpus_score(list(answers), [list(golds)]).score)


def test_a_gold_answer_without_a_letter_has_the_language_of_its_question() -> None:
    digits = {"answer": "500 100 20 3", "gold_answer": "500 100 20 4"}
    for query, language, tokenizer in (("住宿费?", "zh", "zh"), ("How much?", "other", "13a")):
        (found,) = measure_overlap([Sample(qid="q", query=query, **digits)]).bleu
        assert (found.language, found.answers) == (language, 1)
        assert found.score == pytest.approx(sacrebleu(tokenizer, DIGITS))
        assert f"|tok:{tokenizer}|" in found.signature
    several = pairs(CHINESE, ENGLISH, ENGLISH).bleu
    assert [(each.language, each.answers) for each in several] == [("other", 2), ("zh", 1)]


def kept(size: int, *answers: str) -> str:
    """Answers to `a b c d`, listed with the lowest first."""
    report = measure_overlap((sample(each, each, "b c d e") for each in answers), worst=size)
    return " ".join(item.qid.replace(" ", "") for item in report.worst)


def test_the_lowest_by_token_f1_then_rouge_l_then_the_first() -> None:
    # Token F1 1/4 for one word; for two 2/3·… in order or turned, which ROUGE-L sees.
    answers = ("b c", "x", "c b", "d c", "b c d", "e d c b")
    for size, listed in ((9, "x cb dc bc bcd"), (3, "x cb dc"), (1, "x"), (0, "")):
        assert kept(size, *answers) == listed
    assert kept(1, *reversed(answers)) == "x"
    # Only the beginning of a text is kept.
    (low,) = measure_overlap([sample("q", "b" + " x" * 200, "b")]).worst
    assert len(low.answer) == 200


def test_what_makes_the_numbers_other_than_they_look_is_counted_and_warned_of() -> None:
    samples = [
        sample("none", "a", None),
        sample("empty", " \n\u3000", "an answer of four or more words"),
        sample("long", "a " * 2_001, "a " * 2_000),
        sample("wordless", "!", "👍"),
        sample("token", "Paris", "Paris"),
        sample("short", "差旅", "差旅标准"),
    ]
    report = with_bad_lines(measure_overlap(samples), 5)
    counts = report.counts.model_dump(exclude={"samples", "measured"})
    assert counts == dict.fromkeys(counts, 1) | {"bad_lines": 5}
    # One each, one for BLEU of what is too short, and one for several languages.
    assert len(report.warnings) == len(counts) + 2
    plain = measure_overlap([sample("q", *ENGLISH)])
    assert with_bad_lines(plain, 0) == plain
    assert plain.warnings == ()
