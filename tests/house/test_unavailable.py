"""A server that refuses all requests: one line, nothing lost, and the same command resumes."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from judge.inputs.runs import read_summary
from tests import faults
from tests.chat_call import ChatCall
from tests.commands import Ran, cramped, judge, line, results, write
from tests.faults import error
from tests.replies import Answer, Script, Status, right
from tests.server import JudgeServer

ANSWERS = 12
CONCURRENCY = 2

# The server's answer, and a word of the next step.
REFUSALS: Mapping[str, tuple[Answer | Script, str]] = {
    "401": (faults.UNAUTHORIZED, "set OPENAI_API_KEY"),
    "a wrong key": (faults.wrong_key, "set OPENAI_API_KEY"),
    "402": (error(402, "Insufficient credits"), "add credit"),
    "403": (faults.FORBIDDEN, "may use this model"),
    "404": (faults.NO_MODEL, "check --model"),
    "404 page": (Status(404, "<h1>Not found</h1>"), "--base-url ends"),
    "quota": (faults.QUOTA, "add credit"),
}


@pytest.fixture
def samples(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUDGE_ATTEMPTS", "1")
    monkeypatch.setenv("JUDGE_CONCURRENCY", str(CONCURRENCY))
    monkeypatch.setenv("JUDGE_PATIENCE", "0")
    lines = [line(f"q{n}", f"Room {n} is open. 第{n}室开放[1]。") for n in range(ANSWERS)]
    return write(place / "in.jsonl", lines)


def score(samples: Path, server: JudgeServer, *more: object) -> Ran:
    return judge("score", samples, "-o", samples.with_name("run"), *server.words, *more)


def is_told(ran: Ran, server: JudgeServer, step: str) -> None:
    """In one line, that names the model, the server and the next step."""
    assert (ran.code, ran.out) == (2, "")
    told = ran.err.splitlines()[-1]
    assert told.startswith(f"judge: model 'tiny' at {server.base_url} cannot be asked: ")
    assert step in told
    assert "Traceback" not in ran.err


def say(answer: Answer | Script, asked: ChatCall) -> Answer:
    return answer(asked) if callable(answer) else answer


@pytest.mark.parametrize("name", REFUSALS)
def test_before_the_first_answer(samples: Path, name: str) -> None:
    answer, step = REFUSALS[name]
    with JudgeServer(lambda asked: say(answer, asked)) as server:
        ran = score(samples, server)
        assert (server.probes, server.calls) == (1, 0)
    is_told(ran, server, step)
    assert ran.err.count("\n") == 1
    assert not samples.with_name("run").exists()


class Failing:
    """Answer a number of calls, then fail until `mended` is set."""

    def __init__(self, after: int, answer: Answer | Script) -> None:
        self._after, self._answer = after, answer
        self.mended = False

    def __call__(self, asked: ChatCall) -> Answer:
        if self.mended or asked.is_probe or asked.number < self._after:
            return right(asked)
        return say(self._answer, asked)


def is_about_five(kept: int) -> bool:
    """The refusal of the sixth ends the run at once, and may overtake a reply in flight with it."""
    return 5 - CONCURRENCY <= kept <= 5


@pytest.mark.parametrize("name", ["a wrong key", "404 page", "quota"])
def test_in_mid_run(samples: Path, name: str) -> None:
    answer, step = REFUSALS[name]
    script = Failing(5, answer)
    run = samples.with_name("run")
    with JudgeServer(script) as server:
        ran = score(samples, server)
        is_told(ran, server, step)
        assert ran.err.count("\n") == 2  # and the line about what the server takes
        asked = [tuple(asked.sentences.values()) for asked in server.requests if asked.ids]
        assert 6 <= len(asked) <= 5 + 2 * CONCURRENCY  # the first that is refused stops all
        kept = len(results(run))
        assert is_about_five(kept)
        assert not (run / "summary.json").exists()

        script.mended = True
        again = score(samples, server)
        assert again.code == 0
        assert f"taking up an unfinished run: {kept} of 12 answers" in again.err
        later = [tuple(asked.sentences.values()) for asked in server.requests if asked.ids]
        assert not set(asked[:kept]) & set(later[len(asked) :])
        assert server.calls <= len(asked) + ANSWERS - kept
        assert server.probes == 1
    assert len(results(run)) == ANSWERS
    assert read_summary(run).unscored == {}


def test_an_option_that_is_no_longer_taken(samples: Path) -> None:
    refusing = Failing(5, faults.NO_TEMPERATURE)

    def script(asked: ChatCall) -> Answer:
        if refusing.mended and "temperature" in asked.body:
            return faults.NO_TEMPERATURE
        return refusing(asked)

    with JudgeServer(script) as server:
        ran = score(samples, server)
        is_told(ran, server, "the same command will find out anew")
        assert "no longer takes 'temperature'" in ran.err
        refusing.mended = True
        # Numbers made otherwise are no part of that run.
        other = score(samples, server)
        assert (other.code, other.out) == (2, "")
        assert "unfinished run with another signature" in other.err
        assert is_about_five(len(results(samples.with_name("run"))))
        assert score(samples, server, "--force").code == 0
    signatures = read_summary(samples.with_name("run")).signatures
    assert list(signatures.values()) == [ANSWERS]
    assert all("|t:default|" in signature for signature in signatures)


def test_a_finished_run_outlives_a_server_that_is_gone(samples: Path) -> None:
    run = samples.with_name("run")
    with JudgeServer() as server:
        assert score(samples, server, "--no-cache").code == 0
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    ran = score(samples, server, "--no-cache", "--force")
    is_told(ran, server, "is the server running?")
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before
    assert judge("show", run, "q3").code == 0


def test_a_run_all_of_which_is_kept_needs_no_server(samples: Path) -> None:
    with JudgeServer() as server:
        assert score(samples, server).code == 0
    ran = score(samples, server, "--force")
    assert (ran.code, len(results(samples.with_name("run")))) == (0, ANSWERS)


def test_a_full_disk_beneath_the_cache_loses_no_verdict(samples: Path, server: JudgeServer) -> None:
    answers = 5 * ANSWERS
    write(samples, [line(f"q{n}", f"Room {n} is open. 第{n}室开放[1]。") for n in range(answers)])
    full = f"judge: cache {samples.with_name('caches') / 'judge'}: its disk is full ("
    with cramped(30_000):
        ran = score(samples, server)
    assert (ran.code, ran.out, ran.err.count("\n"), server.calls) == (2, "", 1, 0)
    assert ran.err.startswith(full)
    assert ran.err.endswith("free some room, or name another cache directory (--cache-dir)\n")

    with cramped(250_000):
        ran = score(samples, server)
    assert (ran.code, ran.err.count(full)) == (0, 1), ran.err
    lost = int(re.findall(r"what (\d+) calls said is not kept", ran.err)[0])
    assert 0 < lost < answers
    assert read_summary(samples.with_name("run")).unscored == {}
    assert server.calls == answers
    assert score(samples, server, "--force").code == 0
    assert server.calls == answers + lost


def test_a_full_folder_for_temporary_files_is_one_line(samples: Path) -> None:
    with samples.open("a", encoding="utf-8") as lines:
        lines.writelines("no line\n" + "x" * 20_000 + "\n" for _ in range(20))
    with cramped(100_000):
        ran = judge("score", samples, "-o", "run", "--skip-bad-lines")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
