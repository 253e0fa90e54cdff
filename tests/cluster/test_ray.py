"""Runs of many machines, on a Ray of two processors that lasts for the module."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from pydantic import JsonValue

from judge.files.runs import read_summary
from tests.commands import judge, line, results, write

os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal"}

ray = pytest.importorskip("ray")
pytestmark = [
    pytest.mark.xdist_group("ray"),  # one Ray, one process
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
]

_RAY: Final = ("--engine", "ray", "--replicas", 2)


def _rows(begin: int, end: int) -> list[dict[str, JsonValue]]:
    said = ("It opens at seven.", "It opens at nine.", "The moon is made of cheese.")
    return [line(f"q{each}", f"{said[each % 3]} It closes at three.") for each in range(begin, end)]


@pytest.fixture(scope="module", autouse=True)
def _cluster() -> Iterator[None]:
    ray.init(
        "local",
        _node_ip_address="127.0.0.1",
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
    )
    yield
    ray.shutdown()


def test_a_folder_of_files_gives_the_totals_of_one_file(place: Path) -> None:
    (place / "many").mkdir()
    for file in range(2):
        write(place / "many" / f"{file}.jsonl", _rows(105 * file, 105 * file + 105))
    write(place / "all.jsonl", _rows(0, 210))
    assert judge("score", "all.jsonl", "-o", "here").code == 0
    ran = judge("score", "many", "-o", "there", *_RAY)
    assert ran.code == 0, ran.err
    assert read_summary(place / "there") == read_summary(place / "here")
    assert [each.qid for each in results(place / "there")] == [f"q{each}" for each in range(210)]
    # Other commands read it as any other, the samples included.
    assert judge("show", "there", "q7").out == judge("show", "here", "q7").out
    compared = judge("compare", "here", "there").out
    assert "All answers, labels and scores are the same." in compared
    for run in ("here", "there"):
        assert judge("review", "draw", run, "-n", 20, "-o", f"{run}.csv").code == 0
    assert (place / "there.csv").read_text() == (place / "here.csv").read_text()
    # A run that lost a shard makes that one again.
    record = json.loads((place / "there" / "run.json").read_text())
    (place / "there" / "run.json").write_text(json.dumps(record | {"finished": None}))
    sorted((place / "there" / "results").iterdir())[1].unlink()
    again = judge("score", "many", "-o", "there", *_RAY)
    assert "105 of 210 answers are there" in again.err
    assert read_summary(place / "there") == read_summary(place / "here")
