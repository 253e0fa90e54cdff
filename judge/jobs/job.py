"""One scoring job: a file of samples into a run folder."""

import asyncio
import hashlib
import json
import os
import platform
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import aclosing, asynccontextmanager, suppress
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import IO, Final, NamedTuple, Protocol

from judge.config import Config
from judge.errors import InputError, JudgeUnhealthy, RunError
from judge.evaluator import Evaluator
from judge.inputs.folder import RunFolder
from judge.inputs.inputs import would_hold
from judge.inputs.runs import REJECTED, has_bytes, misplaced
from judge.inputs.samples import Checked, Rejected, check_samples, drawn, read_samples
from judge.inputs.source import Digest, is_fifo, named
from judge.processes import cores
from judge.records import Sample, SampleResult, Summary, UnscoredReason
from judge.records.run import RunInput, RunRecord
from judge.reports.gate import Gates
from judge.scores.contribution import is_barren, is_fresh
from judge.scores.totals import Totals
from judge.signature import release

BEAT: Final = 1.0
"""Seconds."""
GRACE: Final = 3.0
"""Seconds that questions under way have once the job is to stop."""
_MANY: Final = 200
"""Answers from which on it pays to start processes for them."""
_MOST_WORKERS: Final = 4
_LIBRARIES: Final = ("judge", "nltk", "numpy", "pydantic")
_LOADING: Final = ("sentence-transformers", "torch", "transformers")


class Watcher(Protocol):
    """Is told of a job's progress."""

    def begun(self, record: RunRecord, kept: int) -> None:
        """The input is sound and the folder is ours; `kept` results are there already.

        Told again, with fewer, once one of them proves damaged, or not the next sample's; and where
        the judge is unhealthy, for what it left unscored last is not kept.
        """

    def scored(self, result: SampleResult) -> None:
        """One more result stands on disk; those kept come first."""

    def waiting(self, trouble: str, /) -> None:
        """Time goes by; called every `BEAT` seconds from the moment the input is checked.

        `trouble` says what is the matter with the server that is asked.
        """


class _Task(NamedTuple):
    path: Path
    checked: Checked
    bad: IO[str]
    """The lines that were set aside."""


