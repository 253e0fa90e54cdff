"""The progress of a job, on standard error."""

import time
from collections.abc import Callable
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.text import Text

from judge.cli.terminal import open_console
from judge.config import Config
from judge.inputs.runs import REJECTED
from judge.jobs.job import Watcher
from judge.records import SampleResult
from judge.records.run import RunRecord
from judge.reports.worst import failures
from judge.text.visible import plural

_SECONDS_BETWEEN_LINES: Final = 10.0


class Progress(Watcher):
    """A watcher that shows progress; use it as a context manager.

    A bar on a terminal, plain lines elsewhere; both on standard error. `also` is given each result.
    """

    def __init__(
        self,
        *,
        also: Callable[[SampleResult], None],
        console: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._also = also
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
        self._began = self._printed = clock()
        self._trouble = ""
        self._cost: Callable[[int, int], float | None] = lambda *_: None

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def on_start(self, record: RunRecord, kept: int) -> None:
        """Show what will be scored, and what an earlier session left."""
        is_first = not self._total
        self._total, self._kept, self._done = record.input.samples, kept, min(self._done, kept)
        self._cost = Config.model_validate(record.config).cost
        self._began = self._printed = self._clock()
        if is_first and (rejected := record.input.rejected):
            self._print(f"{rejected} bad {plural(rejected, 'line')} left out; see {REJECTED}")
        if is_first and kept:
            self._print(f"taking up an unfinished run: {kept} of {self._total} answers are there")
        self._bar.update(self._task, description="scoring", total=self._total)

    def on_result(self, result: SampleResult) -> None:
        """Count one more result."""
        self._done += 1
        self._unscored += sum(1 for _ in failures(result))
        if self._done > self._kept:  # an earlier session paid for the others
            fresh = [call for call in result.calls if not call.cached]
            self._prompt += sum(call.prompt_tokens for call in fresh)
            self._reply += sum(call.reply_tokens for call in fresh)
        self._also(result)
        self._bar.update(self._task, completed=self._done, rate=", ".join(self._figures()))
        self._print_line()

    def on_tick(self, trouble: str = "") -> None:
        """Show that the job is at work even if no result arrives."""
        self._trouble = trouble
        self._bar.update(self._task, description=trouble or self._activity)
        self._print_line()

    @property
    def has_begun(self) -> bool:
        """Whether the input is checked and the run folder taken."""
        return self._total > 0

    @property
    def state(self) -> str:
        """The progress in words, for the message of a job that stopped."""
        if not self.has_begun:
            return "nothing was written"
        kept = max(self._done, self._kept)
        are = "answer is" if self._total == 1 else "answers are"
        return f"{kept} of {self._total} {are} kept; the same command goes on from there"

    @property
    def _activity(self) -> str:
        return "scoring" if self._total else "waiting for the judge"

    def _print(self, text: str) -> None:
        self._console.print(Text(f"judge: {text}"), soft_wrap=True)

    def _print_line(self) -> None:
        """Print a line every `_SECONDS_BETWEEN_LINES` seconds if there is no bar."""
        if self._console.is_terminal or self._clock() - self._printed < _SECONDS_BETWEEN_LINES:
            return
        self._printed = self._clock()
        done = [f"{self._done}/{self._total} answers", *self._figures()] if self._total else []
        self._print(", ".join([*done, self._trouble] if self._trouble else done) or self._activity)

    def _figures(self) -> list[str]:
        """Return the answers per second of this session, its tokens, cost and failures."""
        seconds = self._clock() - self._began
        speed = max(0, self._done - self._kept) / seconds if seconds > 0 else 0
        spent, cost = self._prompt + self._reply, self._cost(self._prompt, self._reply)
        figures = {
            f"{speed:.1f}/s": speed,
            f"{spent:,} tokens": spent,
            f"cost {cost:.2f}" if cost else "": cost,
            f"{self._unscored} unscored": self._unscored,
        }
        return [text for text, value in figures.items() if value]
