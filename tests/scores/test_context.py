"""Context precision and its bounds, by hand and by trying every case."""

from itertools import product

import pytest

from judge import Chunk, Sample, Verdict
from judge.backends.fake import FakeJudge
from judge.correctness import judge_reference
from judge.pipeline import evaluate_sample
from judge.records import ContextScores, ContextStatus, Rules, Support, Unscored, UnscoredReason
from judge.scores.correctness import context_precision, precision_bounds

CHUNKS = tuple(Chunk(chunk_id=each, text=f"Chunk {each}.") for each in "abcd")


def test_the_bounds_are_those_of_every_set_of_relevant_chunks() -> None:
    assert precision_bounds([]) == (0.0, 0.0)
    for ranks in product([False, True], repeat=6):
        cases = [
            context_precision(other)
            for other in product([False, True], repeat=6)
            if all(more or not known for known, more in zip(ranks, other, strict=True))
        ]
        assert precision_bounds(ranks) == pytest.approx((min(cases), max(cases)))


def verdict(support: Support, *supporting: str) -> Verdict:
    return Verdict(support=support, supporting=supporting, source="llm", signature="s")


async def scores(gold: str, *outcomes: Verdict | Unscored, **fields: object) -> ContextScores:
    """The context scores of an answer whose reference gets these outcomes."""
    given = {"qid": "1", "query": "q?", "answer": "It is.", "chunks": CHUNKS, "gold_answer": gold}
    sample = Sample.model_validate(given | fields)
    result = await evaluate_sample(sample, FakeJudge({}), Rules())
    claims = [f"{each.strip()}." for each in gold.split(".") if each.strip()]
    judge = FakeJudge(dict(zip(claims, outcomes, strict=False)))
    found = (await judge_reference(sample, result, judge, Rules())).context
    assert found is not None
    return found


GOLD = "It opens at seven. It closes at nine. Guests pay."
FULL, PARTIAL, NONE = (
    verdict(Support.FULL, "b"),
    verdict(Support.PARTIAL, "d"),
    verdict(Support.NONE),
)
FAILED = Unscored(reason=UnscoredReason.TIMEOUT)


async def test_a_reference_is_weighed_by_the_chunks() -> None:
    found = await scores(GOLD, FULL, PARTIAL, NONE)
    assert (found.status, found.recall) == (ContextStatus.SCORED, (1 + 0.5 + 0) / 3)
    assert found.precision == pytest.approx((1 / 2 + 2 / 4) / 2)
    assert found.recall_bounds == (found.recall, found.recall)
    assert found.precision_bounds == (found.precision, found.precision)
    # A chunk that contradicts is not relevant, and a sentence without a claim does not count.
    other = await scores(
        GOLD, FULL, verdict(Support.CONTRADICTED, "a"), verdict(Support.NO_CLAIM, "a")
    )
    assert (other.recall, other.precision) == (0.5, 0.5)


async def test_a_failure_counts_in_the_bounds_alone() -> None:
    found = await scores(GOLD, FULL, PARTIAL, FAILED)
    assert (found.recall, found.precision) == (0.75, 0.5)
    assert found.recall_bounds == pytest.approx((1.5 / 3, 2.5 / 3))
    # If the third chunk supported it, precision would rise to (1/2 + 2/3 + 3/4) / 3.
    assert found.precision_bounds == (0.5, 1.0)
    fallen = FULL.model_copy(update={"source": "similarity", "fallback_from": FAILED})
    found = await scores("It opens.", fallen)
    assert (found.status, found.recall, found.precision) == (ContextStatus.UNSCORED, None, None)
    assert (found.recall_bounds, found.precision_bounds) == ((0.0, 1.0), (0.0, 1.0))


async def test_without_claims_or_a_reference_nothing_is_measured() -> None:
    for gold, status in (
        ("", ContextStatus.NO_REFERENCE),
        (" \n", ContextStatus.NO_REFERENCE),
        ("The provided documents do not say.", ContextStatus.NO_CLAIMS),
        ("Which canteen?", ContextStatus.NO_CLAIMS),
    ):
        found = await scores(gold)
        assert found.status is status, gold
        assert (found.recall, found.precision) == (None, None)
        assert (found.recall_bounds, found.precision_bounds) == (None, None)
    found = await scores("It opens.", NONE, chunks=())
    assert (found.recall, found.precision, found.precision_bounds) == (0.0, 0.0, (0.0, 0.0))


async def test_chunks_rank_as_they_were_retrieved() -> None:
    reverse = {"retrieved": ("d", "c", "x", "b", "a")}
    assert (await scores("It opens.", FULL)).precision == 1 / 2
    assert (await scores("It opens.", FULL, **reverse)).precision == 1 / 3
    # A ranking that lacks a chunk does not say where that one stood.
    assert (await scores("It opens.", FULL, retrieved=("d", "b"))).precision == 1 / 2
    # Two chunks of one id are both named.
    twice = (*CHUNKS[:2], Chunk(chunk_id="b", text="More."))
    assert (await scores("It opens.", FULL, chunks=twice)).precision == (1 / 2 + 2 / 3) / 2
