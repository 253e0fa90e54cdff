"""A review hook from the command line: what it is handed, and how little it can do to a run."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.backends.hook import chosen
from judge.inputs.runs import read_record
from tests.commands import Ran, judge, line, refused, results, start, write
from tests.post_server import PostServer

MODULE = """
import pathlib
import threading

def keep(sample, result, probability):
    with pathlib.Path("kept.txt").open("a", encoding="utf-8") as file:
        file.write(f"{sample.qid} {result.qid} {probability}\\n")

async def fail(sample, result, probability):
    raise ValueError(f"no\\nroom for {sample.answer}")

async def leave(sample, result, probability):
    raise SystemExit(0)

def began():
    pathlib.Path("began.txt").write_text("")

def hang(sample, result, probability):
    began()
    threading.Event().wait()
"""
N = 30


@pytest.fixture
def samples(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (place / "our_hooks.py").write_text(MODULE, encoding="utf-8")
    yield write(place / "in.jsonl", [line(f"问题{n}", f"第{n}室九点开放。") for n in range(N)])
    sys.modules.pop("our_hooks", None)


def hooked(samples: Path, name: str, rate: float = 1.0, *more: str) -> Ran:
    """The command with a hook, run in this process."""
    run = samples.with_name("run")
    words = ("-o", run, "--review-hook", name, "--review-rate", rate, "--force", *more)
    return judge("score", samples, *words)


def kept(place: Path) -> list[str]:
    path = place / "kept.txt"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def test_a_function_gets_the_chosen_answers_and_changes_no_result(
    samples: Path, place: Path
) -> None:
    bare = judge("score", samples, "-o", place / "bare")
    ran = hooked(samples, "our_hooks:keep", 0.3)
    assert (ran.code, ran.err) == (bare.code, bare.err)
    assert results(place / "run") == results(place / "bare")
    drawn = [f"问题{n}" for n in range(N) if chosen(f"问题{n}", 0, 0.3)]
    assert drawn
    assert sorted(kept(place)) == sorted(f"{qid} {qid} 0.3" for qid in drawn)
    record = read_record(place / "run")
    assert record.signature == read_record(place / "bare").signature
    assert record.config["review_rate"] == 0.3
    assert "our_hooks" not in (place / "run" / "run.json").read_text(encoding="utf-8")


def test_a_hook_that_fails_costs_two_lines(samples: Path, place: Path) -> None:
    for name, first in (
        ("fail", "ValueError at our_hooks.py:10 ("),
        ("leave", "SystemExit at our_hooks.py:13 ("),
    ):
        ran = hooked(samples, f"our_hooks:{name}")
        assert ran.code == 0
        one, last = ran.err.splitlines()
        assert one.startswith(f"judge: review hook {name} failed for '问题")
        assert first in one
        assert last == f"judge: review hook {name}: of {N} calls, {N} failed"
        assert len(results(place / "run")) == N
        assert "开放" not in ran.err


def test_a_malformed_hook_is_one_line_before_the_run(samples: Path, place: Path) -> None:
    refused(hooked(samples, "our_hooks:none"), "review hook")
    (place / "judge.toml").write_text('review_hook = "our_hooks:keep"\n')
    refused(judge("score", samples, "-o", place / "run"), "unknown setting 'review_hook'")
    assert not (place / "run").exists()


def test_a_webhook_gets_each_answer_once(
    samples: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_REVIEW_TOKEN", "t0ken-t0ken")
    with PostServer() as server:
        ran = hooked(samples, server.url, 1.0, "--debug")
    assert (ran.code, ran.err) == (0, "")
    made = {r.qid: json.loads(r.model_dump_json()) for r in results(place / "run")}
    assert {str(p.body["qid"]): p.body["result"] for p in server.posted} == made
    assert len(server.posted) == N
    assert {p.headers["Authorization"] for p in server.posted} == {"Bearer t0ken-t0ken"}


def test_ctrl_c_ends_a_run_with_a_hanging_hook(samples: Path, place: Path) -> None:
    # A new process, which the hanging thread must not keep alive.
    words = ("score", str(samples), "-o", str(place / "run"))
    hang = ("--review-hook", "our_hooks:hang", "--review-rate", "1")
    watcher = place / "began.txt"
    os.mkfifo(watcher)
    process = start(*words, *hang)
    watcher.read_text()  # ends once the hook has opened and closed it
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    given_up, interrupted = err.splitlines()
    assert given_up.endswith("were given up before they had ended")
    assert "interrupted" in interrupted
    there = len(results(place / "run"))
    keep = ("--review-hook", "our_hooks:keep", "--review-rate", "1")
    assert judge(*words, *keep).code == 0
    assert len(results(place / "run")) == N
    assert len(kept(place)) == N - there
