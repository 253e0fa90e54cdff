"""Batches: their run folders, and how they survive the end of the service."""

import asyncio
import gzip
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from pydantic import JsonValue

from judge import RunError, read_run
from judge.config import Config
from judge.inputs.runs import read_results
from judge.service.batches import Batches, BatchRecord, read_batch
from judge.service.monitoring import Metrics
from judge.service.requests import Limits
from judge.service.wire import Options
from tests.commands import judge, line, results, start, write
from tests.replies import Slow, right
from tests.server import JudgeServer
from tests.service_process import QUICKSTART, Serving, process, until

OPENS = "The canteen opens at seven."
RUN = ("input", "results.jsonl", "run.json", "summary.json")


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(tmp_path_factory.mktemp("data")) as serving:
        yield serving


@pytest.fixture(scope="module")
def done(serving: Serving) -> dict[str, object]:
    """The quickstart, judged."""
    sent = serving.http.put(
        "/v1/batches/quick?name=Quick&fail_under=faithfulness=0.99", content=QUICKSTART.read_bytes()
    )
    assert sent.status_code == 201
    assert sent.headers["location"] == "/v1/batches/quick"
    assert sent.json()["state"] in {"queued", "checking"}
    return serving.until("quick")


def test_a_batch_is_the_run_folder_that_the_shell_makes(
    serving: Serving, done: dict[str, object], tmp_path: Path
) -> None:
    local = tmp_path / "local"
    assert judge("score", QUICKSTART, "-o", local, "--fail-under", "faithfulness=0.99").code == 1
    folder = serving.data / "quick"
    for name in ("results.jsonl", "summary.json"):
        assert (folder / name).read_bytes() == (local / name).read_bytes()
    assert (folder / "input").read_bytes() == QUICKSTART.read_bytes()
    ours, theirs = read_run(folder).record, read_run(local).record
    # One of two batches at a time has half of what may be in flight.
    assert ours.config["concurrency"] == 32
    assert ours.config | {"concurrency": 64} == theirs.config
    assert (ours.versions, ours.signature) == (theirs.versions, theirs.signature)
    expected = {"state": "finished", "name": "Quick", "done": 16, "total": 16, "exit_code": 1}
    expected |= {"signature": theirs.signature, "problem": None}
    assert {name: done[name] for name in expected} == expected
    assert done["summary"] == json.loads((local / "summary.json").read_text())
    assert judge("show", folder, "zh-warranty-number").code == 0
    # Clients see no path of the service's machine.
    assert str(serving.data) not in json.dumps(done)


@pytest.mark.usefixtures("done")
def test_results_are_the_lines_on_disk_from_any_of_them_on(serving: Serving) -> None:
    lines = (serving.data / "quick" / "results.jsonl").read_bytes().splitlines(keepends=True)
    for query, wanted in (("", lines), ("after=3&limit=2", lines[3:5]), ("after=99", [])):
        answer = serving.http.get(f"/v1/batches/quick/results?{query}")
        assert answer.headers["content-type"] == "application/x-ndjson"
        assert answer.content == b"".join(wanted), query


@pytest.mark.usefixtures("done")
def test_the_same_put_again_is_the_same_batch_and_another_a_conflict(serving: Serving) -> None:
    data, path = QUICKSTART.read_bytes(), "/v1/batches/quick?fail_under=faithfulness=0.99"
    assert serving.http.put(path, content=data).status_code == 200
    for where, content in ((path, data + b"\n"), ("/v1/batches/quick", data)):
        answer = serving.http.put(where, content=content)
        assert (answer.status_code, answer.json()["type"][-8:]) == (409, "conflict")
    assert [each.name for each in serving.data.iterdir() if each.name.startswith(".new")] == []
    assert len(serving.http.get("/v1/batches?limit=1").json()["batches"]) == 1


