"""A job from the terminal's side: progress while it goes on, totals and gates at its end."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.text import Text

from judge.cli.app import stopped_by, stopping
from judge.cli.ci import Reports, unheeded
from judge.cli.render.totals import PLAIN, Ended, Wish, print_totals
from judge.cli.terminal import open_console, output
from judge.config import Config
from judge.errors import JudgeUnavailable, WorkerLost
from judge.inputs.runs import REJECTED
from judge.jobs.job import Watcher
from judge.messages import Lang
from judge.records import SampleResult, Summary
from judge.records.run import RunRecord
from judge.reports.gate import exit_code
from judge.reports.worst import Failures, Findings, Worst
from judge.text.visible import plural

_EVERY: Final = 10.0
"""Seconds between plain lines."""
_WHOLE: Final = 10
"""Answers a second from which on a fraction says nothing."""


class Task(Protocol):
    """A `Job`, here or on a cluster."""

    @property
    def rejects(self) -> str:
        """What of the run folder holds the bad lines."""

    def stop(self, why: BaseException) -> bool:
        """As of `Job`; so is the other."""

    def run(self, watcher: Watcher) -> Summary: ...  # noqa: D102


def score_into(
    folder: Path,
    job: Task,
    wish: Wish = PLAIN,
    lang: Lang = "en",
    *,
    reports: Reports,
    cached: bool = False,
) -> int:
    """Run the job, print what came of it, and return the exit code.

    Where verdicts are `cached`, another run asks only for what failed. What else is to be written
    is written after that.
    """
    findings, worst, failures = Findings(), Worst(wish.kept), Failures()

    def keep(result: SampleResult) -> None:
        findings.add(result)
        worst.add(result)
        failures.add(result)
        reports.add(result)

    progress = Progress(also=keep, rejects=job.rejects)
    try:
        with progress, stopping(job.stop):
            summary = job.run(progress)
    except (JudgeUnavailable, WorkerLost) as error:
        reports.discard()
        raise type(error)(f"{error}; {progress.said}") from None
    except KeyboardInterrupt as error:
        reports.discard()
        progress.say(f"interrupted; {progress.said}")
        return stopped_by(error)
    ended = Ended(findings.found, worst.sentences(), failures.first, cached)
    with unheeded(), output(lang) as page:
        print_totals(summary, ended, folder, page, wish)
    summed_up = wish if wish.worst is not None else PLAIN._replace(worst=wish.kept)
    reports.finish(summary, lambda page: print_totals(summary, ended, folder, page, summed_up))
    return exit_code(summary)


class Progress(Watcher):
    """A watcher that shows progress; use it as a context manager.

    A bar on a terminal, plain lines elsewhere; both on standard error. `also` is given each result.
    """

    def __init__(
        self,
        *,
        also: Callable[[SampleResult], None],
        rejects: str = REJECTED,
        console: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._also, self._rejects = also, rejects
        self._console = console or open_console(stderr=True)
        self._clock = clock
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task("checking the input", total=None, rate="")
        self._total = self._done = self._kept = self._unscored = self._prompt = self._reply = 0
        self._began = self._spoke = clock()
        self._trouble = ""
        self._cost: Callable[[int, int], float | None] = lambda *_: None

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def on_start(self, record: RunRecord, kept: int) -> None:
        """Show what will be scored, and what an earlier session left."""
        again = self._total > 0
        self._total, self._kept = record.input.samples, kept
        self._cost = Config.model_validate(record.config).cost
        self._began = self._spoke = self._clock()
        if record.input.rejected and not again:
            lines = plural(record.input.rejected, "line")
            self.say(f"{record.input.rejected} bad {lines} left out; see {self._rejects}")
        if again and self._done > kept:
            self._done = kept
        elif kept:
            self.say(f"taking up an unfinished run: {kept} of {self._total} answers are there")
        self._bar.update(self._task, description="scoring", total=self._total)

    def on_result(self, result: SampleResult) -> None:
        """One more result."""
        self._done += 1
        self._unscored += result.scores.unscored
        if (compared := result.correctness) is not None:
            self._unscored += compared.of_answer.unscored + compared.of_reference.unscored
        if (related := result.answer_relevance) is not None:
            self._unscored += len(related.failures)
        if self._done > self._kept:  # what an earlier session paid is no cost of this one
            fresh = [call for call in result.calls if not call.cached]
            self._prompt += sum(call.prompt_tokens for call in fresh)
            self._reply += sum(call.reply_tokens for call in fresh)
        self._also(result)
        self._bar.update(self._task, completed=self._done, rate=self._rate())
        self._tell()

    def on_tick(self, trouble: str = "") -> None:
        """Nothing may have come for a while: say at least that."""
        self._trouble = trouble
        waits = "scoring" if self._total else "waiting for the judge"
        self._bar.update(self._task, description=trouble or waits)
        self._tell()

    @property
    def said(self) -> str:
        """Where the job stands, for someone who stops it."""
        if not self._total:
            return "nothing was written"
        kept = max(self._done, self._kept)
        are = "answer is" if self._total == 1 else "answers are"
        return f"{kept} of {self._total} {are} kept; the same command goes on from there"

    def say(self, text: str) -> None:
        """A line of its own."""
        self._console.print(Text(f"judge: {text}"), soft_wrap=True)

    def _tell(self) -> None:
        """Where there is no bar, a line every now and then."""
        if self._console.is_terminal or self._clock() - self._spoke < _EVERY:
            return
        self._spoke = self._clock()
        done = f"{self._done}/{self._total} answers"
        said = _joined(done, self._rate(), self._trouble)
        self.say(said if self._total else self._trouble or "waiting for the judge")

    def _rate(self) -> str:
        """Answers a second since it began, and what they cost."""
        seconds = self._clock() - self._began
        speed = max(0, self._done - self._kept) / seconds if seconds > 0 else 0
        rate = f"{speed:.{0 if speed >= _WHOLE else 1}f}/s" if speed else ""
        spent = self._prompt + self._reply
        tokens = f"{spent:,} tokens" if spent else ""
        cost = self._cost(self._prompt, self._reply)
        priced = f"cost {cost:.2f}" if cost else ""
        return _joined(rate, tokens, priced, f"{self._unscored} unscored" if self._unscored else "")


def _joined(*parts: str) -> str:
    return ", ".join(filter(None, parts))
