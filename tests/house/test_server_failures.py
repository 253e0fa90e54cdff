"""A server that refuses, disappears or replies nothing usable: the run ends and can be resumed."""

import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from judge import Evaluator, JudgeUnhealthy
from judge.backends.openai.client import Outage, Policy
from judge.backends.openai.failures import Failure
from judge.inputs.runs import read_summary
from judge.records import UnscoredReason
from tests import faults
from tests.chat_call import ChatCall
from tests.commands import Ran, judge, line, results, write
from tests.faults import error
from tests.replies import TOO_MANY, Answer, Says, Script, Status, right, too_many
from tests.server import JudgeServer, refused_url

ANSWERS = 30
CONCURRENCY = 2
GONE = Failure(UnscoredReason.CONNECTION, "no connection: refused", unsent=True)
LATE = Failure(UnscoredReason.TIMEOUT, "no whole answer")
UNREAD = Failure(UnscoredReason.SERVER_ERROR, "HTTP 200, but no reply in it")
LOADING = Status(503, {"error": {"message": "the model is being loaded"}})


@pytest.fixture
def samples(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUDGE_ATTEMPTS", "1")
    monkeypatch.setenv("JUDGE_CONCURRENCY", str(CONCURRENCY))
    monkeypatch.setenv("JUDGE_PATIENCE", "0")
    lines = [line(f"q{n}", f"Room {n} is open. 第{n}室开放[1]。") for n in range(ANSWERS)]
    return write(place / "in.jsonl", lines)


def score(samples: Path, server: JudgeServer, *more: object) -> Ran:
    return judge("score", samples, "-o", samples.with_name("run"), *server.words, *more)


class FailingServer:
    """A script that answers a number of calls, then fails until `mended` is set."""

    def __init__(self, after: int, answer: Answer | Script) -> None:
        self._after, self._answer = after, answer
        self.mended = False

    def __call__(self, call: ChatCall) -> Answer:
        if self.mended or call.is_probe or call.number < self._after:
            return right(call)
        return self._answer(call) if callable(self._answer) else self._answer


def check_message(ran: Ran, server: JudgeServer, step: str, code: int = 2) -> None:
    """Check the last line: it names the model, the server and the next step."""
    assert (ran.code, ran.out) == (code, "")
    message = ran.err.splitlines()[-1]
    assert message.startswith(f"judge: model 'tiny' at {server.base_url} cannot be asked: ")
    assert step in message
    assert "Traceback" not in ran.err


def failed(status: int) -> Failure:
    reason = UnscoredReason.SERVER_ERROR
    return Failure(reason, f"HTTP {status}", status=status)


def refused(wait: float | None = None) -> Failure:
    reason = UnscoredReason.RATE_LIMITED
    return Failure(reason, "HTTP 429", status=429, wait=wait)


def test_what_begins_an_outage_and_what_ends_it() -> None:
    # Failures and their times; whether 10 s of patience are over after the last.
    rows: list[tuple[list[tuple[float, Failure | None]], bool]] = [
        ([(0, GONE), (9, GONE)], False),
        ([(0, GONE), (10, GONE)], True),
        ([(0, failed(503)), (5, GONE), (10, failed(500))], True),
        ([(0, GONE), (5, None), (10, GONE)], False),
        ([(0, GONE), (5, failed(400)), (10, GONE)], False),
        ([(0, refused()), (10, refused())], True),
        ([(0, refused(7)), (10, refused())], False),  # the requested wait does not count
        ([(0, refused(601))], True),  # longer than the deadline, and nothing was ever answered
        ([(0, refused(601)), (5, None), (10, refused(601))], False),
        ([(0, GONE), (5, LATE), (10, GONE)], True),
        ([(0, LATE), (10, LATE)], False),
        ([(0, UNREAD), (10, UNREAD)], True),
        ([(0, GONE), (100, GONE)], False),  # two failures without a request between them
    ]
    for events, over in rows:
        now = 0.0
        outage = Outage(10, 600, clock=lambda: now)  # noqa: B023  called before the next round
        for now, failure in events:  # noqa: B007  read by the clock
            outage.hear(failure)
        assert bool(outage.why) is over, events


def test_a_server_that_asks_for_too_long_a_wait_has_ten_seconds_for_another_answer() -> None:
    now = 0.0
    outage = Outage(120, 600, clock=lambda: now)
    outage.hear(None)
    for now, over in ((1.0, False), (31.0, False), (40.9, False), (41.0, True)):
        outage.hear(GONE if now == 1 else refused(601))
        assert bool(outage.why) is over


def test_a_server_that_was_never_there_is_waited_for_less_long() -> None:
    now = 0.0
    outage = Outage(120, 600, 10, clock=lambda: now)
    outage.hear(GONE)
    now = 9.0
    assert outage.state == "no answer for 9 of 10 s (no connection: refused)"
    now = 10.0
    assert outage.why.startswith("no answer for 10 s (--patience)")
    outage.hear(failed(503))  # it listens now, and loads its model
    now = 100.0
    assert outage.why == ""


# The server's failure, the patience, and the message.
OUTAGES = [
    (LOADING, 0.5, "no answer for 0.5 s (--patience), last: HTTP 503: the model is being loaded"),
    (TOO_MANY, 0.5, "no answer for 0.5 s (--patience), last: HTTP 429: Rate limit reached"),
    (too_many("7200"), 0.5, "it asks to wait for longer than 600 s (--deadline)"),
]


@pytest.mark.parametrize(("failure", "patience", "message"), OUTAGES)
def test_an_outage_ends_the_run_which_is_resumed_later(
    samples: Path,
    failure: Status,
    patience: float,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("JUDGE_ATTEMPTS")
    run, script = samples.with_name("run"), FailingServer(25, failure)
    with JudgeServer(script) as server:
        ran = score(samples, server, "--patience", patience)
        check_message(ran, server, message, code=3)
        kept = len(results(run))
        assert 25 - CONCURRENCY <= kept <= 25
        assert f"; {kept} of 30 answers are kept; the same command goes on" in ran.err
        script.mended = True
        assert score(samples, server).code == 0
    assert read_summary(run).judged == 2 * ANSWERS


def test_a_server_that_comes_back_in_time_loses_nothing(
    samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JUDGE_ATTEMPTS")
    script = FailingServer(25, LOADING)
    with JudgeServer(script) as server:
        threading.Timer(0.4, lambda: setattr(script, "mended", True)).start()
        assert score(samples, server, "--patience", 60).code == 0
    assert read_summary(samples.with_name("run")).judged == 2 * ANSWERS


def test_an_absent_server_is_waited_for_at_the_start(samples: Path) -> None:
    url = refused_url()
    words = ("--model", "tiny", "--base-url", url, "--patience", 0.3)
    ran = judge("score", samples, "-o", "run", *words)
    assert (ran.code, ran.out) == (3, "")
    first, last = ran.err.splitlines()
    assert first.endswith("; trying again for 0.3 s (--patience)")
    assert last.startswith(f"judge: model 'tiny' at {url} cannot be asked: no answer for 0.3 s")
    assert last.endswith("; is the server running? is --base-url right?; nothing was written")
    assert not Path("run").exists()


def test_the_first_refusal_says_how_long_it_is_waited_for(samples: Path) -> None:
    with JudgeServer(lambda _: too_many("0")) as server:
        ran = score(samples, server, "--patience", 0.3)
    assert ran.code == 3
    assert ran.err.splitlines()[0].endswith("; trying again for 0.3 s (--patience)")


async def test_refused_requests_are_counted_on_the_line_of_progress() -> None:
    left = [too_many("0")] * 3

    def script(call: ChatCall) -> Answer:
        return right(call) if call.is_probe or not left else left.pop()

    with JudgeServer(script) as server:
        async with Evaluator(server.config()) as evaluator:
            (result,) = [each async for each in evaluator.evaluate([line("q", "It is open.")])]
            assert result.scores.unscored == 0
            assert evaluator.trouble == "3 requests refused in the last 10 s (429)"


# The server's answer, and a part of the next step.
REFUSALS: Mapping[str, tuple[Answer | Script, str]] = {
    "401": (faults.UNAUTHORIZED, "set OPENAI_API_KEY"),
    "a wrong key": (faults.wrong_key, "set OPENAI_API_KEY"),
    "402": (error(402, "Insufficient credits"), "add credit"),
    "403": (faults.FORBIDDEN, "may use this model"),
    "404": (faults.NO_MODEL, "check --model"),
    "404 page": (Status(404, "<h1>Not found</h1>"), "--base-url ends"),
    "quota": (faults.QUOTA, "add credit"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_before_the_first_answer(samples: Path, name: str) -> None:
    answer, step = REFUSALS[name]
    with JudgeServer(lambda call: answer(call) if callable(answer) else answer) as server:
        ran = score(samples, server)
        assert (server.probes, server.calls) == (1, 0)
    check_message(ran, server, step)
    assert ran.err.count("\n") == 1
    assert not samples.with_name("run").exists()


@pytest.mark.parametrize("name", ["a wrong key", "quota"])
def test_a_refusal_in_mid_run(samples: Path, name: str) -> None:
    answer, step = REFUSALS[name]
    script = FailingServer(5, answer)
    run = samples.with_name("run")
    with JudgeServer(script) as server:
        ran = score(samples, server)
        check_message(ran, server, step)
        assert 6 <= server.calls <= 5 + 2 * CONCURRENCY  # the first refusal stops all
        # It may overtake a reply in flight.
        kept = len(results(run))
        assert 5 - CONCURRENCY <= kept <= 5
        assert not (run / "summary.json").exists()
        before = server.calls
        script.mended = True
        again = score(samples, server)
        assert again.code == 0
        assert f"taking up an unfinished run: {kept} of 30 answers" in again.err
        assert server.calls <= before + ANSWERS - kept
        assert server.probes == 1
    assert len(results(run)) == ANSWERS
    assert read_summary(run).unscored == {}


def test_an_option_that_is_no_longer_taken(samples: Path) -> None:
    refusing = FailingServer(5, faults.NO_TEMPERATURE)

    def script(call: ChatCall) -> Answer:
        if refusing.mended and "temperature" in call.body:
            return faults.NO_TEMPERATURE
        return refusing(call)

    with JudgeServer(script) as server:
        ran = score(samples, server)
        check_message(ran, server, "the same command will find out anew")
        assert "no longer takes 'temperature'" in ran.err
        refusing.mended = True
        # Results with another signature do not belong to that run.
        other = score(samples, server)
        assert (other.code, other.out) == (2, "")
        assert "unfinished run with another signature" in other.err
        assert score(samples, server, "--force").code == 0
    signatures = read_summary(samples.with_name("run")).signatures
    assert list(signatures.values()) == [ANSWERS]
    assert all("|t:default|" in signature for signature in signatures)


def test_a_finished_run_outlives_a_server_that_is_gone(samples: Path) -> None:
    run = samples.with_name("run")
    with JudgeServer() as server:
        assert score(samples, server).code == 0
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    ran = score(samples, server, "--no-cache", "--force")
    check_message(ran, server, "is the server running?")
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before
    # With all verdicts in the cache no server is needed.
    assert score(samples, server, "--force").code == 0


# Replies without a verdict

FIRST = 20
ESCAPES = "Of course!\x1b[2J\x07\r\nAll \u202eare fine. " + "and so on " * 1_000

# The reply, a part of the message, and the number of requests for an answer.
USELESS: Mapping[str, tuple[Answer | Script, str, int]] = {
    "prose": (Says(ESCAPES), "it holds no JSON «Of course! [2J All are fine. and so on", 2),
    "only some other id": (Says('{"verdicts": [{"id": "s9"}]}'), "no verdict in 3 replies «", 3),
    "refused": (faults.REFUSED, "the model refused «I'm sorry, I can't help with that.»", 1),
    "400": (Status(400, {"error": {"message": "odd\x1b"}}), "HTTP 400: odd; ", 1),
    "no reply": (Status(200, {"choices": []}), "HTTP 200, but no reply in it", 1),
    "too long": (faults.TOO_LONG, "maximum context length", 1),
}


@pytest.mark.parametrize("name", USELESS)
def test_twenty_answers_without_a_verdict_stop_the_run(samples: Path, name: str) -> None:
    answer, part, rounds = USELESS[name]
    script = FailingServer(0, answer)
    with JudgeServer(script) as server:
        ran = score(samples, server)
        assert (ran.code, ran.out) == (3, "")
        message = ran.err.splitlines()[-1]
        assert message.startswith("judge: llm:tiny@127.0.0.1:")
        assert part in message
        assert len(message) < 600
        assert message.isprintable()
        assert FIRST * rounds <= server.calls <= (FIRST + 2 * CONCURRENCY) * rounds
        script.mended = True
        assert score(samples, server).code == 0
    run = samples.with_name("run")
    assert [result.status for result in results(run)] == ["scored"] * ANSWERS
    assert read_summary(run).unscored == {}


def test_one_verdict_among_the_first_answers_lets_the_run_go_on(samples: Path) -> None:
    with JudgeServer(FailingServer(1, faults.NULL_CONTENT)) as server:
        ran = score(samples, server, "--concurrency", 1)
    assert ran.code == 3
    statuses = [result.status for result in results(samples.with_name("run"))]
    assert statuses == ["scored"] + ["unscored"] * (ANSWERS - 1)


async def test_useless_replies_raise_an_error_in_python(place: Path) -> None:  # noqa: ARG001
    with JudgeServer(FailingServer(0, faults.NULL_CONTENT)) as server:
        evaluator = Evaluator(server.config(concurrency=1))
        many = [line(str(n), f"Room {n} is open.") for n in range(ANSWERS)]
        with pytest.raises(JudgeUnhealthy, match="none of the first 20 answers"):
            _ = [each async for each in evaluator.evaluate(many)]
        # Failures of one answer alone do not stop a run.
        few = [many[0] | {"qid": str(n)} for n in range(2 * FIRST)]
        assert len([each async for each in Evaluator(server.config()).evaluate(few)]) == len(few)


async def test_a_request_that_is_refused_for_long_ends_no_other() -> None:
    left = [too_many("700")]

    def script(call: ChatCall) -> Answer:
        return right(call) if call.is_probe or not left else left.pop()

    with JudgeServer(script) as server:
        samples = [line(f"q{number}", "It is open.") for number in range(12)]
        async with Evaluator(server.config(concurrency=2, patience=0.3)) as evaluator:
            results = [each async for each in evaluator.evaluate(samples)]
    assert sorted(each.scores.unscored for each in results) == [*[0] * 11, 1]


def test_an_attempt_at_a_server_that_is_away_does_not_count() -> None:
    policy = Policy(patience=60)
    assert policy.is_free(failed(503), lasting=True)
    assert not policy.is_free(failed(500), lasting=True)
    assert not policy.is_free(failed(503))  # the server answers others
    assert not Policy(patience=0).is_free(failed(503), lasting=True)


async def test_a_request_that_alone_gets_503_uses_up_its_attempts() -> None:
    def script(call: ChatCall) -> Answer:
        return LOADING if "Room 0" in call.user else right(call)

    with JudgeServer(script) as server:
        samples = [line(f"q{number}", f"Room {number} is open.") for number in range(12)]
        async with Evaluator(server.config(concurrency=4, patience=60)) as evaluator:
            results = [each async for each in evaluator.evaluate(samples)]
    assert [each.scores.unscored for each in results] == [1, *[0] * 11]