def test_a_bad_line_is_set_aside_where_that_was_asked(serving: Serving) -> None:
    good = json.dumps(line("q1", "The canteen opens at seven."))
    body = gzip.compress(f'{good}\n{{"qid": "q2", "answer": 5, "chunks": []}}\n'.encode())
    skipped = serving.http.post("/v1/batches?skip_bad_lines=true", content=body).json()["id"]
    assert serving.http.get(f"/v1/batches/{skipped}/rejected").content == b""
    found = serving.until(skipped)
    assert (found["state"], found["done"], found["rejected"]) == ("finished", 1, 1)
    (bad,) = serving.http.get(f"/v1/batches/{skipped}/rejected").text.splitlines()
    assert json.loads(bad)["line"] == 2


def test_a_batch_is_cancelled_and_purged_and_goes_on_when_put_again(
    server: JudgeServer, tmp_path: Path
) -> None:
    """A judge that takes a moment, so that a batch is caught while it runs."""
    with JudgeServer(lambda asked: Slow(0.3, right(asked))) as slow:
        config = slow.config(cache=True, concurrency=2)
        with Serving(tmp_path / "data", config, Limits(running=1)) as serving:
            rows = [line(f"q{n}", f"It opens at {n}.") for n in range(12)]
            data = write(tmp_path / "in.jsonl", rows).read_bytes()
            serving.http.put("/v1/batches/a", content=data)
            serving.http.put("/v1/batches/b", content=data)
            assert until(serving.http, "a", done=1)["total"] == 12
            first, *_ = serving.http.get("/v1/batches/a/results").text.splitlines()
            assert json.loads(first)["qid"] == "q0"
            assert serving.until("b", "queued")["state"] == "queued"
            for name in "ba":  # b waits; it would begin once a ends
                assert serving.http.delete(f"/v1/batches/{name}").json()["state"] == "cancelled"
            assert slow.calls < 12
            with pytest.raises(RunError):  # not finished
                read_run(serving.data / "b")
            for name in "ba":
                serving.http.put(f"/v1/batches/{name}", content=data)
            serving.until("b", "running")
            # A batch without its folder fails at its end, or at its beginning on a busy machine.
            shutil.rmtree(serving.data / "b")
            broken = serving.until("b")
            assert broken["state"] == "failed"
            assert broken["problem"]["type"].endswith(("bug", "conflict"))
            assert str(serving.data) not in json.dumps(broken)
            assert serving.http.delete("/v1/batches/b?purge=true").status_code == 204
            found = serving.until("a")
            assert (found["state"], found["done"]) == ("finished", 12)
            qids = [each.qid for each in results(serving.data / "a")]
            assert qids == [f"q{n}" for n in range(12)]
            # Only the requests in flight at the cancellation are sent again.
            assert slow.calls <= 12 + 2 + 2
            assert serving.http.delete("/v1/batches/a?purge=true").status_code == 204
            assert serving.http.get("/v1/batches/a").status_code == 404
            assert not (serving.data / "a").exists()
    assert server.calls == 0


async def test_a_batch_put_twice_while_it_is_cancelled_is_judged_once(tmp_path: Path) -> None:
    record = BatchRecord(arrived="2026-01-01", sha256="")
    batches = Batches(tmp_path, Config(), 0, Metrics())  # which never begins to judge
    async with batches:
        batch, _ = await batches.add(batches.new_folder(), "a", record)
        again = [batches.add(tmp_path, "a", record) for _ in range(2)]
        await asyncio.gather(batches.cancel(batch, purge=False), *again)
        waiting = asyncio.all_tasks() - {asyncio.current_task()}
        assert (batch.state, waiting) == ("queued", {batch.task})


def test_a_batch_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    options: JsonValue = {"skip_bad_lines": True, "context": None, "expect": None}
    record = {"name": "night", "options": options, "arrived": "", "sha256": "", "size": 3}
    write(tmp_path / ".batch.json", [record])
    found = read_batch(tmp_path)
    assert (found.name, found.options) == ("night", Options(skip_bad_lines=True))


def test_a_second_service_on_a_folder_refuses(serving: Serving) -> None:
    with (
        pytest.raises(RunError, match="another service is writing here; stop that one"),
        Serving(serving.data),
    ):
        pass


