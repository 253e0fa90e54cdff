"""One scoring job: a file of samples into a run folder."""

import asyncio
import os
import platform
import tempfile
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from itertools import chain, takewhile
from pathlib import Path
from typing import IO, Final

from judge import __version__
from judge.config import Config
from judge.errors import JudgeUnhealthy, RunError
from judge.evaluator import Evaluator
from judge.inputs.files import InputName, is_address
from judge.inputs.runs import REJECTED, RunFolder, has_bytes, misplaced
from judge.inputs.samples import Rejected, check_samples, draw_samples, read_samples
from judge.pool import cores
from judge.records import SampleResult, Spent, Summary, UnscoredReason
from judge.records.result import ADDED
from judge.records.run import RunInput, RunRecord
from judge.reports.gate import Gates
from judge.scores.answer import is_barren, is_fresh
from judge.scores.totals import Totals
from judge.signature import release

TICK_SECONDS: Final = 1.0
STOP_SECONDS: Final = 3.0
"""Seconds for the answers in flight to finish once the job is asked to stop."""
_MIN_ANSWERS_FOR_WORKERS: Final = 200
"""Starting worker processes for fewer answers takes longer than it saves."""
_MAX_DEFAULT_WORKERS: Final = 4
_LIBRARIES: Final = ("nltk", "numpy", "pydantic")
_MODEL_LIBRARIES: Final = ("sentence-transformers", "torch", "transformers")


class Watcher:
    """Follows a job. Each method does nothing; override the ones you need."""

    def on_start(self, record: RunRecord, kept: int, /) -> None:
        """Called once the input is checked and the folder is taken.

        `kept` is the number of results that an earlier session left. It is called again with a
        smaller number if some of those results turn out to be damaged, and if the results of an
        unhealthy judge are dropped.
        """

    def on_result(self, result: SampleResult, /) -> None:
        """Called for each result once it is on disk, the kept ones first."""

    def on_tick(self, trouble: str, /) -> None:
        """Called every `TICK_SECONDS` seconds from the moment the input is checked.

        `trouble` describes what is wrong with the judge's server; empty if nothing is.
        """


