"""Texts made to stall a check: its time grows with their length and no faster."""

from collections.abc import Callable

import pytest

from judge.checks.denials import denies
from judge.checks.mismatch import mismatches
from judge.checks.quotes import find_quote
from judge.records import Chunk, JudgeRequest, Sentence, Support, Verdict
from tests.growth import squared

FIGURES = (
    *("1,", "1.1.", "1 ", "1\t", "1-", "1/", "1:1", "1am ", "1 or more ", "1 million ", "$1 "),
    *("1 km/h/", "twenty-", "one and ", "half ", "3 May ", "May ", "2021-", "1990s ", "2021年"),
    *("一", "十", "第1", "百分之", "上午1", "段落1、", "source 1, ", "\n1. ", " ", "* "),
)
NAMES = ("A ", "A.", "Ab ", "Ab-", "A & ", "U.S. ", "《a", "北市")
WORDS = ("[", "（", "...", "a ", "a-", "not ", "Not. ", "不", "不,")


def quote_both_ends(text: str) -> object:
    return find_quote(f"{text[: len(text) // 2]}…{text[len(text) // 3 :]}", text)


def deny_itself(text: str) -> object:
    return denies(text[: len(text) // 2], [text])


def compare(text: str) -> object:
    request = JudgeRequest(
        query="",
        answer=text,
        sentences=(Sentence(index=0, start=0, end=len(text), text=text),),
        ask=(0,),
        chunks=(Chunk(chunk_id="a", text=text[::-1]),),
        cites={},
        markers=(),
    )
    full = Verdict(support=Support.FULL, supporting=("a",), source="llm", signature="s")
    return mismatches(request, {0: full})


def repeated(unit: str) -> Callable[[int], str]:
    return lambda size: "x 1 " + unit * (size // len(unit))


@pytest.mark.parametrize(
    ("check", "units"),
    [(compare, FIGURES + NAMES), (quote_both_ends, WORDS), (deny_itself, WORDS)],
)
def test_time_grows_with_the_length_and_no_faster(
    check: Callable[[str], object], units: tuple[str, ...]
) -> None:
    assert [text[:20] for text in squared(check, map(repeated, units), 3_000)] == []


def test_a_label_behind_many_markers_is_read_in_linear_time() -> None:
    assert squared(compare, [lambda size: "[1]" * size + " The site had 105 visits."], 4_000) == []
