"""A server that is gone ends the run, soon and unfinished; one that comes back loses nothing."""

import asyncio
import logging
import threading
import time
from pathlib import Path

import pytest

from judge.backends.openai.failures import Failure, Refusal
from judge.backends.openai.outage import Outage
from judge.config import Config
from judge.evaluator import Evaluator
from judge.inputs.runs import read_summary
from judge.records import UnscoredReason
from tests.chat_call import ChatCall
from tests.commands import judge, line, results, write
from tests.replies import TOO_MANY, Answer, Status, right, too_many
from tests.server import JudgeServer, refused_url

ANSWERS = 60
GONE = Failure(UnscoredReason.CONNECTION, "no connection: refused", unsent=True)
LATE = Failure(UnscoredReason.TIMEOUT, "no whole answer")


def said(status: int) -> Failure:
    reason = UnscoredReason.SERVER_ERROR
    return Failure(reason, f"HTTP {status}", refusal=Refusal(status))


def refused(wait: float | None = None) -> Failure:
    reason = UnscoredReason.RATE_LIMITED
    return Failure(reason, "HTTP 429", refusal=Refusal(429, wait=wait))


def test_what_begins_an_outage_and_what_ends_it() -> None:
    # What came and when; whether 10 s of patience are over after the last.
    rows: list[tuple[list[tuple[float, Failure | None]], bool]] = [
        ([(0, GONE), (9, GONE)], False),
        ([(0, GONE), (10, GONE)], True),
        ([(0, said(503)), (5, GONE), (10, said(500))], True),
        ([(0, GONE), (5, None), (10, GONE)], False),
        ([(0, GONE), (5, said(400)), (10, GONE)], False),
        ([(0, refused()), (10, refused())], True),
        ([(0, refused(7)), (10, refused())], False),  # the wait that it asked for does not count
        ([(0, refused(7)), (17, refused())], True),
        ([(0, refused(601))], True),  # longer than the deadline
        ([(0, GONE), (5, LATE), (10, GONE)], True),
        ([(0, LATE), (10, LATE)], False),
        ([(0, GONE), (100, GONE)], False),  # two failures without a request between them
    ]
    for events, over in rows:
        now = 0.0
        outage = Outage(10, 600, clock=lambda: now)  # noqa: B023  it is asked before the next round
        for now, failure in events:  # noqa: B007  read by the clock
            outage.hear(failure)
        assert bool(outage.why) is over, events
    never = Outage(0, 600, clock=lambda: 1e9)
    never.hear(GONE)
    assert (never.why, never.state) == ("", "")


def test_a_server_that_was_never_there_is_waited_for_less_long() -> None:
    now = 0.0
    outage = Outage(120, 600, 10, clock=lambda: now)
    outage.hear(GONE)
    now = 9.0
    assert outage.state == "no answer for 9 of 10 s (no connection: refused)"
    now = 10.0
    assert outage.why.startswith("no answer for 10 s (--patience)")
    outage.hear(said(503))  # it listens now, and loads its model
    now = 100.0
    assert outage.why == ""


@pytest.mark.parametrize(("given", "seconds"), [({}, 10), ({"patience": 120}, 120)])
async def test_without_a_terminal_a_server_is_waited_for_ten_seconds_at_the_start(
    given: dict[str, int], seconds: int, caplog: pytest.LogCaptureFixture
) -> None:
    config = Config.model_validate(
        {"model": "m", "base_url": refused_url(), "cache": False, **given}
    )

    async def start() -> None:
        async with Evaluator(config):
            raise AssertionError("it started")

    logged = asyncio.Event()

    def note(_: logging.LogRecord) -> bool:
        logged.set()
        return True

    caplog.set_level("INFO", "judge")
    caplog.handler.addFilter(note)
    starting = asyncio.create_task(start())
    await logged.wait()
    starting.cancel()
    caplog.handler.removeFilter(note)
    assert caplog.messages[0].endswith(f"; trying again for {seconds} s (--patience)")


