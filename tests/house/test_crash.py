"""Runs that are cut off: nothing that was paid for is paid for again.

A process is needed for each that dies, and takes a second to start.
"""

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from judge.inputs.runs import read_record, read_summary
from judge.records import Support
from tests.chat_call import ChatCall
from tests.commands import Ran, judge, line, results, start, write
from tests.replies import Answer, Slow, Until, right
from tests.server import JudgeServer
from tests.soak import Name, names_of, stored, texts_of

CONCURRENCY = 4
ANSWERS = texts_of(30)


@pytest.fixture
def samples(place: Path) -> Path:
    return write(place / "in.jsonl", [line(f"q{n}", text) for n, text in enumerate(ANSWERS)])


def command(server: JudgeServer, samples: Path) -> list[object]:
    run = samples.with_name("run")
    return ["score", samples, "-o", run, *server.words, "--concurrency", CONCURRENCY]


def stuck(script: Until, process: subprocess.Popen[str]) -> None:
    """Wait until all that may be in flight hangs: what was answered before is kept by then."""
    while not script.full.wait(0.1):
        assert process.poll() is None, process.communicate()


def asked_since(server: JudgeServer, first: int) -> set[Name]:
    """The sentences the server was asked about, from one request on."""
    return {name for call in server.requests[first:] for name in names_of(call)}


def is_whole(samples: Path, ran: Ran) -> None:
    """That all answers are scored, each by one call, its first."""
    run = samples.with_name("run")
    assert ran.code == 0
    assert [result.qid for result in results(run)] == [f"q{n}" for n in range(len(ANSWERS))]
    assert read_summary(run).supports[Support.FULL] == 2 * len(ANSWERS)
    assert read_summary(run).unscored == {}
    assert stored(ANSWERS) == {(n, index) for n in range(len(ANSWERS)) for index in (0, 1)}


def test_kill_9_twice(samples: Path) -> None:
    script = Until(CONCURRENCY)
    with JudgeServer(script) as server:
        begun, kept = 0, set[Name]()
        for answers in (7, 16):
            script.upto(server.calls + answers - len(kept) // 2)
            # The store's tests show what is lost without this option.
            with start(*command(server, samples), "--durable") as process:
                stuck(script, process)
                process.kill()
                process.communicate()
            assert not asked_since(server, begun) & kept
            begun, before, kept = len(server.requests), kept, stored(ANSWERS)
            assert before < kept
            assert len(kept) == 2 * answers, "nothing that was answered is lost"
        script.upto(float("inf"))
        ran = judge(*command(server, samples))
        assert not asked_since(server, begun) & kept
        assert server.calls == len(ANSWERS) + 2 * CONCURRENCY
        assert server.probes == 1
    is_whole(samples, ran)


def test_ctrl_c(samples: Path) -> None:
    run = samples.with_name("run")
    script = Until(CONCURRENCY)
    script.upto(12)
    with JudgeServer(script) as server:
        with start(*command(server, samples)) as process:
            stuck(script, process)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate()
        assert (process.returncode, out) == (130, "")
        kept = len(results(run))
        assert 12 - CONCURRENCY <= kept <= 12
        assert err.splitlines()[-1].startswith("judge: ")
        begun, before = len(server.requests), stored(ANSWERS)
        script.upto(float("inf"))
        ran = judge(*command(server, samples))
        assert not asked_since(server, begun) & before
        assert server.calls == len(ANSWERS) + CONCURRENCY
    is_whole(samples, ran)
    assert read_record(run).resumed == kept


STEPS = """
import os, signal, sys
from io import BytesIO
from itertools import count
from pathlib import Path
from shutil import copytree, rmtree

from judge import Config, Evaluator
from judge.backends.fake import FakeJudge
from judge.jobs.job import Job

def score(folder, force):
    evaluator = Evaluator(judge=FakeJudge({}))
    how = {"force": force, "skip_bad_lines": True}
    Job(BytesIO(TEXT), folder, Config(), evaluator=evaluator, **how).run()

def die_at(step, folder):
    left = step
    def hook(event, arguments):
        nonlocal left
        path = str(arguments[0]) if arguments else ""
        writes = event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        changes = event in CHANGES and (event == "os.mkdir" or os.path.lexists(path))
        if path.startswith(folder) and (writes or changes):
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(hook)

def contents(folder, *left_out):
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in left_out}
    assert b'"finished": "2' in files["run.json"]
    return {**files, "run.json": b""}

CHANGES = {"os.mkdir", "os.rename", "os.remove"}
TEXT, place = sys.stdin.buffer.read(), Path(sys.argv[1])
score(place / "whole", False)
for force in (False, True):
    for step in count(1):
        folder = place / f"{force}-{step}"
        if force:
            copytree(place / "whole", folder)
        child = os.fork()
        if not child:
            die_at(step, str(folder))
            score(folder, force)
            os._exit(0)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
            break
        done = any('"finished": "2' in path.read_text() for path in folder.glob("run.json"))
        score(folder, force=force or done)
        assert contents(folder) == contents(place / "whole"), step
    print(step - 1)
"""


def test_kill_9_between_any_two_steps(place: Path) -> None:
    lines = [line("a", "It is open."), line("b", "一。"), {"qid": "a"}]
    text = "".join(json.dumps(each) + "\n" for each in lines)
    words = [sys.executable, "-c", STEPS, str(place)]
    top = Path(__file__).parents[2]  # where `tests` is found
    ran = subprocess.run(words, cwd=top, input=text, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert all(int(steps) > 9 for steps in ran.stdout.split())


def test_a_stopped_run_waits_for_calls_in_flight(samples: Path) -> None:
    in_flight = threading.Event()

    def script(request: ChatCall) -> Answer:
        if request.is_probe or request.number < 5:
            return right(request)
        in_flight.set()
        return Slow(0.5, right(request))

    with JudgeServer(script) as server:
        with start(*command(server, samples)) as process:
            assert in_flight.wait(30)
            process.send_signal(signal.SIGTERM)
            out, _ = process.communicate()
        assert (process.returncode, out) == (143, "")
        kept = len(results(samples.with_name("run")))
        assert kept > 5, "what was asked is not thrown away"
        assert judge(*command(server, samples)).code == 0
        assert server.calls == len(ANSWERS), "nor paid for twice"
