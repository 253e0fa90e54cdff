"""How a job gets on: a bar on a terminal, plain lines elsewhere; both on standard error."""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bar
from rich.text import Text

from judge.records import SampleResult
from judge.records.run import RunRecord

_EVERY: Final = 10.0
"""Seconds between plain lines."""
_WHOLE: Final = 10
"""Answers a second from which on a fraction says nothing."""


class Progress:
    """A `judge.job.Watcher` that shows what it is told; use it as a context manager.

    Args:
        also: is given each result, too.
        console: where to show; standard error where left out.
        clock: seconds that never go back.
    """

    def __init__(
        self,
        *,
        also: Callable[[SampleResult], None],
        console: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._also = also
        self._console = console or Console(stderr=True)
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
        self._task: TaskID | None = None
        self._total = self._done = self._kept = self._unscored = self._tokens = 0
        self._began = self._spoke = clock()

    def __enter__(self) -> Self:
        self._bar.start()
        self._task = self._bar.add_task("checking the input", total=None, rate="")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def begun(self, record: RunRecord, kept: int) -> None:
        """The job has its input and its folder."""
        self._total, self._kept = record.input.samples, kept
        self._began = self._spoke = self._clock()
        if record.input.rejected:
            lines = "line" if record.input.rejected == 1 else "lines"
            self._say(f"{record.input.rejected} bad {lines} left out; see rejected.jsonl")
        if kept:
            self._say(f"taking up an unfinished run: {kept} of {self._total} answers are there")
        if self._task is not None:
            self._bar.update(self._task, description="scoring", total=self._total)

    def scored(self, result: SampleResult) -> None:
        """One more result."""
        self._done += 1
        self._unscored += result.scores.unscored
        if (compared := result.correctness) is not None:
            self._unscored += compared.of_answer.unscored + compared.of_reference.unscored
        if self._done > self._kept:  # what an earlier session paid is no cost of this one
            fresh = (call for call in result.calls if not call.cached)
            self._tokens += sum(call.prompt_tokens + call.reply_tokens for call in fresh)
        self._also(result)
        if self._console.is_terminal:
            if self._task is not None:
                self._bar.update(self._task, completed=self._done, rate=self._rate())
        else:
            self._tell()

    def waiting(self) -> None:
        """Nothing may have come for a while: say at least that."""
        if not self._total and self._task is not None:
            self._bar.update(self._task, description="waiting for the server")
        if not self._console.is_terminal:
            self._tell()

    @property
    def said(self) -> str:
        """Where the job stands, for someone who stops it."""
        if not self._total:
            return "nothing was written"
        kept = max(self._done, self._kept)
        return f"{kept} of {self._total} answers are kept; the same command goes on from there"

    def _tell(self) -> None:
        if self._clock() - self._spoke < _EVERY:
            return
        self._spoke = self._clock()
        rate = self._rate()
        done = f"{self._done}/{self._total} answers" + (f", {rate}" if rate else "")
        self._say(done if self._total else "waiting for the server")

    def _rate(self) -> str:
        seconds = self._clock() - self._began
        fresh = max(0, self._done - self._kept)
        rate = ""
        if fresh and seconds > 0:
            speed = fresh / seconds
            rate = f"{speed:.{0 if speed >= _WHOLE else 1}f}/s"
        tokens = f"{self._tokens:,} tokens" if self._tokens else ""
        unscored = f"{self._unscored} unscored" if self._unscored else ""
        return ", ".join(part for part in (rate, tokens, unscored) if part)

    def _say(self, text: str) -> None:
        self._console.print(Text(f"judge: {text}"), soft_wrap=True)