@dataclass(eq=False)
class Job:
    """Scores one input into one run folder, from the start or from where it was interrupted.

    The whole input is checked before the first answer is judged, so that a bad line at the end
    costs nothing.
    """

    source: str | Path | IO[bytes]
    """A file, folder, pattern or address; an open stream is copied into the run folder."""
    folder: Path
    """The run folder."""
    config: Config
    """The settings."""
    _: KW_ONLY
    evaluator: Evaluator | None = None
    """Scores the samples; made from `config` by default."""
    force: bool = False
    """Replace a finished run, or an unfinished one that differs."""
    skip_bad_lines: bool = False
    """Write bad lines to `rejected.jsonl` and go on, instead of failing."""
    limit: int | None = None
    """Score a random sample of this many answers."""
    gates: Gates = field(default_factory=Gates)
    """Bounds on the totals; their outcome is part of the summary."""
    watcher: Watcher = field(default_factory=Watcher, init=False)
    _stop_reason: BaseException | None = field(default=None, init=False)
    _set_deadline: Callable[[], object] | None = field(default=None, init=False)
    """Ends the scoring after `STOP_SECONDS`; null while nothing is being scored."""

    def __post_init__(self) -> None:
        config = self.config
        self._evaluator = self.evaluator or Evaluator(config)
        self._totals = Totals(max_unscored=config.max_unscored, limited=config.limited)
        self._earlier: Spent | None = None

    def stop(self, reason: BaseException) -> bool:
        """Begin no more answers, wait `STOP_SECONDS` for those in flight, then raise `reason`.

        Signal handlers call this. Return False if nothing is being scored.
        """
        if self._set_deadline is None or self._stop_reason is not None:
            return False
        self._stop_reason = reason
        self._set_deadline()
        return True

    def run(self, watcher: Watcher | None = None) -> Summary:
        """Do the job in an event loop of its own; return the totals, kept results included.

        Raises:
            UsageError: the input, the folder, a setting or the judge is wrong.
            JudgeUnavailable: the model cannot be reached at all.
            JudgeUnhealthy: the judge returns nothing usable; its last unscored results are dropped.
        """
        self.watcher = watcher or self.watcher
        began = time.monotonic()
        with (
            tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as bad,
            RunFolder(self.folder, force=self.force) as folder,
        ):
            # Outside the event loop, which would delay a Ctrl-C until a blocking read has ended.
            path, made_from = self._check(folder, bad)
            self._evaluator.workers = self._workers(made_from.samples)
            summary, record = asyncio.run(self._score(folder, path, made_from, bad))
            seconds = round(time.monotonic() - began, 3)
            ended = {"finished": now(), "seconds": seconds, "resumed": folder.kept}
            folder.finish(summary, record.model_copy(update=ended))
            return summary

    def _check(self, folder: RunFolder, bad: IO[str]) -> tuple[str | Path, RunInput]:
        """Read the whole input before the folder changes; write its bad lines to `bad`."""

        def reject(line: Rejected) -> None:
            bad.write(line.as_json())

        source: InputName
        if isinstance(self.source, str | Path):
            folder.refuse_source(self.source)
            source = self.source
            path = source if is_address(source) else Path(source).absolute()
        else:
            source, path = folder.take(self.source), folder.input
        on_bad = reject if self.skip_bad_lines else None
        checked = check_samples(source, on_bad=on_bad, mapping=self.config.map)
        bad.seek(0)
        samples = min(checked.samples, self.limit or checked.samples)
        return path, RunInput(
            # A file's name is bytes, and need not be text.
            path=os.fsencode(path).decode(errors="backslashreplace"),
            sha256=checked.sha256,
            samples=samples,
            rejected=checked.rejected,
            drawn_from=checked.samples if samples < checked.samples else None,
        )

    def _workers(self, samples: int) -> int:
        # One process is faster if a server judges: tests/bench/calls.py measures it.
        pays = samples >= _MIN_ANSWERS_FOR_WORKERS and not self.config.asks_server
        default = min(cores(), _MAX_DEFAULT_WORKERS) if pays else 1
        return min(self.config.workers or default, samples)

    async def _score(
        self, folder: RunFolder, path: str | Path, made_from: RunInput, bad: IO[str]
    ) -> tuple[Summary, RunRecord]:
        # The evaluator is opened first: an unreachable judge must not cost what is in the folder.
        async with self._ticking(), self._evaluator:
            record = run_record(self._evaluator, self.config, made_from)
            self.gates.expect(record.signature)
            folder.begin(record)
            if self.skip_bad_lines:
                folder.write_lines(REJECTED, bad)
            self.watcher.on_start(record, folder.kept)
            async with self._stoppable(), aclosing(self._results(folder, record, path)) as results:
                async for result in results:
                    self._totals.add(result)
                    self.watcher.on_result(result)
        if not has_bytes(path, made_from):
            # Some results may be of the new text.
            folder.discard()
            raise _changed(path)
        summary = priced(self._totals.summary(), self.config)
        summary = summary.model_copy(update={"drawn_from": made_from.drawn_from})
        return self.gates.hold(summary), record.model_copy(update={"earlier": self._earlier})

    @asynccontextmanager
    async def _ticking(self) -> AsyncGenerator[None]:
        async def tick() -> None:
            while True:
                await asyncio.sleep(TICK_SECONDS)
                stopping = "stopping; once more stops it at once" if self._stop_reason else ""
                self.watcher.on_tick(stopping or self._evaluator.trouble)

        task = asyncio.create_task(tick())
        try:
            yield
        finally:
            task.cancel()

    @asynccontextmanager
    async def _stoppable(self) -> AsyncGenerator[None]:
        """Give the block a deadline once `stop` is called, and raise its reason at the end."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(None) as deadline:
                self._set_deadline = lambda: loop.call_soon_threadsafe(
                    deadline.reschedule, loop.time() + STOP_SECONDS
                )
                yield
        except TimeoutError:
            if self._stop_reason is None:
                raise
        finally:
            self._set_deadline = None
        if self._stop_reason is not None:
            raise self._stop_reason

    async def _results(
        self, folder: RunFolder, record: RunRecord, path: str | Path
    ) -> AsyncGenerator[SampleResult]:
        """Yield the results kept from an earlier session, then those of the samples after them."""
        # Bad lines were written down when the input was checked.
        on_bad = (lambda _: None) if self.skip_bad_lines else None
        read = read_samples(path, on_bad=on_bad, mapping=self.config.map)
        samples = draw_samples(read, record.input, self.config.seed)
        for number, kept in enumerate(folder.results(), 1):
            sample = next(samples, None)
            problem = kept if isinstance(kept, str) else misplaced(number, kept, sample)
            if isinstance(kept, SampleResult) and problem is None:
                yield kept
                continue
            if not has_bytes(path, record.input):
                raise _changed(path)
            folder.cut(number - 1, str(problem))
            self.watcher.on_start(record, folder.kept)
            samples = chain([] if sample is None else [sample], samples)
            break
        written = sound = folder.kept
        if folder.kept:
            self._earlier = with_cost(self._totals.spent(), self.config)
        try:
            rest = takewhile(lambda _: self._stop_reason is None, samples)
            async with aclosing(self._evaluator.evaluate(rest)) as fresh:
                async for result in fresh:
                    folder.append(result)
                    written += 1
                    if not is_barren(result) and (sound == written - 1 or is_fresh(result)):
                        sound = written
                    yield result
        except JudgeUnhealthy:
            if sound < written:
                folder.cut(sound)
                self.watcher.on_start(record, folder.kept)
            raise


def run_record(evaluator: Evaluator, config: Config, made_from: RunInput) -> RunRecord:
    """Return the record of a run that begins now; the evaluator must be open."""
    libraries = (
        *_LIBRARIES,
        *(("openai",) if config.asks_server else ()),
        *(_MODEL_LIBRARIES if config.loads_model else ()),
    )
    own = {"python": platform.python_version(), "judge": __version__}
    return RunRecord(
        signature=evaluator.signature,
        **{ADDED[setting]: made for setting, made in evaluator.added_signatures.items()},
        config=config.model_dump(mode="json"),
        versions=own | {name: release(name) for name in libraries},
        input=made_from,
        started=now(),
    )


def with_cost(spent: Spent, config: Config) -> Spent:
    """Return what calls took with its cost, if the prices are set."""
    cost = config.cost(spent.prompt_tokens, spent.reply_tokens)
    return spent.model_copy(update={"cost": cost})


def priced(summary: Summary, config: Config) -> Summary:
    """Return the summary with its cost, and whether a budget cut the run short."""
    reasons = set(summary.unscored).union(*(each.unscored for each in summary.added.values()))
    reasons.update(summary.repeats.failed if summary.repeats else ())
    cost = config.cost(summary.prompt_tokens, summary.reply_tokens)
    over = config.limited and UnscoredReason.BUDGET in reasons
    return summary.model_copy(update={"cost": cost, "over_budget": over})


def _changed(path: str | Path) -> RunError:
    return RunError(f"{path}: changed while it was scored; leave it alone, and score it again")


def now() -> str:
    """Return the time in UTC as ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
