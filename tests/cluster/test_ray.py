"""Runs of many machines, on a Ray of two processors that lasts for the module."""

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Final

import pytest
from pydantic import JsonValue

from judge.config import Config
from judge.evaluator import Evaluator, evaluate
from judge.files.fields import sample_from
from judge.files.runs import read_summary
from judge.files.samples import Samples, read_samples
from judge.files.samples import each as each_of
from judge.records import SampleResult
from tests.asked import Asked
from tests.commands import judge, line, results, write
from tests.replies import Answer, right
from tests.server import JudgeServer

os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal"}

pytest.importorskip("ray.data")
import ray
import ray.data

from judge.cluster import evaluate_dataset
from judge.cluster.blocks import Block
from judge.cluster.shards import Door, Shard

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


def test_bad_lines_are_set_aside_and_doubled_qids_refused(place: Path) -> None:
    (place / "many").mkdir()
    write(place / "many" / "a.jsonl", _rows(0, 20))
    more: list[dict[str, JsonValue]] = [*_rows(20, 30), {"qid": "bad", "answer": 3, "chunks": []}]
    more.append({"answer": "", "chunks": []})
    write(place / "many" / "b.jsonl", more)
    ran = judge("score", "many", "-o", "run", *_RAY)
    assert (ran.code, ran.out) == (2, "")
    assert (
        f"{place}/many/b.jsonl, line 11, field 'answer': is a number, 3; text is needed" in ran.err
    )
    assert not (place / "run").exists()
    assert judge("score", "many", "-o", "run", "--skip-bad-lines", *_RAY).code == 0
    assert (read_summary(place / "run").answers, len(results(place / "run"))) == (30, 30)
    (path,) = (place / "run" / "rejected").iterdir()
    bad = [json.loads(each) for each in path.read_text().splitlines()]
    assert [each["line"] for each in bad] == [11, 12]
    assert "'qid': is missing" in bad[1]["error"]
    write(place / "many" / "c.jsonl", _rows(19, 21))
    ran = judge("score", "many", "-o", "twice", "--skip-bad-lines", *_RAY)
    assert ran.code == 2
    assert "'q19', 'q20' stand more than once; make each qid unique" in ran.err


def test_a_killed_worker_is_replaced_and_all_keep_one_pace(
    place: Path,
) -> None:
    killed: list[int] = []
    came: list[float] = []

    def script(request: Asked) -> Answer:
        came.append(time.monotonic())
        if request.number == 30:
            killed.extend(_workers())
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
        return right(request)

    rows = _rows(0, 60)
    for number, row in enumerate(rows):
        row["answer"] = f"It opens at seven in hall {number}."
    write(place / "rows.jsonl", rows)
    (place / "many").mkdir()
    for half in range(2):
        write(place / "many" / f"{half}.jsonl", rows[30 * half : 30 * half + 30])
    with JudgeServer(script) as server:
        words = (*server.words, "--concurrency", 4)
        ran = judge("score", "many", "-o", "there", *words, *_RAY, "--rpm", 1200)
        assert ran.code == 0, ran.err
        assert killed
        known = len(server.requests)
        assert judge("score", "rows.jsonl", "-o", "here", *words).code == 0
        assert len(server.requests) == known  # the cache has all
    there, here = read_summary(place / "there"), read_summary(place / "here")
    assert there.faithfulness == here.faithfulness
    assert (there.answers, there.judged) == (60, 60)
    assert len(came) - server.probes <= 60 + 8  # those that were out when they were killed
    # 20 a second in all, however many replicas ask.
    assert came[-1] - came[0] >= (len(came) - server.probes - 1) / 20 - 0.1


def _workers() -> list[int]:
    named = ((path.parent.name, path.read_bytes()) for path in Path("/proc").glob("[0-9]*/cmdline"))
    return [int(pid) for pid, name in named if name.startswith(b"ray::MapWorker(Map(Scorer)")]


class _Died(BaseException):
    """A worker."""


class _Fragile(Evaluator):
    """Dies as soon as q5 is under way, which it is beside three others."""

    async def evaluate(self, samples: Samples) -> AsyncGenerator[SampleResult]:
        given = [each async for each in each_of(samples)]
        for number, sample in enumerate(given):
            if "q5" in [each.qid for each in given[number : number + 4]]:
                raise _Died
            yield await self.evaluate_one(sample)


def test_a_row_that_workers_die_of_is_set_aside_by_name(tmp_path: Path) -> None:
    for name in ("results", "rejected", "samples"):
        (tmp_path / name).mkdir()
    write(tmp_path / "rows.jsonl", _rows(0, 9))
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


def test_a_dataset_is_scored_in_a_pipeline(place: Path) -> None:  # noqa: ARG001
    rows = _rows(0, 6)
    scored = evaluate_dataset(ray.data.from_items(rows), Config()).take_all()
    expected = evaluate([sample_from(each, line=1, needs=()) for each in rows])
    assert [each["qid"] for each in scored] == [each.qid for each in expected]
    assert [each["faithfulness"] for each in scored] == [e.scores.faithfulness for e in expected]
    assert [SampleResult.model_validate_json(each["result"]) for each in scored] == expected
