import io

from rich.console import Console

from judge.cli.render.looks import legend, look_of, mark, quoted, threshold
from judge.cli.terminal import Page
from judge.records import (
    Excluded,
    Outcome,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)


def encoded(encoding: str) -> Page:
    return Page(Console(file=io.TextIOWrapper(io.BytesIO(), encoding=encoding), no_color=True))


def verdict(support: Support) -> Verdict:
    return Verdict(support=support, source="llm", signature="s")


OUTCOMES: dict[Outcome, tuple[str, str, str, str]] = {
    verdict(Support.FULL): ("✓", "+", "green", "full"),
    verdict(Support.PARTIAL): ("◐", "~", "yellow", "partial"),
    verdict(Support.NONE): ("✗", "x", "red", "none"),
    verdict(Support.CONTRADICTED): ("≠", "!", "bold magenta", "contradicted"),
    verdict(Support.NO_CLAIM): ("·", ".", "dim", "no claim"),
    Unscored(reason=UnscoredReason.TIMEOUT): ("?", "?", "cyan", "unscored"),
    Excluded(): ("·", ".", "dim", "not a claim"),
}


def test_every_outcome_has_its_look() -> None:
    for outcome, expected in OUTCOMES.items():
        look = look_of(outcome)
        assert (look.mark, look.plain, look.style, look.word) == expected
        assert mark(look, encoded("utf-8")) == mark(look, encoded("UTF-16")) == look.mark
        assert mark(look, encoded("gbk")) == mark(look, encoded("ascii")) == look.plain


def test_the_legend_explains_each_mark_once() -> None:
    words = ("full", "partial", "none", "contradicted", "unscored", "not a claim")
    marks = {"utf-8": "✓◐✗≠?·", "ascii": "+~x!?."}
    for encoding, signs in marks.items():
        expected = "  ".join(f"{sign} {word}" for sign, word in zip(signs, words, strict=True))
        assert legend(encoded(encoding)).plain == expected


def test_quotation_marks_are_those_the_terminal_has() -> None:
    assert quoted("六百元", encoded("utf-8")) == "«六百元»"
    assert quoted("六百元", encoded("gbk")) == '"六百元"'


def test_the_threshold_stands_in_a_similarity_signature() -> None:
    rows = {
        "similarity:lexical-v1|prior:0.9|t:0.8712|split:1": "0.871",
        "similarity:x|t:.5": "0.500",
        "llm:gpt@host|t:0|seed:7": None,
        "llm:gpt@host|t:default": None,
        "": None,
    }
    assert {made: threshold(made) for made in rows} == rows
