import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from judge.cli.overlapped import print_overlap
from judge.overlap import measure_overlap
from judge.records import Sample


def printed(samples: list[Sample], width: int = 80, rows: str | None = None) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False, color_system=None)
    print_overlap(measure_overlap(samples), console, rows)
    return out.getvalue()


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
    assert line(out, "other") == ["57.89", "13a", "1"]


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


@pytest.mark.parametrize("width", [40, 80, 200])
def test_prose_keeps_to_the_width(width: int) -> None:
    out = printed([sample("q", "报销" * 500, "差旅 " * 500)], width)
    prose = out[out.index("What overlap") : out.index("BLEU (")]
    assert max(cell_len(text) for text in prose.splitlines()) <= width


def test_where_the_rows_are() -> None:
    assert printed([sample("q", "a", "a")], rows="a\x1b.csv").endswith("written to a␛.csv\n")
