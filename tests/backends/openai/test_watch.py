import logging

import pytest

from judge.backends.openai import Connection, Policy
from judge.backends.openai.failures import Failure
from judge.backends.openai.refusal import Refusal
from judge.backends.openai.watch import Watch
from judge.records import UnscoredReason

URL = "http://127.0.0.1:9/v1"
REFUSED = Failure(UnscoredReason.CONNECTION, "no connection: refused")
BUSY = Failure(UnscoredReason.SERVER_ERROR, "HTTP 503: loading", refusal=Refusal(503))
LIMITED = Failure(UnscoredReason.RATE_LIMITED, "HTTP 429: slow down", refusal=Refusal(429))


def watch(attempts: int = 6, timeout: float = 5.0) -> Watch:
    made = Watch(
        # Not entered: nothing is sent.
        Connection(URL, "", policy=Policy(timeout=timeout, attempts=attempts)),
        "m",
        "--model",
        "chat",
    )
    made.start()
    return made


def attempts_of(watch: Watch, failure: Failure) -> int:
    return next((number for number in range(1, 20) if watch.gives_up(failure)), 20)


async def test_where_nobody_is_three_attempts_are_enough() -> None:
    assert attempts_of(watch(), REFUSED) == 3
    assert attempts_of(watch(attempts=2), REFUSED) == 2
    assert attempts_of(watch(), BUSY) == 6
    assert attempts_of(watch(), LIMITED) == 20


async def test_each_request_starts_anew() -> None:
    watched = watch()
    for _ in range(3):
        watched.start()
        assert attempts_of(watched, REFUSED) == 3


@pytest.mark.parametrize("failure", [REFUSED, BUSY, LIMITED])
async def test_that_it_takes_longer_is_said_once(
    caplog: pytest.LogCaptureFixture, failure: Failure
) -> None:
    caplog.set_level(logging.INFO)
    watched = watch()
    attempts_of(watched, failure)
    watched.start()
    attempts_of(watched, failure)
    (told,) = [record for record in caplog.records if record.name == "judge"]
    assert told.levelno == logging.INFO
    assert told.getMessage() == f"no answer yet from {URL} ({failure.detail}); trying again"


async def test_nothing_is_said_of_trying_again_where_nobody_does(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    assert watch(attempts=1).gives_up(REFUSED)
    assert not watch(timeout=0.0).gives_up(REFUSED)
    assert not [record for record in caplog.records if record.name == "judge"]


async def test_the_last_failure_comes_with_the_next_step() -> None:
    message = str(watch().hopeless(REFUSED))
    assert message.startswith(f"model 'm' at {URL} cannot be asked: no connection: refused; ")
    assert "is the server running?" in message
    assert "the server has trouble of its own" in str(watch().hopeless(BUSY))
    wrong = Failure(UnscoredReason.SERVER_ERROR, "HTTP 400: no", refusal=Refusal(400))
    assert "can this model chat (--model)?" in str(watch().hopeless(wrong))
    assert str(watch().hopeless(LIMITED)).endswith("; try again later")
