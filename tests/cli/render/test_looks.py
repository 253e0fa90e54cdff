import io

from rich.console import Console

from judge.cli.render.looks import legend, threshold
from judge.cli.terminal import Page


def encoded(encoding: str) -> Page:
    return Page(Console(file=io.TextIOWrapper(io.BytesIO(), encoding=encoding), no_color=True))


def test_the_legend_explains_each_mark_once() -> None:
    words = ("full", "partial", "none", "contradicted", "unscored", "not a claim")
    marks = {"utf-8": "✓◐✗≠?·", "UTF-16": "✓◐✗≠?·", "ascii": "+~x!?."}
    for encoding, signs in marks.items():
        expected = "  ".join(f"{sign} {word}" for sign, word in zip(signs, words, strict=True))
        assert legend(encoded(encoding)).plain == expected


def test_the_threshold_stands_in_a_similarity_signature() -> None:
    rows = {
        "similarity:lexical-v1|prior:0.9|t:0.8712|split:1": "0.871",
        "similarity:x|t:.5": "0.500",
        "llm:gpt@host|t:0|seed:7": None,
        "llm:gpt@host|t:default": None,
        "": None,
    }
    assert {made: threshold(made) for made in rows} == rows
