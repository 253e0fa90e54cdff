"""A block scored into its shard by what runs on a cluster's machines; no Ray is started."""

from pathlib import Path

import pytest
from pydantic import JsonValue

pytest.importorskip("ray.data")

from judge.cluster.actors import Plan, Scorer, checked, read
from judge.config import Config
from tests.commands import line, write


def _rows(count: int) -> list[dict[str, JsonValue]]:
    return [line(f"q{each}", "It opens at seven. It closes at three.") for each in range(count)]


def _scorer(place: Path, **settings: str) -> tuple[Scorer, dict[str, object]]:
    """An actor, and a block for it."""
    write(place / "rows.jsonl", _rows(3))
    plan = Plan(
        Config.model_validate(settings).model_dump_json(),
        str(place / "run"),
        skip=False,
        needs_qid=False,
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
