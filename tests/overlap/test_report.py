from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from judge.errors import InputError
from judge.files.samples import read_samples
from judge.overlap import measure_overlap, with_bad_lines
from judge.overlap.records import AnswerOverlap
from judge.records import Sample

FIXTURE = Path(__file__).resolve().parents[2] / "fixtures" / "overlap.jsonl"


def fixture() -> Iterator[Sample]:
    return read_samples(FIXTURE, needs=("answer",))


def sample(qid: str, answer: str, gold: str | None) -> Sample:
    return Sample(qid=qid, answer=answer, gold_answer=gold)


def test_the_fixture_by_hand() -> None:
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


def test_the_row_of_an_answer() -> None:
    rows: list[AnswerOverlap] = []
    measure_overlap(fixture(), each=rows.append)
    assert rows[1].scores["sentence_bleu"] == pytest.approx(57.89, abs=0.005)
    assert [row.language for row in rows[2:5]] == ["other", "zh", "zh"]
    assert not any(row.too_long for row in rows)


def test_stems() -> None:
    samples = [sample("1", "reports", "reporting")]
    assert measure_overlap(samples).mean["rouge1"] == 0
    assert measure_overlap(samples, stem=True).mean["rouge1"] == 1


def test_counts_and_what_they_leave_out() -> None:
    report = measure_overlap(fixture())
    counts = report.counts
    assert (counts.samples, counts.measured, counts.without_gold_answer) == (7, 6, 1)
    assert counts.empty_answers == 1
    rows: list[AnswerOverlap] = []
    measure_overlap(fixture(), each=rows.append)
    empty, missing = rows[5], rows[6]
    assert set(empty.scores.values()) == {0.0}
    assert missing.unmeasured == "no_gold_answer"
    assert set(missing.scores.values()) == {None}
    assert set(missing.scores) == set(empty.scores)


def test_bleu_is_by_language_and_never_mixed() -> None:
    report = measure_overlap(fixture())
    assert [(item.language, item.answers) for item in report.bleu] == [("other", 3), ("zh", 3)]
    assert "bleu" not in report.mean
    assert "|tok:zh|" in report.bleu[1].signature
    chinese = measure_overlap(item for item in fixture() if item.qid.startswith("zh"))
    assert chinese.mean["bleu"] == chinese.bleu[0].score == report.bleu[1].score
    assert "bleu" not in chinese.interval
    assert "sentence_bleu" not in chinese.mean


def test_figures_are_of_no_language() -> None:
    rows: list[AnswerOverlap] = []
    samples = [sample("1", "500", "500"), sample("2", "差旅标准", "差旅标准")]
    report = measure_overlap(samples, each=rows.append)
    assert [(item.language, item.answers) for item in report.bleu] == [("zh", 2)]
    assert [row.language for row in rows] == [None, "zh"]
    assert "bleu" in report.mean


def test_no_answer_long_enough_for_bleu_is_warned_of() -> None:
    report = measure_overlap([sample("1", "Paris", "Paris")])
    assert (report.mean["exact_match"], report.mean["bleu"]) == (1, 0)
    assert any("four tokens" in line for line in report.warnings)
    report = measure_overlap([sample("1", "It is in Paris", "Paris")])
    assert not any("four tokens" in line for line in report.warnings)


def test_an_answer_of_blanks_is_empty() -> None:
    report = measure_overlap([sample("1", " \n\u3000", "Paris"), sample("2", "Paris", "Paris")])
    assert report.counts.empty_answers == 1


def test_bad_lines_are_counted_and_warned_of() -> None:
    report = measure_overlap(fixture())
    found = with_bad_lines(report, 2)
    assert found.counts.bad_lines == 2
    assert set(found.warnings) > set(report.warnings)
    assert with_bad_lines(report, 0) == report


def test_the_language_is_the_gold_answers() -> None:
    report = measure_overlap([sample("1", "Travel costs", "差旅标准"), sample("2", "差旅", "cost")])
    assert {item.language for item in report.bleu} == {"zh", "other"}


def test_order_and_seed() -> None:
    samples = [sample(str(n), "a b c d e"[: 1 + n % 9], "a b c d e") for n in range(60)]
    report = measure_overlap(samples)
    turned = measure_overlap(reversed(samples))
    forth, back = report.interval["rouge1"], turned.interval["rouge1"]
    assert forth is not None
    assert back is not None
    assert forth.method == "poisson_bootstrap"
    assert (back.low, back.high) == pytest.approx((forth.low, forth.high))
    assert turned.bleu == report.bleu
    assert measure_overlap(samples, seed=1).interval != report.interval
    assert "|seed:1|" in measure_overlap(samples, seed=1).signature


def test_the_signature_names_every_choice() -> None:
    parts = dict(part.split(":", 1) for part in measure_overlap(fixture()).signature.split("|"))
    assert set(parts) == {
        *("overlap", "tokens", "norm", "rouge", "stem", "sentences", "w", "longest", "seed"),
        "judge",
    }
    assert parts["w"] == "1.2"
    assert parts["longest"] == "50000,4000000"
    assert parts["rouge"] == f"rouge-score-{version('rouge-score')}"
    assert parts["judge"] == version("judge")
    stemmed = measure_overlap(fixture(), stem=True).signature
    assert "|stem:porter|" in stemmed
    assert parts["stem"] == "no"


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


def test_gold_answers_that_rouge_says_little_of() -> None:
    counts = measure_overlap([sample("1", "!", "👍"), sample("2", "Paris", "Paris")]).counts
    assert (counts.wordless_gold, counts.single_token_gold) == (1, 1)


@pytest.mark.parametrize(
    ("samples", "said"),
    [
        ([], "holds no sample"),
        (
            [sample("1", "a", None), sample("2", "a", " ")],
            r"missing or blank in every sample \(2 read\)",
        ),
    ],
)
def test_nothing_to_measure(samples: list[Sample], said: str) -> None:
    with pytest.raises(InputError, match=said):
        measure_overlap(samples)


def test_many_without_gold_are_counted_and_few_listed() -> None:
    samples = [sample(str(n), "a", None) for n in range(50)]
    report = measure_overlap([*samples, sample("gold", "a", "a")])
    assert report.without_gold_answer == tuple(map(str, range(20)))
    assert report.counts.without_gold_answer == 50
