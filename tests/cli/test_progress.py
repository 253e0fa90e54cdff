import io
import json
import re
from pathlib import Path

import pytest
from pydantic import JsonValue
from rich.console import Console

from judge.cli.app import LOGGER, listen
from judge.cli.ci import Reports
from judge.cli.progress import Progress, score_into
from judge.cli.render.totals import Wish
from judge.config import Config
from judge.evaluator import Evaluator
from judge.files.runs import read_results
from judge.job import Job
from judge.protocols import Judge
from judge.records import (
    Call,
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    Sample,
    SampleResult,
    Sentence,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.records.run import RunInput, RunRecord
from judge.scores.answer import aggregate
from tests.compared import compared

FULL = Verdict(support=Support.FULL, source="llm", signature="s")
NONE = Verdict(support=Support.NONE, source="llm", signature="s")
TIMEOUT = Unscored(reason=UnscoredReason.TIMEOUT)


def result(outcome: JudgeOutcome = FULL) -> SampleResult:
    sentence = Sentence(index=0, start=0, end=2, text="A.")
    return aggregate(Sample(qid="q"), [sentence], {0: outcome}, [], signature="s")


def record(samples: int, rejected: int = 0) -> RunRecord:
    source = RunInput(path="in.jsonl", sha256="0", samples=samples, rejected=rejected)
    return RunRecord(signature="s", config={}, versions={}, input=source, started="now")


class Shown:
    """A progress on a console and a clock of the test's own."""

    def __init__(self, *, terminal: bool = False) -> None:
        self.now = 100.0
        self.file = io.StringIO()
        self.also: list[SampleResult] = []
        console = Console(
            file=self.file, width=80, force_terminal=terminal, color_system=None, no_color=True
        )
        self.progress = Progress(also=self.also.append, console=console, clock=lambda: self.now)

    def lines(self) -> list[str]:
        return self.file.getvalue().splitlines()

    def score(self, *outcomes: JudgeOutcome, at: float) -> None:
        self.now = 100.0 + at
        for outcome in outcomes:
            self.progress.scored(result(outcome))


def test_a_plain_line_every_ten_seconds_and_none_sooner() -> None:
    shown = Shown()
    with shown.progress as progress:
        progress.begun(record(900), 0)
        shown.score(*[FULL] * 20, at=9.9)
        assert shown.lines() == []
        shown.score(*[FULL] * 20, at=10)
        assert shown.lines() == ["judge: 21/900 answers, 2.1/s"]
        shown.score(*[FULL] * 360, at=19.9)
        assert len(shown.lines()) == 1
        shown.score(FULL, at=20.5)
        assert shown.lines()[1:] == ["judge: 401/900 answers, 20/s"]
    assert len(shown.lines()) == 2


def test_the_clock_starts_when_the_input_is_checked() -> None:
    shown = Shown()
    with shown.progress as progress:
        shown.now = 200.0
        progress.begun(record(9), 0)
        shown.score(FULL, at=109.9)
        assert shown.lines() == []
        shown.score(FULL, FULL, FULL, at=120)
        assert shown.lines() == ["judge: 2/9 answers, 0.1/s"]


def test_failures_of_the_comparison_with_the_reference_are_counted_too() -> None:
    shown = Shown()
    with shown.progress as progress:
        progress.begun(record(9), 0)
        shown.now += 10
        progress.scored(compared("q", "f?", "?y"))
    assert shown.lines() == ["judge: 1/9 answers, 0.1/s, 3 unscored"]


def test_a_resumed_run_says_so_and_its_rate_is_of_fresh_answers() -> None:
    shown = Shown()
    with shown.progress as progress:
        progress.begun(record(100), 40)
        shown.score(*[FULL] * 39, at=1)
        shown.score(FULL, at=10)
        shown.score(*[FULL] * 4, at=11)
        shown.score(FULL, at=20)
    assert shown.lines() == [
        "judge: taking up an unfinished run: 40 of 100 answers are there",
        "judge: 40/100 answers",
        "judge: 45/100 answers, 0.2/s",
    ]


def test_tokens_of_this_session_are_counted() -> None:
    shown = Shown()
    shown.progress.begun(record(3), 1)
    call = Call(model="m", prompt_tokens=1_000, reply_tokens=200, seconds=0.1)
    paid = result().model_copy(update={"calls": (call, call.model_copy(update={"cached": True}))})
    shown.progress.scored(paid)  # kept from an earlier session
    shown.progress.scored(paid)
    shown.now += 10
    shown.progress.scored(paid)
    assert shown.lines()[-1] == "judge: 3/3 answers, 0.2/s, 2,400 tokens"


def test_a_long_wait_is_no_silent_one() -> None:
    shown = Shown()
    shown.now += 10
    shown.progress.waiting()
    shown.progress.begun(record(3), 0)
    for seconds in (9, 1):
        shown.now += seconds
        shown.progress.waiting()
    # Whoever comes first, a result or the clock, says the same.
    shown.score(FULL, TIMEOUT, at=25)
    shown.now += 5
    shown.progress.waiting()
    shown.now += 10
    shown.progress.waiting("no answer for 9 of 120 s (HTTP 503: loading)")
    assert shown.lines() == [
        "judge: waiting for the judge",
        "judge: 0/3 answers",
        "judge: 2/3 answers, 0.1/s, 1 unscored",
        "judge: 2/3 answers, 0.1/s, 1 unscored, no answer for 9 of 120 s (HTTP 503: loading)",
    ]


def test_lines_left_out_are_said() -> None:
    for rejected, words in ((1, "1 bad line"), (2, "2 bad lines")):
        shown = Shown()
        shown.progress.begun(record(5, rejected), 0)
        assert shown.lines() == [f"judge: {words} left out; see rejected.jsonl"]


def test_what_is_said_when_it_is_stopped() -> None:
    progress = Shown().progress
    assert progress.said == "nothing was written"
    progress.begun(record(9), 4)
    goes_on = "answers are kept; the same command goes on from there"
    assert progress.said == f"4 of 9 {goes_on}"
    for _ in range(5):
        progress.scored(result())
    assert progress.said == f"5 of 9 {goes_on}"


def test_a_bar_on_a_terminal_that_leaves_nothing_behind() -> None:
    shown = Shown(terminal=True)
    with shown.progress as progress:
        progress.begun(record(4, 1), 1)
        shown.score(FULL, FULL, TIMEOUT, at=60)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.file.getvalue())
    assert "checking the input" in text
    assert "scoring" in text
    assert "3/4" in text
    assert "0.0/s, 1 unscored" in text
    assert "judge: 1 bad line left out" in text
    assert "taking up an unfinished run: 1 of 4" in text
    assert "answers," not in text  # no plain lines beside the bar
    assert shown.file.getvalue().endswith("\x1b[2K")  # the bar's line is wiped


