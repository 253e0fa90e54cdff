"""Question, answer, chunks and key reach the address that was named, and no other."""

from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import pytest

from judge import Unscored, UnscoredReason
from tests.chat_call import ChatCall
from tests.commands import Ran, judge, line, refused, results, write
from tests.replies import Answer, Status, right
from tests.server import JudgeServer

STATUSES = (301, 302, 303, 307, 308)
KEY = "sk-proj-Zebra0123456789Quagga"
# The path and the query may hold a secret.
PLACES = ("{}/chat/completions", "//u:hunter2@{}/s3cret?k={key}#s3cret", "{}/s3cret/%ff")


@pytest.fixture
def samples(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("JUDGE_ATTEMPTS", "2")
    return write(place / "in.jsonl", [line(f"q{n}", f"Room {n} is open.") for n in range(3)])


def sends(status: int, there: str) -> Answer:
    return Status(status, {}, {"Location": there})


def always(answer: Answer) -> Callable[[object], Answer]:
    return lambda _: answer


def origin(server: JudgeServer) -> str:
    return server.base_url.removesuffix("/v1")


def there(other: JudgeServer, form: str) -> str:
    base = other.base_url
    return form.format(base.removeprefix("http://") if form.startswith("//") else base, key=KEY)


def asked_once(ran: Ran, server: JudgeServer, named: str) -> None:
    """The command ended before the run, in one line that names where it was sent."""
    message = f"redirects to {named}, and redirects are not followed; "
    refused(ran, message, "name it with --base-url", server.base_url)
    for secret in ("s3cret", "hunter2", "Zebra"):
        assert secret not in ran.err


def score(samples: Path, *more: object) -> Ran:
    return judge("score", samples, "-o", samples.with_name("run"), *more)


def test_a_redirect_before_the_run_is_one_line(samples: Path) -> None:
    for status, form in zip(STATUSES, cycle(PLACES), strict=False):
        with JudgeServer() as other:
            answer = sends(status, there(other, form))
            with JudgeServer(always(answer)) as server:
                ran = score(samples, *server.words)
            asked_once(ran, server, origin(other))
            assert (len(server.requests), other.requests, other.embedded) == (1, [], [])
    assert not samples.with_name("run").exists()


def test_a_redirect_in_mid_run_is_a_failure(samples: Path) -> None:
    for status in (302, 307):
        with JudgeServer() as other:

            def script(call: ChatCall, to: str = other.base_url, code: int = status) -> Answer:
                return right(call) if call.is_probe else sends(code, to)

            with JudgeServer(script) as server:
                ran = score(samples, *server.words, "--force", "--no-cache")
            assert ran.code == 3
            assert (len(server.requests), other.requests) == (4, [])
        for result in results(samples.with_name("run")):
            for sentence in result.sentences:
                # Similarity decides only some of these sentences.
                failure = getattr(sentence.outcome, "fallback_from", sentence.outcome)
                assert isinstance(failure, Unscored)
                assert failure.reason is UnscoredReason.SERVER_ERROR
                assert f"redirects to {origin(other)}, and redirects are" in failure.detail
