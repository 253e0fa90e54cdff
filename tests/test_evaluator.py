import asyncio
import signal
import threading
from collections.abc import Iterator

import pytest

from judge import (
    Config,
    ConfigError,
    Evaluator,
    InputError,
    JudgeUnavailable,
    Sample,
    evaluate,
)
from judge.backends.fake import FakeJudge
from judge.evaluator import complete
from judge.records import Chunk, JudgeRequest, Judgment
from tests.server import JudgeServer


def sample(qid: object, answer: str = "The limit is 500 yuan.") -> Sample:
    chunks = (Chunk(chunk_id="a", text="The limit is 500 yuan for one night."),)
    return Sample(qid=str(qid), query="q", answer=answer, chunks=chunks)


async def qids(evaluator: Evaluator, *names: str) -> list[str]:
    """Return the ids of the results of samples with these ids."""
    return [result.qid async for result in evaluator.evaluate(map(sample, names))]


class BackwardsJudge(FakeJudge):
    """Answers the last of eight first, and each other behind the next."""

    def __init__(self) -> None:
        super().__init__({})
        self._answered = [asyncio.Event() for _ in range(8)]

    async def judge(self, request: JudgeRequest) -> Judgment:
        number = int(request.query)
        for behind in self._answered[number + 1 :]:
            await behind.wait()
        self._answered[number].set()
        return await super().judge(request)


async def test_results_come_in_input_order_however_the_judge_answers() -> None:
    samples = (sample(i).model_copy(update={"query": str(i)}) for i in range(8))
    judge = BackwardsJudge()
    evaluator = Evaluator(Config(concurrency=8), judge=judge)
    assert [r.qid async for r in evaluator.evaluate(samples)] == [str(i) for i in range(8)]
    assert [request.query for request in judge.requests] == [str(i) for i in reversed(range(8))]


class CountingJudge(FakeJudge):
    """Holds every request until it is let go, and counts those in flight."""

    def __init__(self) -> None:
        super().__init__({})
        self.flying = self.most = 0
        self.full, self.go = asyncio.Event(), asyncio.Event()

    async def judge(self, request: JudgeRequest) -> Judgment:
        self.flying += 1
        self.most = max(self.most, self.flying)
        if self.flying == 4:
            self.full.set()
        try:
            await self.go.wait()
            return await super().judge(request)
        finally:
            self.flying -= 1


@pytest.mark.no_cover
async def test_concurrency_is_bounded_and_input_is_read_as_needed() -> None:
    read = 0

    def samples() -> Iterator[Sample]:
        nonlocal read
        for i in range(100):
            read = i
            yield sample(i)

    judge, done = CountingJudge(), 0
    judge.go = judge.full  # none is answered before four are in
    async for _ in Evaluator(Config(concurrency=4, cache=False), judge=judge).evaluate(samples()):
        assert read - done <= 9  # twice the concurrency, and the one just read
        done += 1
    assert (done, judge.most) == (100, 4)


async def test_few_results_wait_behind_a_hanging_answer() -> None:
    begun: list[str] = []

    class Hanging(FakeJudge):
        async def judge(self, request: JudgeRequest) -> Judgment:
            begun.append(request.query)
            seen = 0
            while request.query == "0" and seen < len(begun):  # until no other begins
                seen = len(begun)
                for _ in range(100):
                    await asyncio.sleep(0)
            if request.query == "0":
                raise TimeoutError
            return await super().judge(request)

    # Twice the concurrency where no cache has what is done; else what is read from 16 million
    # characters, some 32 000 each with what an answer and a chunk weigh.
    for cached, many in ((False, 4), (True, 500)):
        begun.clear()
        evaluator = Evaluator(Config(concurrency=2, cache=cached), judge=Hanging({}))
        borne = {"chunks": (Chunk(chunk_id="a", text="x" * 31_890),)}
        samples = (sample(i).model_copy(update=borne | {"query": str(i)}) for i in range(600))
        with pytest.raises(TimeoutError):
            await anext(evaluator.evaluate(samples))
        assert len(begun) == many


async def test_ten_callers_of_one_evaluator_share_its_concurrency() -> None:
    for correctness in (False, True):
        judge = CountingJudge()
        evaluator = Evaluator(Config(concurrency=4, correctness=correctness), judge=judge)
        golden = [sample(i).model_copy(update={"gold_answer": "It is 500."}) for i in range(3)]

        async def caller(
            evaluator: Evaluator = evaluator, samples: list[Sample] = golden
        ) -> list[str]:
            return [result.qid async for result in evaluator.evaluate(samples)]

        callers = [asyncio.create_task(caller()) for _ in range(10)]
        await judge.full.wait()
        for _ in range(100):  # time enough for those who would begin regardless
            await asyncio.sleep(0)
        judge.go.set()
        assert await asyncio.gather(*callers) == [["0", "1", "2"]] * 10
        # A comparison is two requests more, and never two where there is room for one.
        assert (judge.most, len(judge.requests)) == (4, 90 if correctness else 30)