@pytest.fixture
def samples(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUDGE_CONCURRENCY", "4")
    return write(place / "in.jsonl", [line(f"q{n}", f"Room {n} is open.") for n in range(ANSWERS)])


LOADING = Status(503, {"error": {"message": "the model is being loaded"}})


class Falling:
    """Answer a number of calls, then fail until `mended` is set."""

    def __init__(self, calls: int, failure: Status = LOADING) -> None:
        self._calls, self._failure = calls, failure
        self.mended = False

    def __call__(self, asked: ChatCall) -> Answer:
        if self.mended or asked.is_probe or asked.number < self._calls:
            return right(asked)
        return self._failure


@pytest.mark.parametrize(
    ("failure", "message"),
    [(LOADING, "HTTP 503: the model is being loaded"), (TOO_MANY, "HTTP 429: Rate limit reached")],
)
def test_a_server_that_answers_nothing_more_ends_the_run_which_goes_on_later(
    samples: Path, failure: Status, message: str
) -> None:
    run, script = samples.with_name("run"), Falling(25, failure)
    words = ("score", samples, "-o", run, "--patience", 0.5)
    with JudgeServer(script) as server:
        began = time.monotonic()
        ran = judge(*words, *server.words)
        assert time.monotonic() - began < 0.5 + 10
        assert (ran.code, ran.out) == (3, "")
        told = ran.err.splitlines()[-1]
        assert told.startswith(f"judge: model 'tiny' at {server.base_url} cannot be asked: no ")
        assert f"no answer for 0.5 s (--patience), last: {message}" in told
        kept = len(results(run))
        assert 20 <= kept <= 25
        assert f"; {kept} of 60 answers are kept; the same command goes on from there" in told
        script.mended = True
        assert judge(*words, *server.words).code == 0
    assert read_summary(run).judged == ANSWERS


def test_a_quota_that_is_spent_for_hours_ends_the_run_which_goes_on_later(samples: Path) -> None:
    run, script = samples.with_name("run"), Falling(25, too_many("7200"))
    with JudgeServer(script) as server:
        words = ("score", samples, "-o", run, "--concurrency", 4, *server.words)
        ran = judge(*words)
        assert (ran.code, ran.out) == (3, "")
        told = ran.err.splitlines()[-1]
        assert "it asks to wait for longer than 600 s (--deadline)" in told
        kept = len(results(run))
        assert f"; {kept} of 60 answers are kept; the same command goes on from there" in told
        assert 20 <= kept <= 25
        assert server.calls < 40
        script.mended = True
        assert judge(*words).code == 0
    assert read_summary(run).judged == ANSWERS


def test_one_that_comes_back_in_time_loses_nothing(samples: Path) -> None:
    script = Falling(25)
    with JudgeServer(script) as server:
        threading.Timer(0.4, lambda: setattr(script, "mended", True)).start()
        assert judge("score", samples, "-o", "run", *server.words, "--patience", 60).code == 0
    assert read_summary(Path("run")).judged == ANSWERS


def test_at_the_start_it_is_waited_for_as_long(samples: Path) -> None:
    url = refused_url()
    words = ("--model", "tiny", "--base-url", url, "--patience", 0.3)
    ran = judge("score", samples, "-o", "run", *words)
    assert (ran.code, ran.out) == (3, "")
    first, last = ran.err.splitlines()
    assert first.endswith("; trying again for 0.3 s (--patience)")
    assert last.startswith(f"judge: model 'tiny' at {url} cannot be asked: no answer for 0.3 s")
    assert last.endswith("; is the server running? is --base-url right?; nothing was written")
    assert not Path("run").exists()


async def test_refused_requests_are_counted_on_the_line_of_progress() -> None:
    left = [too_many("0")] * 3

    def script(asked: ChatCall) -> Answer:
        return right(asked) if asked.is_probe or not left else left.pop()

    with JudgeServer(script) as server:
        async with Evaluator(server.config()) as evaluator:
            (result,) = [each async for each in evaluator.evaluate([line("q", "It is open.")])]
            assert result.scores.unscored == 0
            assert evaluator.trouble == "3 requests refused in the last 10 s (429)"
