import asyncio
import signal
import threading
from collections.abc import Iterator

import pytest

from judge import Config, JudgeUnavailable, Sample, Status, evaluate
from judge.backends.fake import FakeJudge
from judge.records import Chunk, JudgeRequest, Judgment, Support, Verdict
from tests.server import JudgeServer


def sample(qid: object, answer: str = "The limit is 500 yuan.") -> Sample:
    chunks = (Chunk(chunk_id="a", text="The limit is 500 yuan for one night."),)
    return Sample(qid=str(qid), query="q", answer=answer, chunks=chunks)


FULL = Verdict(support=Support.FULL, source="llm", signature="fake")


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer() as server:
        yield server


def asking(server: JudgeServer, **settings: object) -> Config:
    plain = {"model": "tiny", "base_url": server.base_url, "cache": False, "attempts": 1}
    return Config.model_validate(plain | settings)


async def test_sync_inside_a_running_loop_lets_ctrl_c_through() -> None:
    class Stopped(FakeJudge):
        cancelled = False

        async def judge(self, request: JudgeRequest) -> Judgment:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
            try:
                await asyncio.Event().wait()  # for ever, if nobody cancels
            finally:
                self.cancelled = True
            return await super().judge(request)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    judge = Stopped({})
    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            evaluate([sample("a")], judge=judge)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert judge.cancelled


def test_sync_without_a_loop() -> None:
    (result,) = evaluate([sample("中")], judge=FakeJudge({"The limit is 500 yuan.": FULL}))
    assert (result.qid, result.status, result.scores.faithfulness) == ("中", Status.SCORED, 1.0)


async def test_sync_inside_a_running_loop() -> None:
    assert [r.qid for r in evaluate([sample("a"), sample("b")])] == ["a", "b"]


def test_no_samples_no_results() -> None:
    assert evaluate([]) == []


def test_sync_with_a_model(server: JudgeServer) -> None:
    first, second = (evaluate([sample("a")], asking(server)) for _ in range(2))
    assert first[0].scores.faithfulness == second[0].scores.faithfulness == 1.0
    assert first[0].calls[0].model == "tiny"


async def test_sync_with_a_model_inside_a_running_loop(server: JudgeServer) -> None:
    assert [r.qid for r in evaluate([sample("a"), sample("b")], asking(server))] == ["a", "b"]
    assert (server.probes, server.calls) == (1, 2)


def test_a_server_that_is_not_there_is_what_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    # It used to be "no running event loop": the last error before, and no cause of this one.
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    settings = Config(model="m", base_url="http://127.0.0.1:9/v1", attempts=1, cache=False)
    with pytest.raises(JudgeUnavailable) as told:
        evaluate(
            [Sample(qid="1", answer="It rains.", chunks=(Chunk(chunk_id="a", text="It."),))],
            settings,
        )
    assert "event loop" not in str(told.value)
    assert "no connection" in str(told.value)