class Job:
    """Scores one file into one folder, from the start or from where it was cut off.

    The whole input is checked before the first answer is judged, so that a bad line at the end
    costs nothing; with `skip_bad_lines` it goes to `rejected.jsonl`. An open stream, such as
    standard input, is copied into the run folder. Of more than `limit` answers so many are drawn.
    What `gates` say of the totals stands in them.
    """

    def __init__(
        self,
        source: Path | IO[bytes],
        folder: Path,
        config: Config,
        *,
        evaluator: Evaluator | None = None,
        force: bool = False,
        skip_bad_lines: bool = False,
        limit: int | None = None,
        gates: Gates | None = None,
    ) -> None:
        self._source = source
        self._folder = folder
        self._config = config
        self._evaluator = evaluator or Evaluator(config)
        self._force = force
        self._skip = skip_bad_lines
        self._limit = limit
        self._gates = gates or Gates()
        self._stopped: BaseException | None = None
        self._end: Callable[[], object] | None = None
        """Ends what is under way, soon; null before the first answer and behind the last."""

    rejects: Final = REJECTED

    def stop(self, why: BaseException) -> bool:
        """Begin no more answers, and raise this once those under way are done, or `GRACE` is over.

        For a signal's handler. False where nothing is under way.
        """
        if self._end is None or self._stopped is not None:
            return False
        self._stopped = why
        self._end()
        return True

    def run(self, watcher: Watcher) -> Summary:
        """Do the job, in an event loop of its own; returns the totals, kept results included.

        Raises:
            UsageError: the input, the folder or a setting is wrong, or another judge would judge
                than is expected; nothing is half written.
            JudgeUnavailable: the model cannot be asked at all.
            JudgeUnhealthy: nothing usable comes from it; what it left unscored last is not kept.
        """
        clock = time.monotonic()
        with (
            tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as bad,
            RunFolder(self._folder, force=self._force) as folder,
        ):
            # Outside the loop, which would put off a Ctrl-C until a blocking read has ended.
            task = self._check(folder, bad)
            many = min(task.checked.samples, self._limit or task.checked.samples)
            # With a server to wait for, one process is faster: see tests/bench/calls.py.
            computes = many >= _MANY and not self._config.asks_server
            usual = min(cores(), _MOST_WORKERS) if computes else 1
            self._evaluator.workers = min(self._config.workers or usual, many)
            summary, record = asyncio.run(self._score(folder, task, watcher))
            seconds = round(time.monotonic() - clock, 3)
            whole = {"finished": now(), "seconds": seconds, "resumed": folder.kept}
            folder.finish(summary, record.model_copy(update=whole))
            return summary

    @asynccontextmanager
    async def _beating(self, watcher: Watcher) -> AsyncGenerator[None]:
        async def beat() -> None:
            while True:
                await asyncio.sleep(BEAT)
                stopping = "stopping; once more stops it at once" if self._stopped else ""
                watcher.waiting(stopping or self._evaluator.trouble)

        beating = asyncio.create_task(beat())
        try:
            yield
        finally:
            beating.cancel()

    async def _score(
        self, folder: RunFolder, task: _Task, watcher: Watcher
    ) -> tuple[Summary, RunRecord]:
        # A judge that cannot be asked costs nothing that is in the folder, so it is opened first.
        async with self._beating(watcher), self._evaluator:
            record = self._record(task)
            self._gates.expect(record.signature)
            folder.begin(record)
            if self._skip:
                folder.write_lines(REJECTED, task.bad)
            watcher.begun(record, folder.kept)
            totals = Totals(max_unscored=self._config.max_unscored, limited=self._config.limited)
            digest = hashlib.sha256()
            async with (
                self._stoppable(),
                aclosing(self._results(folder, record, task.path, digest, watcher)) as results,
            ):
                async for result in results:
                    totals.add(result)
                    watcher.scored(result)
            if digest.hexdigest() != record.input.sha256:
                # Some results may be of the new text, and nobody can tell which.
                folder.discard()
                raise _changed(task.path)
            summary = priced(totals.summary(), self._config)
            summary = summary.model_copy(update={"drawn_from": record.input.drawn_from})
            return self._gates.hold(summary), record

    @asynccontextmanager
    async def _stoppable(self) -> AsyncGenerator[None]:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        if task is None:
            raise RuntimeError("a job is run by a task")
        end = task.cancel
        self._end = lambda: loop.call_soon_threadsafe(lambda: loop.call_later(GRACE, end))
        try:
            yield
        except asyncio.CancelledError:
            if self._stopped is None:
                raise
        finally:
            self._end = None
        if self._stopped is not None:
            raise self._stopped

    def _until_stopped(self, samples: Iterable[Sample]) -> Iterator[Sample]:
        for sample in samples:
            if self._stopped is not None:
                return
            yield sample

    def _check(self, folder: RunFolder, bad: IO[str]) -> _Task:
        """Read the whole input before the folder is touched: so a bad input costs nothing."""
        source = self._fetch(folder)
        name = str(self._source) if isinstance(self._source, Path) else "standard input"

        def reject(line: Rejected) -> None:
            error = named(line.error, name)
            text = line.text.rstrip("\r\n")
            entry = {"line": line.line, "error": str(error), "text": text}
            bad.write(json.dumps(entry, ensure_ascii=False) + "\n")

        try:
            checked = check_samples(
                source,
                on_bad=reject if self._skip else None,
                max_line=self._config.max_line,
                mapping=self._config.map,
            )
        except InputError as error:
            # The copy is gone when the message is read.
            raise named(error, name) from None
        path = folder.input if source is not self._source else source.absolute()
        bad.seek(0)
        return _Task(path, checked, bad)

    def _record(self, task: _Task) -> RunRecord:
        whole = task.checked.samples
        many = min(whole, self._limit or whole)
        scored = RunInput(
            # A file's name is bytes, and need not be text.
            path=os.fsencode(task.path).decode(errors="backslashreplace"),
            sha256=task.checked.sha256,
            samples=many,
            rejected=task.checked.rejected,
            drawn_from=whole if many < whole else None,
        )
        return record_of(self._evaluator, self._config, scored)

    def _fetch(self, folder: RunFolder) -> Path:
        if not isinstance(self._source, Path):
            return folder.take(self._source)
        if folder.owns(self._source):
            message = f"{self._source}: is a file of the run it would replace; name another -o"
            raise RunError(message)
        if is_fifo(self._source):
            with self._source.open("rb") as stream:
                return folder.take(stream)
        if would_hold(self._source, folder.path):
            message = f"{self._source}: is read whole, and the run would stand in it; "
            raise RunError(f"{message}name an -o elsewhere")
        return self._source

    def _read(self, path: Path, digest: Digest | None = None) -> Iterator[Sample]:
        on_bad = _leave_out if self._skip else None
        config = self._config
        return read_samples(
            path, on_bad=on_bad, digest=digest, max_line=config.max_line, mapping=config.map
        )

    async def _results(
        self, folder: RunFolder, record: RunRecord, path: Path, digest: Digest, watcher: Watcher
    ) -> AsyncGenerator[SampleResult]:
        """The results kept from an earlier session, then those of the samples after them."""
        samples = drawn(self._read(path, digest), record.input, self._config.seed)
        unchanged = False
        for number, kept in enumerate(folder.results(), 1):
            sample = next(samples, None)
            problem = kept if isinstance(kept, str) else misplaced(number, kept, sample)
            if isinstance(kept, SampleResult) and problem is None:
                yield kept
                continue
            with suppress(OSError):  # it is gone
                unchanged = has_bytes(path, record.input)
            if not unchanged:
                raise _changed(path)
            folder.cut(number - 1, str(problem))
            watcher.begun(record, folder.kept)
            samples = chain([] if sample is None else [sample], samples)
            break
        written = sound = folder.kept
        try:
            async with aclosing(self._evaluator.evaluate(self._until_stopped(samples))) as fresh:
                async for result in fresh:
                    folder.append(result)
                    written += 1
                    if not is_barren(result) and (sound == written - 1 or is_fresh(result)):
                        sound = written
                    yield result
        except JudgeUnhealthy:
            if sound < written:
                folder.cut(sound)
                watcher.begun(record, folder.kept)
            raise


