"""Runs of many machines, on a Ray of two processors that lasts for the module."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from pydantic import JsonValue

from judge.inputs.runs import read_summary
from tests.chat_call import ChatCall
from tests.commands import judge, line, results, start, until, write
from tests.replies import Answer, Until, right
from tests.server import JudgeServer

os.environ |= {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    # A process that has imported all that ours does is there for the next command.
    "RAY_idle_worker_killing_time_threshold_ms": "600000",
    "RAY_num_workers_soft_limit": "8",
}

pytest.importorskip("ray.data")
import ray
import ray.data

pytestmark = [
    pytest.mark.alone,  # one cluster, started once
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
]

_RAY: Final = ("--engine", "ray", "--replicas", 2)
_ONE: Final = ("--engine", "ray", "--replicas", 1)


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
    rows = _rows(0, 60)
    bad: list[dict[str, JsonValue]] = [{"qid": "bad", "answer": 3, "chunks": []}]
    for file in range(2):
        mine = rows[30 * file : 30 * file + 30] + (bad if file else [])
        write(place / "many" / f"{file}.jsonl", mine)
    write(place / "all.jsonl", rows + bad)
    assert judge("score", "all.jsonl", "-o", "here", "--skip-bad-lines").code == 0
    words = ("score", "many", "-o", "there", "--skip-bad-lines")
    ran = judge(*words, *_RAY)
    assert ran.code == 0, ran.err
    assert read_summary(place / "there") == read_summary(place / "here")
    assert [each.qid for each in results(place / "there")] == [f"q{each}" for each in range(60)]
    (left,) = (place / "there" / "rejected.jsonl").read_text().splitlines()
    assert json.loads(left)["line"] == 31
    assert "many/1.jsonl, line 31, field 'answer'" in json.loads(left)["error"]
    # Other commands read it as any other, the samples included.
    assert judge("show", "there", "q7").out == judge("show", "here", "q7").out
    assert judge("compare", "here", "there").code == 0
    for run in ("here", "there"):
        assert judge("review", "draw", run, "-n", 20, "-o", f"{run}.csv").code == 0
    assert (place / "there.csv").read_text() == (place / "here.csv").read_text()
    # A run that lost a shard makes that one again.
    record = json.loads((place / "there" / "run.json").read_text())
    (place / "there" / "run.json").write_text(json.dumps(record | {"finished": None}))
    sorted((place / "there" / "results").iterdir())[1].unlink()
    again = judge(*words, *_ONE)
    assert "30 of 60 answers are there" in again.err
    assert read_summary(place / "there") == read_summary(place / "here")


def test_bad_lines_and_doubled_qids_are_told_before_anything_is_scored(place: Path) -> None:
    (place / "many").mkdir()
    write(place / "many" / "a.jsonl", _rows(0, 20))
    more: list[dict[str, JsonValue]] = [*_rows(19, 30), {"answer": "", "chunks": []}]
    write(place / "many" / "b.jsonl", more)
    ran = judge("score", "many", "-o", "run", *_ONE)
    assert (ran.code, ran.out) == (2, "")
    assert "many/b.jsonl, line 12, field 'qid'" in ran.err
    write(place / "many" / "c.jsonl", _rows(18, 19))
    ran = judge("score", "many", "-o", "run", "--skip-bad-lines", *_ONE)
    assert ran.code == 2
    assert not (place / "run").exists()
    # What would be read again the next time, or replaced.
    for source, run in (("many", "many/run"), ("many/a.jsonl", "many")):
        inside = judge("score", source, "-o", run, *_ONE)
        assert (inside.code, inside.out) == (2, "")


def test_whoever_dies_nothing_is_lost_or_paid_for_twice_and_all_keep_one_pace(place: Path) -> None:
    rows = _rows(0, 60)
    for number, row in enumerate(rows):
        row["answer"] = f"It opens at seven in hall {number}."
    write(place / "rows.jsonl", rows)
    (place / "many").mkdir()
    for half in range(2):
        write(place / "many" / f"{half}.jsonl", rows[30 * half : 30 * half + 30])
    (place / "pandas.py").write_text("raise ImportError('planted')")  # workers do not import it
    until_then = Until(4)
    killed: list[int] = []
    came: list[float] = []

    def script(request: ChatCall) -> Answer:
        came.append(time.monotonic())
        if request.number == 45:
            killed.extend(_workers())
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
        return until_then(request)

    with JudgeServer(script) as server:
        words = ("score", "many", "-o", "run", *server.words, "--concurrency", 4)
        driver = (*words, *_ONE, "--address", ray.get_runtime_context().gcs_address)
        for done, number in ((10, signal.SIGINT), (20, signal.SIGKILL)):
            until_then.upto(done)
            with start(*driver, environment=dict(os.environ) | {"PYTHONSAFEPATH": "1"}) as process:
                until(process, until_then.full.is_set)
                second = judge(*words, *_ONE)
                process.send_signal(number)
                lines = process.communicate()[1].splitlines()
            assert second.code == 2
            assert lines[-1].startswith("judge: ")
            assert process.returncode == (130 if number == signal.SIGINT else -signal.SIGKILL)
        until_then.upto(1000)
        came.clear()
        ran = judge(*words, *_RAY, "--rpm", 1200)
        assert ran.code == 0, ran.err
        assert killed
        # 20 a second in all, however many replicas ask.
        assert came[-1] - came[0] >= (len(came) - 1) / 20 - 0.1
        calls = server.calls
        assert calls <= 60 + 2 * 4 + 2 * 4  # those that were out
        assert judge("score", "rows.jsonl", "-o", "here", *words[4:]).code == 0
        assert server.calls == calls  # the cache has all
    there, here = read_summary(place / "run"), read_summary(place / "here")
    assert there.faithfulness == here.faithfulness
    assert (there.answers, there.judged) == (60, 60)


def test_a_block_that_workers_die_of_is_named(place: Path) -> None:
    write(place / "rows.jsonl", _rows(0, 9))
    deaths: list[int] = []

    def script(request: ChatCall) -> Answer:
        if not request.is_probe and len(deaths) < 20:
            for pid in _workers():
                os.kill(pid, signal.SIGKILL)
                deaths.append(pid)
        return right(request)

    with JudgeServer(script) as server:
        words = ("score", "rows.jsonl", "-o", "run", *server.words, "--concurrency", 1)
        ran = judge(*words, *_ONE)
        # What Ray says of the deaths is no result.
        assert (ran.code, ran.out, len(deaths)) == (2, "", 4), ran
        assert f"{place / 'rows.jsonl'}, answers 1 to 9: 4 workers died" in ran.err
        deaths += range(20)  # and the same command goes on
        assert judge(*words, *_ONE).code == 0
    assert len(results(place / "run")) == 9


def _workers() -> list[int]:
    """Those that score, of this process's own Ray."""
    named = ((path.parent.name, path.read_bytes()) for path in Path("/proc").glob("[0-9]*/cmdline"))
    pids = [int(pid) for pid, name in named if name.startswith(b"ray::MapWorker(Map(Scorer)")]
    return [pid for pid in pids if _parent(_parent(pid)) == os.getpid()]


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
