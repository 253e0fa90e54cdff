"""The client returns what the local API returns."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from judge import (
    ConfigError,
    InputError,
    JudgeUnavailable,
    JudgeUnhealthy,
    RunError,
    Sample,
    evaluate,
    read_samples,
)
from judge.client import AsyncJudgeClient, JudgeClient
from judge.errors import UsageError
from judge.service.wire import Problem
from tests.post_server import PostServer
from tests.replies import Body, Reset, Status
from tests.service_process import QUICKSTART, Serving

TOKEN = "0123456789abcdef0123"  # noqa: S105  a test's


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(tmp_path_factory.mktemp("data"), tokens=f"me:{TOKEN}") as serving:
        yield serving


def client(serving: Serving) -> JudgeClient:
    return JudgeClient(serving.url, token=TOKEN, every=0.05)


@pytest.mark.no_cover
async def test_results_are_those_of_the_local_api(serving: Serving) -> None:
    local = evaluate(read_samples(QUICKSTART))
    with client(serving) as http:
        assert http.evaluate(read_samples(QUICKSTART)) == local
        rows = [{"answer": "It opens.", "chunks": ["It opens at seven."]}]
        assert http.evaluate(rows) == evaluate(rows)
        odd = Sample(qid="7", answer="", metadata={"lang": "zh", "n": [1]})
        assert http.evaluate_one(odd) == evaluate([odd])[0]
    async with AsyncJudgeClient(serving.url, token=TOKEN) as http:
        for at_once in (0, 3):
            results = http.evaluate(read_samples(QUICKSTART), at_once=at_once)
            assert [each async for each in results] == local


def test_a_token_that_no_header_can_hold_is_one_line_without_the_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("JUDGE_SERVICE_TOKEN", "令牌0123")
    with pytest.raises(ConfigError, match=r"^JUDGE_SERVICE_TOKEN contains") as caught:
        JudgeClient("http://127.0.0.1:1")
    assert "0123" not in str(caught.value)


async def test_a_batch_from_sending_to_results(serving: Serving) -> None:
    local = evaluate(read_samples(QUICKSTART))
    with client(serving) as http:
        sent = http.submit(QUICKSTART, name="Quick", fail_under=("faithfulness=0.5",))
        status = http.wait(sent.id)
        assert (status.state, status.exit_code, status.done) == ("finished", 0, 16)
        assert list(http.results(sent.id)) == local
    async with AsyncJudgeClient(serving.url, token=TOKEN, every=0.05) as http:
        again = await http.submit(QUICKSTART, batch=sent.id, fail_under=("faithfulness=0.5",))
        assert (again.id, again.state) == (sent.id, "finished")
        assert (await http.wait(sent.id)).summary == status.summary
        assert [each async for each in http.results(sent.id)] == local


def test_errors_are_those_of_the_local_api(serving: Serving, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"answer": 5, "chunks": []}\n')
    with client(serving) as http:
        with pytest.raises(RunError, match="there is no batch 'none'"):
            http.wait("none")
        with pytest.raises(ConfigError, match="nope"):
            http.submit(bad, fail_under=("nope",))
        with pytest.raises(InputError, match="nonsense: Extra inputs"):
            http.submit(bad, nonsense=1)
        with pytest.raises(InputError, match="No such file"):
            http.submit(tmp_path / "missing.jsonl")
        with pytest.raises(InputError, match="is a number; text is needed") as found:
            http.wait(http.submit(bad).id)
        assert (found.value.line, found.value.field) == (1, "answer")
        http.submit(bad, batch="known")
        with pytest.raises(RunError, match="other bytes"):
            http.submit(QUICKSTART, batch="known")
    with JudgeClient(serving.url, token="") as http, pytest.raises(ConfigError, match="Bearer"):
        http.status("a")
    with (
        JudgeClient("http://127.0.0.1:1", patience=0.3) as http,
        pytest.raises(JudgeUnavailable, match="cannot be reached"),
    ):
        http.status("a")


def test_an_unhealthy_judge_is_the_error_of_the_local_api() -> None:
    problem = Problem("judge-unhealthy", "try again later").details().model_dump()
    with (
        PostServer(Status(503, problem)) as server,
        JudgeClient(server.origin, patience=0.0) as http,
        pytest.raises(JudgeUnhealthy, match="try again later"),
    ):
        http.evaluate_one(Sample(qid="1", answer=""))


def test_a_busy_server_and_a_broken_connection_are_waited_out() -> None:
    """Break off, then be busy, then let through; as a proxy under load."""
    sample = next(read_samples(QUICKSTART))
    (result,) = evaluate([sample])
    busy = (Status(429, "busy", {"Retry-After": "0"}), Status(503, "busy"))
    whole = Body(result.model_dump_json() + "\n")
    with (
        PostServer(Reset(), *busy, whole, Status(418, "tea")) as server,
        JudgeClient(server.origin) as http,
    ):
        assert http.evaluate_one(sample) == result
        assert len(server.posted) == 4
        with pytest.raises(JudgeUnavailable, match="answered 418, and not as judge serve does"):
            http.evaluate_one(sample)


def test_a_closed_client_says_so_and_may_be_closed_again() -> None:
    client = JudgeClient("http://127.0.0.1:9")
    client.close()
    client.close()
    with pytest.raises(UsageError, match="the client is closed"):
        client.status("a")
