import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from judge.backends.local.scorer import Encoded, TransformersScorer
from judge.protocols import PairScorer
from judge.records import Relation, Unscored, UnscoredReason


@pytest.fixture
def worker() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1, "here") as worker:
        yield worker


class Letters:
    """One token a letter; entailed is the share of `y` among those of the premise."""

    limit = 100

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error
        self.batches: list[list[int]] = []
        self.threads: set[str] = set()

    def encode(self, pairs: Sequence[tuple[str, str]]) -> list[Encoded]:
        if ("", "") in pairs:
            raise ValueError("nothing to encode")
        self.threads.add(threading.current_thread().name)
        return [
            {"input_ids": [ord(letter) for letter in premise + hypothesis], "ends": [len(premise)]}
            for premise, hypothesis in pairs
        ]

    def relate(self, rows: Sequence[Encoded]) -> list[Relation]:
        self.threads.add(threading.current_thread().name)
        if self._error:
            raise self._error
        self.batches.append([len(row["input_ids"]) for row in rows])
        return [
            Relation(entailed=row["input_ids"].count(ord("y")) / max(row["ends"][0], 1))
            for row in rows
        ]


async def test_relations_come_back_in_order_and_what_is_too_long_is_none(
    worker: ThreadPoolExecutor,
) -> None:
    network = Letters()
    scorer: PairScorer = TransformersScorer("tiny@0", network, worker)
    assert scorer.signature == "tiny@0"
    sizes = [n * 37 % 103 for n in range(600)]
    pairs = [("y" * (size // 2) + "n" * (size - size // 2), "ab") for size in sizes]
    found = await scorer.score(pairs)
    assert not isinstance(found, Unscored)
    for relation, size in zip(found, sizes, strict=True):
        assert (relation is None) == (size + 2 > 100)
        if relation is not None:
            assert relation.entailed == (size // 2) / max(size, 1)
    # Those of like length share a batch, so that little of it is padding.
    assert max(map(len, network.batches)) == 32
    assert all(batch == sorted(batch) for batch in network.batches)
    assert network.threads == {"here_0"}


async def test_nothing_asked_and_nothing_that_fits(worker: ThreadPoolExecutor) -> None:
    network = Letters()
    scorer = TransformersScorer("tiny@0", network, worker)
    assert await scorer.score([]) == []
    assert await scorer.score([("y" * 101, "")] * 2) == [None, None]
    assert network.batches == []


async def test_a_failure_in_mid_run_is_a_value(worker: ThreadPoolExecutor) -> None:
    scorer = TransformersScorer("tiny@0", Letters(RuntimeError("out of memory\nat all")), worker)
    assert await scorer.score([("y", "n")]) == Unscored(
        reason=UnscoredReason.SERVER_ERROR, detail="the model failed: out of memory"
    )
    scorer = TransformersScorer("tiny@0", Letters(), worker)
    assert await scorer.score([("y", "n"), ("", "")]) == Unscored(
        reason=UnscoredReason.SERVER_ERROR, detail="the model failed: nothing to encode"
    )
