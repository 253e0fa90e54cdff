"""The whole path takes time in proportion to the length of what it reads, whatever stands there."""

import asyncio

import pytest

from judge.backends.fake import FakeJudge
from judge.judges.containment import ContainmentJudge
from judge.judges.similarity import LexicalEmbedder, SimilarityJudge
from judge.pipeline import evaluate_sample
from judge.records import Chunk, Rules, Sample
from tests.crafted import crafted
from tests.growth import squared

pytestmark = pytest.mark.alone  # coverage would double what it takes

SIZE = 500
JUDGES = (ContainmentJudge(SimilarityJudge(LexicalEmbedder())), FakeJudge({}))
RULES = Rules(prose_citations=True)


def evaluate(text: str) -> None:
    """One answer by each judge, beside a chunk that is the same backwards."""
    chunk = Chunk(chunk_id="a#1", text=text[::-1])
    sample = Sample(qid="q", query=text[:100], answer=text, chunks=(chunk,))
    for judge in JUDGES:
        asyncio.run(evaluate_sample(sample, judge, RULES))


def test_no_crafted_string_takes_the_square_of_its_length() -> None:
    assert squared(evaluate, list(crafted())[::4], SIZE) == []