def test_a_note_in_the_middle_stands_on_a_line_of_its_own_above_the_bar() -> None:
    shown = Shown(terminal=True)
    listen()
    with shown.progress:
        LOGGER.warning("the server takes no seed")
    assert "\x1b[2Kjudge: the server takes no seed\n" in shown.file.getvalue()


class Scripted:
    """Answers by the sentence; Ctrl-C comes where it says so."""

    signature = "scripted"

    async def judge(self, request: JudgeRequest) -> Judgment:
        outcomes = {}
        for index in request.ask:
            text = request.sentences[index].text
            if "Ctrl-C" in text:
                raise KeyboardInterrupt
            outcomes[index] = TIMEOUT if "late" in text else NONE if "false" in text else FULL
        return Judgment(outcomes=outcomes)


def job(folder: Path, *answers: str, gold: str | None = None) -> Job:
    source = folder / "in.jsonl"
    lines: list[dict[str, JsonValue]] = [
        {"qid": f"q{i}", "answer": answer, "chunks": [], "gold_answer": gold}
        for i, answer in enumerate(answers)
    ]
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    judge: Judge = Scripted()
    config = Config(concurrency=1, correctness=gold is not None)
    return Job(source, folder / "run", config, evaluator=Evaluator(config, judge=judge))


def score(job: Job, folder: Path, worst: int | None = None) -> int:
    reports = Reports(None, folder / "run")
    return score_into(folder / "run", job, Wish(worst), reports=reports)


TRUE, FALSE = "It is paid.", "It is false."


def test_the_worst_are_printed_and_no_more_than_wanted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert score(job(tmp_path, TRUE, FALSE, "False: false."), tmp_path, worst=1) == 0
    out, err = capsys.readouterr()
    assert "\n✗ none  q1  It is false." in out
    assert "q2" not in out
    assert f"look closer: judge show {tmp_path / 'run'} q1" in out
    assert err == ""
    (tmp_path / "none").mkdir()
    assert score(job(tmp_path / "none", FALSE), tmp_path / "none", worst=0) == 0
    out = capsys.readouterr().out
    assert "worst first" not in out
    assert "q0" not in out


def test_ctrl_c_keeps_what_was_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = [TRUE, TRUE, "It is Ctrl-C.", TRUE, TRUE]
    assert score(job(tmp_path, *answers), tmp_path) == 130
    out, err = capsys.readouterr()
    assert out == ""
    kept = len(list(read_results(tmp_path / "run")))
    assert err == (
        f"judge: interrupted; {kept} of 5 answers are kept; the same command goes on from there\n"
    )