def test_after_kill_9_every_batch_ends_with_each_answer_once(place: Path) -> None:
    """Two that serve, one after the other, a batch cancelled before: some four seconds."""
    with JudgeServer(lambda asked: Slow(0.1, right(asked))) as slow:
        config = slow.config(cache=True, cache_dir=place / "cache", concurrency=4, durable=True)
        words = (*slow.words, "--concurrency", 4, "--cache-dir", config.cache_dir, "--durable")
        names = {name: [f"{name}{n}" for n in range(20)] for name in "abc"}
        for name, qids in names.items():
            write(place / name, [line(qid, f"Room {qid} opens at seven.") for qid in qids])
        with process(place / "data", *words, "--running", 1) as (server, http):
            for name in names:
                content = (place / name).read_bytes()
                assert http.put(f"/v1/batches/{name}", content=content).is_success
            until(http, "a", done=5)
            assert http.delete("/v1/batches/b").json()["state"] == "cancelled"
            server.kill()
            server.wait()
        parts = (place / "data").glob("*/results.jsonl*")
        assert 5 <= sum(part.read_bytes().count(b"\n") for part in parts) < 60
        with Serving(place / "data", config) as serving:
            assert serving.until("b")["state"] == "cancelled"
            for name, qids in names.items():
                serving.http.put(f"/v1/batches/{name}", content=(place / name).read_bytes())
                found = serving.until(name)
                assert (found["state"], found["done"]) == ("finished", 20)
                assert [each.qid for each in read_results(place / "data" / name)] == qids
                assert found["summary"]["faithfulness"]["macro"] == 1.0
        # Whatever was in flight is asked again; what was answered and stored is not.
        assert slow.calls <= 60 + 4


def test_a_service_that_drains_leaves_batches_to_the_next_one(place: Path) -> None:
    data = place / "data"
    rows = [line(f"q{n}", "It opens at seven.") for n in range(8)]
    body = write(place / "in.jsonl", rows).read_bytes()
    with JudgeServer(lambda asked: Slow(0.4, right(asked))) as slow:
        config = slow.config(concurrency=1)
        with Serving(data, config) as serving:
            serving.http.put("/v1/batches/a", content=body)
            assert serving.until("a", "running")["state"] == "running"
        assert read_run(data / "a").record.finished is None
        with pytest.raises(httpx.ConnectError):
            httpx.get(serving.url, trust_env=False)
        with Serving(data, slow.config(sentences_per_call=3)) as serving:
            # Two judges must not share a run.
            found = serving.until("a")
            assert (found["state"], found["problem"]["type"][-8:]) == ("failed", "conflict")
            assert "another signature" in found["problem"]["detail"]
            assert str(data) not in found["problem"]["detail"]


def test_a_service_that_lost_a_process_ends_so_that_it_is_started_anew(place: Path) -> None:
    """One service of a pool of two: some two seconds."""
    one = QUICKSTART.read_bytes().splitlines()[0]
    with process(place / "data", "--workers", 2) as (server, http):
        assert http.post("/v1/evaluations", content=one).status_code == 200
        tasks = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text("ascii").split()
        for each in tasks:
            os.kill(int(each), signal.SIGKILL)
        answer = http.post("/v1/evaluations", content=one)
        assert (answer.status_code, answer.json()["type"][-11:]) == (503, "unavailable")
        assert server.wait(20) == 2


@pytest.mark.parametrize("moment", [0.0, 0.5])
def test_sigterm_while_a_batch_starts_is_logged_in_json_and_loses_nothing(
    place: Path, moment: float
) -> None:
    server = start("serve", "--port", 0, "--data", place / "data")
    assert server.stderr is not None
    url = json.loads(server.stderr.readline())["url"]
    body = QUICKSTART.read_bytes()
    assert httpx.put(f"{url}/v1/batches/a", content=body, trust_env=False).status_code == 201
    # Whatever the worker has come to by then: the outcome is the same.
    with suppress(subprocess.TimeoutExpired):
        server.wait(moment)
    server.terminate()
    _, log = server.communicate(timeout=60)
    assert server.returncode == 0
    for each in log.splitlines():
        assert json.loads(each)["level"] == "info", each
    with Serving(place / "data") as serving:
        assert serving.until("a")["state"] == "finished"
