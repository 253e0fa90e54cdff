"""A block scored into its shard by what runs on a cluster's machines; no Ray is started."""

import pickle
from pathlib import Path

import pytest

pytest.importorskip("ray.data")

from judge.cluster.actors import CheckedFile, Plan, Scorer, check, read
from judge.config import Config
from tests.commands import line, write


async def test_what_a_lost_machine_scored_is_not_scored_again(place: Path) -> None:
    (place / "run" / "results").mkdir(parents=True)
    write(place / "rows.jsonl", [line(f"q{n}", "It opens at seven.") for n in range(3)])
    settings = Config().model_dump_json()
    plan = Plan(settings, str(place / "run"), skip=False, needs_qid=False)
    file = {"file": 0, "path": str(place / "rows.jsonl")}
    checked: CheckedFile = pickle.loads(check(file, plan)["checked"])  # noqa: S301  our own
    (block,) = checked.blocks
    assert (block.samples, checked.qids) == (3, ["q0", "q1", "q2"])
    given = {name: [value] for name, value in file.items()}
    (row,) = read(given | {"names": [[block.name]], "starts": [[0]]}, plan)
    scorer = Scorer(plan)

    async def scored() -> str:
        done: str = pickle.loads((await scorer({k: v[0] for k, v in row.items()}))["done"])  # noqa: S301  our own
        return done

    assert await scored() == block.name
    (path,) = (place / "run" / "results").iterdir()
    written = path.stat().st_ino, path.read_bytes()
    assert await scored() == block.name
    assert (path.stat().st_ino, path.read_bytes()) == written
    # One that is damaged is made again.
    path.write_bytes(written[1][:-5])
    assert await scored() == block.name
    assert path.read_bytes() == written[1]
