"""One scoring job: a file of samples into a run folder."""

import asyncio
import json
import platform
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import IO, Final, Protocol

from judge.config import Config
from judge.errors import RunError
from judge.evaluator import Evaluator
from judge.records import SampleResult, Summary
from judge.records.run import RunInput, RunRecord
from judge.runs import REJECTED, RunFolder, read_results
from judge.samples import Rejected, check_samples, read_samples, sha256_of
from judge.steps.totals import Totals

_LIBRARIES: Final = ("judge", "nltk", "numpy", "pydantic")


class Watcher(Protocol):
    """Is told how a job gets on."""

    def begun(self, record: RunRecord, kept: int) -> None:
        """The input is sound and the folder is ours; `kept` results are there already."""

    def scored(self, result: SampleResult) -> None:
        """One more result stands on disk; those kept come first."""


class Job:
    """Scores one file into one folder, from the start or from where it was cut off.

    The whole input is checked before the first answer is judged, so that a bad line at the end
    costs nothing.

    Args:
        source: JSONL or CSV, or an open stream such as standard input, which is copied into the
            run folder.
        folder: where the run goes.
        config: settings.
        evaluator: what scores; the one `config` describes where left out.
        force: replace a run that stands there.
        skip_bad_lines: write bad lines to `rejected.jsonl` and go on.
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
    ) -> None:
        self._source = source
        self._folder = folder
        self._config = config
        self._evaluator = evaluator or Evaluator(config)
        self._force = force
        self._skip = skip_bad_lines

    def run(self, watcher: Watcher) -> Summary:
        """Do the job, in an event loop of its own; returns the totals, kept results included.

        Raises:
            UsageError: the input, the folder or a setting is wrong; nothing is half written.
            JudgeUnavailable: the model cannot be asked at all.
        """
        clock = time.monotonic()
        with RunFolder(self._folder, force=self._force) as folder:
            # Outside the loop, which would put off a Ctrl-C until a blocking read has ended.
            record, kept = self._begin(folder)
            watcher.begun(record, kept)
            summary = asyncio.run(self._score(folder, record, kept, watcher))
            seconds = round(time.monotonic() - clock, 3)
            whole = {"finished": _now(), "seconds": seconds, "resumed": kept}
            folder.finish(summary, record.model_copy(update=whole))
            return summary

    async def _score(
        self, folder: RunFolder, record: RunRecord, kept: int, watcher: Watcher
    ) -> Summary:
        totals = Totals(seed=self._config.seed, max_unscored=self._config.max_unscored)
        async with aclosing(self._results(Path(record.input.path), kept)) as results:
            position = 0
            async for result in results:
                if position >= kept:
                    folder.append(result)
                position += 1
                totals.add(result)
                watcher.scored(result)
        if sha256_of(Path(record.input.path)) != record.input.sha256:
            message = f"{record.input.path}: changed while it was scored; "
            raise RunError(message + "leave it alone, and score it again with --force")
        return totals.summary()

    def _begin(self, folder: RunFolder) -> tuple[RunRecord, int]:
        """Check the input, then take the folder: in this order a bad input costs nothing."""
        source = self._fetch(folder)
        with tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as bad:

            def reject(rejected: Rejected) -> None:
                entry = {
                    "line": rejected.line,
                    "error": str(rejected.error),
                    "text": rejected.text.rstrip("\r\n"),
                }
                bad.write(json.dumps(entry, ensure_ascii=False) + "\n")

            checked = check_samples(source, on_bad=reject if self._skip else None)
            kept_as = source.absolute() if source is self._source else folder.input
            record = RunRecord(
                signature=self._evaluator.signature,
                config=self._config.model_dump(mode="json"),
                versions={
                    "python": platform.python_version(),
                    **{name: version(name) for name in _LIBRARIES},
                },
                input=RunInput(
                    path=str(kept_as),
                    sha256=checked.sha256,
                    samples=checked.samples,
                    rejected=checked.rejected,
                ),
                started=_now(),
            )
            kept = folder.begin(record)
            if self._skip:
                bad.seek(0)
                folder.write_lines(REJECTED, bad)
        return record, kept

    def _fetch(self, folder: RunFolder) -> Path:
        if not isinstance(self._source, Path):
            return folder.take(self._source)
        if folder.owns(self._source):
            message = f"{self._source}: is a file of the run it would replace; name another -o"
            raise RunError(message)
        if self._source.is_fifo():  # a shell's <(…) can be read only once
            with self._source.open("rb") as stream:
                return folder.take(stream)
        return self._source

    async def _results(self, path: Path, kept: int) -> AsyncGenerator[SampleResult]:
        """The results kept from an earlier session, then those of the samples after them."""
        samples = read_samples(path, on_bad=_leave_out if self._skip else None)
        earlier = read_results(self._folder) if kept else iter(())
        for sample, result in zip(islice(samples, kept), earlier, strict=True):
            if sample.qid != result.qid:
                message = f"{self._folder}: has {result.qid!r} where the input has {sample.qid!r}; "
                raise RunError(message + "discard that run with --force")
            yield result
        async with aclosing(self._evaluator.evaluate(samples)) as fresh:
            async for result in fresh:
                yield result


def _leave_out(_: Rejected) -> None:
    """Bad lines were written down when the input was checked."""


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