def record_of(evaluator: Evaluator, config: Config, scored: RunInput) -> RunRecord:
    """The record of a run that begins now, its evaluator entered."""
    libraries = (
        *_LIBRARIES,
        *(("openai",) if config.asks_server else ()),
        *(_LOADING if config.loads_model else ()),
    )
    python = {"python": platform.python_version()}
    return RunRecord(
        signature=evaluator.signature,
        correctness=evaluator.correctness_signature,
        answer_relevance=evaluator.relevance_signature,
        config=config.model_dump(mode="json"),
        versions=python | {name: release(name) for name in libraries},
        input=scored,
        started=now(),
    )


def priced(summary: Summary, config: Config) -> Summary:
    """With what it cost, and whether a budget cut it short."""
    beside = (summary.correctness, summary.answer_relevance)
    reasons = set(summary.unscored).union(*(each.unscored for each in beside if each))
    reasons.update(summary.repeats.failed if summary.repeats else ())
    cost = config.cost(summary.prompt_tokens, summary.reply_tokens)
    over = config.limited and UnscoredReason.BUDGET in reasons
    return summary.model_copy(update={"cost": cost, "over_budget": over})


def _changed(path: Path) -> RunError:
    return RunError(f"{path}: changed while it was scored; leave it alone, and score it again")


def _leave_out(_: Rejected) -> None:
    """Bad lines were written down when the input was checked."""


def now() -> str:
    """ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")
