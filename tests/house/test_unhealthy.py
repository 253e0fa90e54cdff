"""A server whose replies are useless costs little: the run stops and can be resumed."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from judge import Evaluator, JudgeUnhealthy, Sample
from judge.inputs.runs import read_summary
from judge.records import Chunk
from tests import faults, replies
from tests.chat_call import ChatCall
from tests.commands import Ran, judge, line, results, write
from tests.replies import Answer, Says, Script, Status, right
from tests.server import JudgeServer

ANSWERS = 30
FIRST = 20
CONCURRENCY = 4
ESCAPES = "Of course!\x1b[2J\x07\r\nAll \u202eare fine. " + "and so on " * 1_000

# The reply, a part of the message, and the number of requests for an answer.
BARREN: Mapping[str, tuple[Answer | Script, str, int]] = {
    "prose": (Says(ESCAPES), "it holds no JSON «Of course! [2J All are fine. and so on", 2),
    "no words": (faults.NULL_CONTENT, "it holds no JSON; ", 2),
    "only some other id": (Says('{"verdicts": [{"id": "s9"}]}'), "no verdict in 3 replies «", 3),
    "refused": (faults.REFUSED, "the model refused «I'm sorry, I can't help with that.»", 1),
    "400": (Status(400, {"error": {"message": "odd\x1b"}}), "HTTP 400: odd; ", 1),
    "too long": (faults.TOO_LONG, "maximum context length", 1),
}


@pytest.fixture
def samples(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUDGE_ATTEMPTS", "1")
    monkeypatch.setenv("JUDGE_CONCURRENCY", str(CONCURRENCY))
    return write(place / "in.jsonl", [line(f"q{n}", f"Room {n} is open.") for n in range(ANSWERS)])


def score(samples: Path, server: JudgeServer, *more: object) -> Ran:
    return judge("score", samples, "-o", samples.with_name("run"), *server.words, *more)


class Mended:
    """Says this to calls until it is mended; the calls before `after` go well."""

    def __init__(self, answer: Answer | Script, after: int = 0) -> None:
        self._answer, self._after = answer, after
        self.done = False

    def __call__(self, asked: ChatCall) -> Answer:
        if self.done or asked.is_probe or asked.number < self._after:
            return right(asked)
        return self._answer(asked) if callable(self._answer) else self._answer


@pytest.mark.parametrize("name", BARREN)
def test_twenty_answers_without_a_verdict_stop_the_run(samples: Path, name: str) -> None:
    answer, said, rounds = BARREN[name]
    script = Mended(answer)
    with JudgeServer(script) as server:
        ran = score(samples, server)
        assert (ran.code, ran.out) == (3, "")
        told = ran.err.splitlines()[-1]
        assert told.startswith("judge: llm:tiny@127.0.0.1:")
        assert said in told
        assert len(told) < 600
        assert told.isprintable()
        assert FIRST * rounds <= server.calls <= (FIRST + 2 * CONCURRENCY) * rounds
        script.done = True
        assert score(samples, server).code == 0
    run = samples.with_name("run")
    assert [result.status for result in results(run)] == ["scored"] * ANSWERS
    assert read_summary(run).unscored == {}


def test_one_verdict_among_the_first_shows_that_it_can(samples: Path) -> None:
    with JudgeServer(Mended(faults.NULL_CONTENT, after=1)) as server:
        ran = score(samples, server, "--concurrency", 1)
    assert ran.code == 3
    assert "none of the first" not in ran.err
    statuses = [result.status for result in results(samples.with_name("run"))]
    assert statuses == ["scored"] + ["unscored"] * (ANSWERS - 1)


def test_what_is_kept_stays_and_what_came_to_nothing_does_not(samples: Path) -> None:
    """The first five verdicts come from the cache: they say nothing of what the server does now."""
    short = samples.with_name("five.jsonl")
    short.write_text("".join(samples.read_text("utf-8").splitlines(keepends=True)[:5]), "utf-8")
    script = Mended(faults.NULL_CONTENT, after=5)
    with JudgeServer(script) as server:
        assert judge("score", short, *server.words).code == 0
        ran = score(samples, server)
        assert ran.code == 3
        script.done = True
        again = score(samples, server)
    assert again.code == 0
    assert {result.status for result in results(samples.with_name("run"))} == {"scored"}


async def test_in_python_it_is_an_error_of_its_own(place: Path) -> None:  # noqa: ARG001
    chunks = (Chunk(chunk_id="a", text="Rooms are open."),)
    many = [Sample(qid=str(n), answer=f"Room {n} is open.", chunks=chunks) for n in range(ANSWERS)]
    with JudgeServer(Mended(faults.NULL_CONTENT)) as server:
        evaluator = Evaluator(server.config(concurrency=1))
        with pytest.raises(JudgeUnhealthy, match="none of the first 20 answers"):
            _ = [each async for each in evaluator.evaluate(many)]
        assert server.calls <= 2 * (FIRST + 1)
        # One answer in which nothing can be read is no sign of anything.
        few = [many[0]] * FIRST * 2
        assert len([each async for each in Evaluator(server.config()).evaluate(few)]) == len(few)


def test_a_server_that_is_busy_for_ever_is_waited_for_until_patience_ends(samples: Path) -> None:
    with JudgeServer(lambda _: replies.too_many("0.01")) as server:
        ran = score(samples, server, "--patience", "1")
        assert server.probes > 1
    assert (ran.code, ran.out) == (3, "")
    told = ran.err.splitlines()[-1]
    assert told.startswith("judge: ")
    assert "HTTP 429" in told
    assert not samples.with_name("run").exists()
