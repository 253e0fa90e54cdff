"""The time that an answer takes grows with its length and no faster, whatever it is made of."""

import random
from collections.abc import Iterator

from judge.answer.citations import find
from judge.answer.kinds import classify
from judge.answer.sentences import split
from judge.records import Chunk, Rules, Sample
from tests.growth import slow

SIZE = 16_000
RULES = Rules(prose_citations=True)
CHUNKS = tuple(Chunk(chunk_id=chunk_id, text="") for chunk_id in ("a#1", "b", "3", "c[1]"))
PLAIN = "The limit of the stay is low, and nobody paid it in spring [1]. "

# fmt: off
UNITS = (
    # Brackets, quotes, signs.
    "[", "]", "(", ")", "（", "）", "［", "］", "【", "】", "〔", "《", "》", "“", "”", "「", "」",
    '"', "'", "`", "``", "```", "~~~", "*", "**", "_", "__", "$", "$$", "$x", "#", "|", "-", "=",
    "—", "•", ">", "<", "<<", "@", "\\[", "\\(", "{", "：：", ":", ":-", "~", "^", "%", "/",
    "((", "（(", "[(", "([", "《〈", "[[a]]", "（（", "[]", "()", "（）", "[ ", "(a", "[a ", "“「",
    # Citations and what looks like them.
    "[1]", "[1] ", "[^1]", "[1, ", "[1-", "(a#", "[a#1 ", "【2†s】", "x[0]", "f(x)[1]", "[a](b)",
    "[a](", "![a](", "](", "[a](.", "passages 1, ", "passage 1 ", "文档1、", "文档", "∈ ", "第[3]",
    "[1-9]", "[c[1]]", "来源：", "id ", "and ", "(Passage 1)", "（文档1", "¹", "[...]", "[… ]",
    # Stops and what belongs to them.
    ".", ". ", ".. ", "...", "…", "。", "？", "?!", "；", "。”", "”说", "。（", "。[1", ". [1",
    ".)", ". )", ".'", ". ''", ". .", ".\xa0", ".*", ". :)", ". 4 A ", ". 4 Even ", "😀", "❤️",
    "a.b.", "A.B.", "A. ", "Mr. ", "e.g. ", "No. ", "p. ", "9 a.m. ", "3.14 ", "v1.2.", "!a", "؟ ",
    # Layout.
    "\n", "\r\n", "\n\n", "\u2028", "\t", " ", "\u3000", "\u00a0", "- \n", "|\n", "1.\n", "a\n",
    "> ", "> - ", "1. ", "1) a 2) ", "a) ", "• ", "A. 1. ", "1.) ", "①", "一、", "(一)", "***** ",
    "\na\n-", "a\n===\n", "# a\n", "|a|\n|-|\n", "a | b\n-|-\n", "```\n", "``` `\n", "~~~\n```\n",
    "References:\n[1] a\n", "[1]: http://a\n", "[^1]: a ", "[ ] ", "- [x] ", "|:-", "`a` ", "$a$ ",
    # Addresses and letters.
    "http://", "http://a ", "www.", "https://a[1]", "https://[1]", "a@", "a@b.", "a@b ", "<<File: ",
    "Dear ", "Dear A ", "Hi, ", "Thanks, ", "PS ", "PS: ", "Email: ", "Email: a ", "Phone: 1 ",
    "电话：", "1/1/2000 1:11 ", "---- ", "---- a", "==== a ====", "- a.pdf ", " - ", "A ", " :) B ",
    # Words, numerals, and characters of other scripts.
    "a", "a ", "中", "一", "一百", "a-", "two ", "the provided ", "i cannot ", "没有", "资料",
    "根据资料，", "如果您", "请随时", "，", ", ", "é", "e\u0301", "\u0301", "\x00", "\ud800", "한",
)
# fmt: on


def read(answer: str) -> None:
    sample = Sample(qid="q", answer=answer, chunks=CHUNKS)
    find(sample, classify(split(answer)), RULES)


def long_texts() -> Iterator[str]:
    """Units again and again, alone, beside another and before another."""
    for unit in UNITS:
        yield unit * (SIZE // len(unit))
    chosen = random.Random(7)  # noqa: S311  the same in every run
    for _ in range(40):
        both = "".join(chosen.sample(UNITS, chosen.choice((2, 3))))
        yield both * (SIZE // len(both))
    for first, then in (
        *zip("[（［【(《“「", "]）］】)》”」", strict=True),
        ("`", "``"),
        ("[a](", ")"),
    ):
        yield first * (SIZE // 2 // len(first)) + then * (SIZE // 2 // len(then))


def test_no_answer_takes_the_square_of_its_length() -> None:
    # What is cut into thousands of sentences takes 10 times as long as plain text, a square 50.
    assert slow(read, long_texts(), (PLAIN * SIZE)[:SIZE], times=15) == []
