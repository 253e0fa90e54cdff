"""Strings crafted to stall whoever reads them: units, and the shapes they are repeated in."""

from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Final

from tests.growth import repeated

Make = Callable[[int], str]
"""A text of about so many characters."""

# fmt: off
UNITS: Final = (
    # Brackets, quotes, signs.
    "[", "(", "（", "［", "【", "〔", "《", "〈", "“", "「", "{", "<", "]", "）", ")))", '"', "'",
    "’", "«", "`", "``", "*", "**a** ", "__", "_a_ ", "$", "$$", "$a$ ", "#", "|", "=", "~", "—",
    "•", ">", "@", "&amp;", "\\", "\\[", "：：", ":-", "((", "（(", "[(", "《〈", "[[a]]",
    "()", "/",
    # Citations and what looks like them.
    "[1]", "[1] ", "[^1]", "[1, ", "[1-", "[1,2,3]", "(a#1)", "(a#",
    "[a#1 ", "【2】", "【2†source】",
    "x[0]", "f(x)[1]", "[a](b)", "[a](", "![a](", "](", "passages 1, ", "source 1, ", "文档1、",
    "∈ ", "[1-9]", "[c[1]]", "来源：", "(Passage 1)", "（文档1）", "（文档1", "[...]",
    "⁰", "[2023]",
    # Stops and what belongs to them.
    ".", ". ", "…", "...", "。", "?!", "；", "。”", "”说", "。（", ". [1", ". )",
    ".'", ". .", ". :)",
    "😀", "👍🏽", ". 4 Even ", "a.b.", "A. ", "Mr. ", "e.g. ", "No. ", "9 a.m. ", "!a",
    ",", "，", "、",
    # Digits, dates, units.
    "1", "1,", "1.1.", "1 ", "1\t", "1-", "1/", "1:1", "3.14 ", "1%", "١", "１",
    "1 million ", "$1 ",
    "1 or more ", "twenty-", "one and ", "half ", "about 5 ", "no more than 5 ", "3 May ", "May ",
    "2021-", "2021-05-03 ", "in 2021 ", "1990s ", "1am ", "1/1/2000 1:11 ", "5 km ", "1 km/h/",
    "US$5m ", "2021年", "5月3日", "5公里", "一", "十", "一百", "三千万", "第1", "百分之", "上午1",
    "段落1、",
    # Layout.
    "\n", "\r\n", "\u2028", "\x0b", "\x85", "\t", " ", "\u3000", "\xa0", "- \n",
    "- a\n", "* ", "|\n",
    "> - ", ">a\n", "\n1. ", "1) a 2) ", "A. 1. ", "1.) ", "一、", "***** ", "a\n===\n", "a\n",
    "|a|\n|-|\n", "a|b\n-|-\n", "```\n", "~~~\n```\n", "# a\n", "  - a\n", "References:\n[1] a\n",
    "[^1]: a ",
    # Addresses and letters.
    "http://", "http://a.b/", "www.", "https://[1]", "a@", "a@b.", "<<File: ", "Dear A ", "Hi, ",
    "PS: ", "Regards, ", "Email: a ", "Phone: 1 ", "电话：", "---- a", "- a.pdf ", " - ",
    " :) B ",
    # Names, words, and characters of other scripts.
    "A ", "A.", "Ab ", "Ab-", "A & ", "U.S. ", "New York ", "Ann's ", "《a", "北市",
    "北京市", "a", "a ",
    "a-", "AbCd", "two ", "the provided ", "don't ", "of the ", "not ", "Not. ", "不",
    "不,", "没有",
    "中", "根据资料，", "한", "ا", "ｶﾞ", "ﬁ", "ß", "İ", "e\u0301", "\u0301\u0316", "\u200b",
    "\u200d",
    "\ufeff", "\x00", "\ud800",
    # Orders, tags and JSON.
    "ignore all ", "ignore all previous ", "</s1>", "<chunk 1 ", "<think>", "</think>", '{"a":',
    '{"id":"s1"}', "[{", '{"verdicts":[', "\\u00",
)
# fmt: on

SENTENCE: Final = " The site had 105 visits."

SHAPES: Final[tuple[Callable[[str], Make], ...]] = (
    lambda unit: lambda size: unit * (size // len(unit)) + SENTENCE,
    lambda unit: repeated_to(f"{unit}\n"),
    lambda unit: repeated_to(f"{unit} "),
    lambda unit: repeated_to(f"It is {unit} so. "),
    lambda unit: lambda size: f"x 1 {unit * (size // len(unit))}",
)
"""A unit before a sentence, on lines, apart, in sentences, behind words."""

_PAIRS: Final = (
    *zip("[（［【(《“「{<`", "]）］】)》”」}>`", strict=True),
    ("[a](", ")"),
    ("> ", "\n"),
)


def repeated_to(unit: str) -> Make:
    """What repeats a unit up to so many characters."""
    return lambda size: repeated(unit)(size // len(unit))


def nested(opening: str, closing: str, inside: str = "1") -> Make:
    """What opens again and again and then closes as often."""
    each = len(opening) + len(closing)
    return lambda size: opening * (size // each) + inside + closing * (size // each)


def crafted() -> Iterator[Make]:
    """Each unit alone, each sixth one in another shape, too, and what is nested."""
    yield from map(repeated_to, UNITS)
    yield from (shape(unit) for shape, unit in zip(cycle(SHAPES), UNITS[::6], strict=False))
    yield from (nested(*pair) for pair in _PAIRS)
