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
from judge.text.visible import plural

_EVERY: Final = 10.0
"""Seconds between plain lines."""
_WHOLE: Final = 10
"""Answers a second from which on a fraction says nothing."""


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
            self.say(f"{record.input.rejected} bad {lines} left out; see {REJECTED}")
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
    def has_begun(self) -> bool:
        """Whether the input is checked and the run folder taken."""
        return self._total > 0

    @property
    def state(self) -> str:
        """The progress as a text, for the message of a job that stopped."""
        if not self.has_begun:
            return "nothing was written"
        kept = max(self._done, self._kept)
        are = "answer is" if self._total == 1 else "answers are"
        return f"{kept} of {self._total} {are} kept; the same command goes on from there"

    def say(self, text: str) -> None:
        """Print a line."""
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
