"""The time that an answer takes grows with its length and no faster, whatever it is made of."""

import random
from collections.abc import Callable, Iterator

from judge.answer.citations import find
from judge.answer.kinds import classify
from judge.answer.sentences import split
from judge.records import Chunk, Rules, Sample
from tests.growth import squared

SIZE = 3_000
RULES = Rules(prose_citations=True)
CHUNKS = tuple(Chunk(chunk_id=chunk_id, text="") for chunk_id in ("a#1", "b", "3", "c[1]"))

# fmt: off
UNITS = (
    # Brackets, quotes, signs.
    "[", "(", "（", "［", "【", "〔", "《", "“", "「", "]", "）", '"', "'", "`", "``", "*", "__",
    "$", "#", "|", "=", "—", "•", ">", "<", "@", "\\[", "：：", ":-", "((", "（(", "[(", "《〈",
    "[[a]]", "()",
    # Citations and what looks like them.
    "[1]", "[^1]", "[1, ", "[1-", "(a#", "[a#1 ", "x[0]", "f(x)[1]", "[a](b)", "[a](", "![a](",
    "](", "passages 1, ", "文档1、", "∈ ", "[1-9]", "[c[1]]", "来源：", "(Passage 1)", "（文档1",
    "[...]",
    # Stops and what belongs to them.
    ".", ". ", "…", "。", "?!", "；", "。”", "”说", "。（", ". [1", ". )", ".'", ". .", ". :)",
    "😀", ". 4 Even ", "a.b.", "A. ", "Mr. ", "e.g. ", "No. ", "9 a.m. ", "3.14 ", "!a",
    # Layout.
    "\n", "\r\n", "\u2028", "\t", " ", "\u3000", "- \n", "|\n", "> - ", "1) a 2) ", "A. 1. ",
    "1.) ", "一、", "***** ", "a\n===\n", "|a|\n|-|\n", "```\n", "~~~\n```\n",
    "References:\n[1] a\n", "[^1]: a ",
    # Addresses and letters.
    "http://", "www.", "https://[1]", "a@", "a@b.", "<<File: ", "Dear A ", "Hi, ", "PS: ",
    "Email: a ", "Phone: 1 ", "电话：", "1/1/2000 1:11 ", "---- a", "- a.pdf ", " - ", " :) B ",
    # Words, numerals, and characters of other scripts.
    "a", "a ", "中", "一百", "a-", "two ", "the provided ", "没有", "根据资料，", "e\u0301",
    "\x00", "\ud800",
)
# fmt: on


def read(answer: str) -> None:
    sample = Sample(qid="q", answer=answer, chunks=CHUNKS)
    find(sample, classify(split(answer)), RULES)


def repeated(unit: str) -> Callable[[int], str]:
    return lambda size: unit * (size // len(unit))


def nested(first: str, then: str) -> Callable[[int], str]:
    return lambda size: repeated(first)(size // 2) + repeated(then)(size // 2)


def long_texts() -> Iterator[Callable[[int], str]]:
    """Units again and again, alone, beside another and before another."""
    chosen = random.Random(7)  # noqa: S311  the same in every run
    mixed = ("".join(chosen.sample(UNITS, chosen.choice((2, 3)))) for _ in range(30))
    for unit in (*UNITS, *mixed):
        yield repeated(unit)
    for first, then in (
        *zip("[（［【(《“「", "]）］】)》”」", strict=True),
        ("`", "``"),
        ("[a](", ")"),
    ):
        yield nested(first, then)


def test_no_answer_takes_the_square_of_its_length() -> None:
    assert [text[:20] for text in squared(read, long_texts(), SIZE)] == []