async def test_an_error_of_the_source_comes_after_the_results_before_it() -> None:
    def source() -> Iterator[Sample]:
        yield from (sample(i) for i in range(5))
        raise InputError("bad line 6")

    stream = Evaluator(judge=FakeJudge({})).evaluate(source())
    assert [(await anext(stream)).qid for _ in range(5)] == list("01234")
    with pytest.raises(InputError, match="bad line 6"):
        await anext(stream)


async def test_closing_early_cancels_what_is_in_flight() -> None:
    judge = CountingJudge()
    stream = Evaluator(Config(concurrency=4), judge=judge).evaluate(sample(i) for i in range(50))
    reading = asyncio.ensure_future(anext(stream))
    await judge.full.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    await stream.aclose()
    assert judge.flying == 0


async def test_an_unavailable_judge_stops_the_run_at_once() -> None:
    class Stuck(FakeJudge):
        """Never answers the first request, and is unavailable for the second."""

        async def judge(self, request: JudgeRequest) -> Judgment:
            self.requests.append(request)
            if len(self.requests) == 1:
                await asyncio.Event().wait()
            raise JudgeUnavailable("the key was withdrawn")

    judge = Stuck({})
    stream = Evaluator(Config(concurrency=2), judge=judge).evaluate(sample(i) for i in range(50))
    async with asyncio.timeout(60):
        with pytest.raises(JudgeUnavailable, match="withdrawn"):
            await anext(stream)
    assert len(judge.requests) <= 4  # those begun ahead


async def test_the_signature_of_a_model_is_known_once_it_was_asked(server: JudgeServer) -> None:
    evaluator = Evaluator(server.config())
    with pytest.raises(ConfigError, match="async with"):
        _ = evaluator.signature
    async with evaluator as entered:
        assert entered is evaluator
        signature = evaluator.signature
        results = [result async for result in evaluator.evaluate([sample("a"), sample("b")])]
    assert signature.startswith(f"llm:tiny@{server.base_url.split('/')[2]}|prompt:faithfulness-v")
    assert {result.signature for result in results} == {signature}
    assert evaluator.signature == signature  # still, once it is closed


async def test_an_entered_evaluator_serves_other_loops(server: JudgeServer) -> None:
    evaluator = Evaluator(server.config())
    async with evaluator:
        assert await qids(evaluator, "a") == ["a"]  # whose connection is kept, and of this loop
        (here,) = evaluate([sample("b")], evaluator=evaluator)
        (there,) = await asyncio.to_thread(evaluate, [sample("c")], evaluator=evaluator)
        assert await qids(evaluator, "d") == ["d"]
    assert [each.qid for each in (here, there)] == ["b", "c"]
    assert {each.status for each in (here, there)} == {"scored"}
    assert server.calls == 4


# The synchronous function.


@pytest.fixture
def interrupting() -> Iterator[None]:
    """The signal USR1 interrupts, as Ctrl-C does."""
    before = signal.signal(signal.SIGUSR1, signal.default_int_handler)
    yield
    signal.signal(signal.SIGUSR1, before)


@pytest.mark.usefixtures("interrupting")
async def test_sync_inside_a_running_loop_lets_ctrl_c_through() -> None:
    class Stopped(FakeJudge):
        cancelled = False

        async def judge(self, request: JudgeRequest) -> Judgment:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
            try:
                await asyncio.Event().wait()  # until it is cancelled
            finally:
                self.cancelled = True
            return await super().judge(request)

    judge = Stopped({})
    with pytest.raises(KeyboardInterrupt):
        evaluate([sample("a")], judge=judge)
    assert judge.cancelled


@pytest.mark.usefixtures("interrupting")
async def test_ctrl_c_lets_other_tasks_such_as_the_stores_end() -> None:
    stored = []

    async def work() -> None:
        released = asyncio.Event()
        storing = asyncio.create_task(released.wait())
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
        try:
            await asyncio.Event().wait()  # until it is cancelled
        finally:
            released.set()
            stored.append(await storing)

    with pytest.raises(KeyboardInterrupt):
        complete(work())
    assert stored == [True]
