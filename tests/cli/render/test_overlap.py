from rich.cells import cell_len

from judge.cli.render.overlap import print_overlap
from judge.overlap import measure_overlap
from judge.overlap.records import OverlapReport
from judge.records import Sample
from tests.paged import paged


def printed(samples: list[Sample], width: int = 80, rows: str | None = None) -> str:
    return shown(measure_overlap(samples), width, rows)


def shown(report: OverlapReport, width: int = 80, rows: str | None = None) -> str:
    return paged(lambda page: print_overlap(report, page, rows), width)


def sample(qid: str, answer: str, gold: str | None) -> Sample:
    return Sample(qid=qid, answer=answer, gold_answer=gold)


def line(out: str, begin: str) -> list[str]:
    (found,) = [text for text in map(str.strip, out.splitlines()) if text.startswith(begin)]
    return found.removeprefix(begin).split()


def test_the_figures_stand_in_their_rows() -> None:
    out = printed([sample("q", "the cat is on mat", "the cat is on the mat")])
    assert line(out, "exact match")[0] == "1.000"
    mean, _, precision, recall, answers = line(out, "ROUGE-1 F")
    assert (mean, precision, recall, answers) == ("0.909", "1.000", "0.833", "1")
    assert line(out, "spaced words (English …)") == ["57.89", "13a", "1"]
    out = printed([sample("q", "It is Paris, France", "Paris")])
    mean, _, precision, recall, _ = line(out, "token F1")
    assert (mean, precision, recall) == ("0.400", "0.250", "1.000")
    assert line(out, "exact match")[2:] == ["–", "–", "1"]


def test_scripts_are_named_beside_their_tokenizer() -> None:
    golds = ["ภาษาไทย", "差旅标准", "東京へ行く", "서울로 간다", "Москва и Тверь вместе"]
    out = printed([sample(gold, gold, gold) for gold in golds])
    assert "tokenizer  answers" in out
    assert line(out, "Thai, Lao, Burmese, Khmer or Tibetan") == ["100.00", "char", "1"]
    assert line(out, "Chinese") == ["100.00", "zh", "1"]
    assert line(out, "Japanese") == ["100.00", "char", "1"]
    assert line(out, "Korean") == ["100.00", "char", "1"]
    assert line(out, "spaced words") == ["(English", "…)", "100.00", "13a", "1"]
    assert "BLEU, Chinese: nrefs:1|" in out


def test_what_is_named_stays_on_its_line() -> None:
    samples = [sample("a\nb\x1b", "x", None), sample("c\r\nd", "y", "z")]
    out = printed(samples)
    assert "without gold_answer: a b␛\n" in out
    assert "c d  token F1 0.000" in out
    report = measure_overlap(samples).model_copy(update={"signature": "s\x1b"})
    assert "made by s␛\n" in shown(report)


def test_what_was_not_measured_is_a_dash() -> None:
    out = printed([sample("q", "a " * 2_001, "a " * 2_000)])
    assert line(out, "ROUGE-L F") == ["–", "–", "–", "0"]
    assert "over 50,000 tokens" in " ".join(out.split())


def test_low_answers_are_shown_beside_their_gold() -> None:
    out = printed([sample("q1", "", "保修两年。"), sample("q2", "报 销", "报销")])
    assert "q1  token F1 0.000, ROUGE-L 0.000" in out
    assert "  answer  (empty)" in out
    assert "  gold    保修两年。" in out
    assert "q2" not in out
    assert "lowest first" not in printed([sample("q", "a", "a")])


def test_many_left_out_are_told_short() -> None:
    out = printed([*(sample(f"n{i}", "a", None) for i in range(25)), sample("q", "a", "a")])
    assert "n19 and 5 more" in " ".join(out.split())


def test_prose_keeps_to_the_width() -> None:
    report = measure_overlap([sample("q", "报销", "差旅")])
    for width in (40, 80, 200):
        out = shown(report, width)
        prose = out[out.index("BLEU takes") : out.index("\nBLEU, ")]
        assert max(cell_len(text) for text in prose.splitlines()) <= width
