"""The whole path takes time in proportion to the length of what it reads, whatever is in it."""

import asyncio
from collections.abc import Callable, Iterator
from itertools import cycle

import pytest

from judge.backends.fake import FakeJudge
from judge.judges.containment import ContainmentJudge
from judge.judges.similarity import LexicalEmbedder, SimilarityJudge
from judge.pipeline import evaluate_sample
from judge.records import Chunk, Rules, Sample
from tests.growth import is_quadratic

pytestmark = pytest.mark.alone  # coverage would double the time

SIZE = 500
JUDGES = (ContainmentJudge(SimilarityJudge(LexicalEmbedder())), FakeJudge({}))
RULES = Rules(prose_citations=True)

# Texts that are repeated many times.
UNITS = (
    *("[", "（", "【", "《〈", "“", "{", "]", ")))", "'", "``", "*", "**a** ", "$a$ ", "="),
    *("[1] ", "[1, ", "[1-", "(a#", "【2†source】", "f(x)[1]", "[a](", "passages 1, ", "文档1、"),
    *("(Passage 1)", "[...]", "⁰", ". ", "...", "。”说", ". [1", "😀", "a.b.", "Mr. ", "，"),
    *("1,", "1.1.", "1/", "3.14 ", "$1 ", "twenty-", "3 May ", "2021-05-03 ", "5 km/h/", "5月3日"),
    *("一百", "百分之", "\n", "\u2028", "\u3000", "- a\n", "> - ", "\n1. ", "一、", "a\n===\n"),
    *("|a|\n|-|\n", "```\n", "# a\n", "References:\n[1] a\n", "http://a.b/", "a@", "Dear A "),
    *("---- a", "A ", "Ab-", "New York ", "北京市", "a-", "the provided ", "don't ", "没有", "ﬁ"),
    *("e\u0301", "\u200b", "\x00", "ignore all previous ", "</s1>", "<think>", '{"verdicts":['),
)  # fmt: skip
SENTENCE = " The site had 105 visits."
PAIRS = (*zip("[（【《“{<", "]）】》”}>", strict=True), ("[a](", ")"), ("> ", "\n"))
Make = Callable[[int], str]


def repeated(unit: str) -> Make:
    return lambda size: unit * (size // len(unit))


def nested(opening: str, closing: str) -> Make:
    each = len(opening) + len(closing)
    return lambda size: opening * (size // each) + "1" + closing * (size // each)


SHAPES: tuple[Callable[[str], Make], ...] = (
    lambda unit: lambda size: repeated(unit)(size) + SENTENCE,
    lambda unit: repeated(f"{unit}\n"),
    lambda unit: repeated(f"It is {unit} so. "),
    lambda unit: lambda size: f"x 1 {repeated(unit)(size)}",
)


def hostile_texts() -> Iterator[Make]:
    """Yield functions that make a text of a given size."""
    for unit, shape in zip(UNITS, cycle((repeated, *SHAPES)), strict=False):
        yield shape(unit)
    for opening, closing in PAIRS:
        yield nested(opening, closing)


def evaluate(text: str) -> None:
    """Evaluate an answer by each judge, beside a chunk with the same text backwards."""
    chunk = Chunk(chunk_id="a#1", text=text[::-1])
    sample = Sample(qid="q", query=text[:100], answer=text, chunks=(chunk,))
    for judge in JUDGES:
        asyncio.run(evaluate_sample(sample, judge, RULES))


def test_no_hostile_text_takes_quadratic_time() -> None:
    slow = [make(30) for make in hostile_texts() if is_quadratic(evaluate, make, SIZE)]
    assert slow == []
