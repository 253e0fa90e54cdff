"""A block scored into its shard by what runs on a cluster's machines; no Ray is started."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from pydantic import JsonValue

pytest.importorskip("ray.data")

from judge.cluster.actors import Plan, Scorer, checked, read
from judge.cluster.blocks import Block
from judge.cluster.shards import Door, Shard
from judge.config import Config
from judge.evaluator import Evaluator
from judge.inputs.samples import each as each_of
from judge.inputs.samples import read_samples
from judge.records import SampleResult
from tests.commands import line, write


def _rows(count: int) -> list[dict[str, JsonValue]]:
    return [line(f"q{each}", "It opens at seven. It closes at three.") for each in range(count)]


class _Died(BaseException):
    """A worker."""


class _Fragile(Evaluator):
    """Dies as soon as q5 is under way, which it is beside three others."""

    async def evaluate(self, samples: object) -> AsyncGenerator[SampleResult]:
        given = [each async for each in each_of(samples)]
        for number, sample in enumerate(given):
            if "q5" in [each.qid for each in given[number : number + 4]]:
                raise _Died
            yield await self.evaluate_one(sample)


def test_a_row_that_workers_die_of_is_set_aside_by_name(tmp_path: Path) -> None:
    for name in ("results", "rejected", "samples"):
        (tmp_path / name).mkdir()
    write(tmp_path / "rows.jsonl", _rows(9))
    block = Block(0, 0, list(read_samples(tmp_path / "rows.jsonl")))

    def score(session: str) -> Shard | None:
        shard = Shard(tmp_path, block.name, session)
        try:
            found = asyncio.run(shard.score(block, _Fragile(), Door()))
        except _Died:
            return None
        shard.finish(block, found, copied=True)
        return shard

    # What a driver before this one saw says nothing of a row: it may have been stopped.
    assert [score(session) for session in "aabbcc"] == [None] * 6
    deaths = 0
    while (shard := score("d")) is None:
        deaths += 1
    assert deaths == 4  # two beside others, two alone
    assert [each.qid for each in shard.whole()] == [f"q{each}" for each in (0, 1, 2, 3, 4, 6, 7, 8)]
    assert shard.crashed() == ["q5"]
    (path,) = (tmp_path / "rejected").iterdir()
    error = {"qid": "q5", "error": "crashed: 2 workers died of it alone"}
    assert json.loads(path.read_text()) == error
    assert len(list((tmp_path / "results").iterdir())) == 1  # nothing else is left there


def _scorer(place: Path, **settings: str) -> tuple[Scorer, dict[str, object]]:
    """An actor, and a block for it."""
    write(place / "rows.jsonl", _rows(3))
    plan = Plan(
        Config.model_validate(settings).model_dump_json(),
        str(place / "run"),
        skip=False,
        named=False,
        copied=False,
        session="session",
    )
    given = {"file": [0], "path": [str(place / "rows.jsonl")]}
    (*_, found) = (each["name"][0] for each in checked(given, plan) if each["name"][0])
    (row,) = read(given | {"names": [[found]], "starts": [[0]]}, plan)
    return Scorer(plan), _only(row)


def _only(batch: dict[str, list[object]]) -> dict[str, object]:
    return {name: value[0] for name, value in batch.items()}


async def test_what_a_lost_machine_scored_is_not_scored_again(place: Path) -> None:
    (place / "run" / "results").mkdir(parents=True)
    scorer, row = _scorer(place)
    first = await scorer(row)
    (path,) = (place / "run" / "results").iterdir()
    written = path.stat().st_ino, path.read_bytes()
    assert await scorer(row) == first
    assert (path.stat().st_ino, path.read_bytes()) == written
    # One that is damaged is made again.
    path.write_bytes(written[1][:-5])
    assert await scorer(row) == first
    assert path.read_bytes() == written[1]
