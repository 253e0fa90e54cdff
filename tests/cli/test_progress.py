import io
import re

from rich.console import Console

from judge.cli.progress import Progress
from judge.records import (
    Call,
    JudgeOutcome,
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
from tests.comparisons import compared

FULL = Verdict(support=Support.FULL, source="llm", signature="s")
TIMEOUT = Unscored(reason=UnscoredReason.TIMEOUT)


def result(outcome: JudgeOutcome = FULL) -> SampleResult:
    sentence = Sentence(index=0, start=0, end=2, text="A.")
    return aggregate(Sample(qid="q"), [sentence], {0: outcome}, [], signature="s")


def record(samples: int, rejected: int = 0) -> RunRecord:
    source = RunInput(path="in.jsonl", sha256="0", samples=samples, rejected=rejected)
    return RunRecord(signature="s", config={}, versions={}, input=source, started="now")


class ProgressConsole:
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
            self.progress.on_result(result(outcome))


def spoken(text: str) -> list[list[str]]:
    """Return the figures of each line."""
    return [re.findall(r"\d[\d,.]*\d|\d", line) for line in text.splitlines()]


def test_a_plain_line_every_ten_seconds_and_none_sooner() -> None:
    shown = ProgressConsole()
    with shown.progress as progress:
        shown.now = 90.0
        progress.on_tick()
        shown.now = 100.0
        progress.on_start(record(900), 0)
        shown.score(*[FULL] * 20, at=9.9)
        assert shown.lines() == []
        shown.score(*[FULL] * 20, TIMEOUT, at=10)
        shown.score(*[FULL] * 359, at=19.9)
        assert len(shown.lines()) == 1
        shown.score(FULL, at=20.5)
        shown.now += 10
        progress.on_tick("HTTP 503")
    assert spoken(shown.file.getvalue()) == [
        ["21", "900", "2.1"],
        ["401", "900", "19.6", "1"],
        ["401", "900", "13.1", "1", "503"],
    ]


def test_a_run_taken_up_counts_what_this_session_asked() -> None:
    shown = ProgressConsole()
    call = Call(model="m", prompt_tokens=1_000, reply_tokens=200, seconds=0.1)
    paid = result().model_copy(update={"calls": (call, call.model_copy(update={"cached": True}))})
    with shown.progress as progress:
        assert progress.state == "nothing was written"
        progress.on_start(record(100, rejected=2), 40)
        for _ in range(42):
            progress.on_result(paid)
        shown.now += 10
        progress.on_result(compared("q", "f?", "?y"))
        assert "43 of 100" in progress.state
    assert spoken(shown.file.getvalue()) == [
        ["2"],
        ["40", "100"],
        ["43", "100", "0.3", "2,400", "3"],
    ]


def test_a_bar_on_a_terminal_that_leaves_nothing_behind() -> None:
    shown = ProgressConsole(terminal=True)
    with shown.progress as progress:
        progress.on_start(record(4, 1), 1)
        shown.score(FULL, FULL, TIMEOUT, at=60)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.file.getvalue())
    assert "3/4" in text
    assert "answers," not in text  # no plain lines beside the bar
    assert shown.file.getvalue().endswith("\x1b[2K")  # the bar's line is wiped
