"""Batches: run folders under one folder, each judged by a worker; what stands there is the state.

Beside the files of its run a batch has `.batch.json`, which says what was asked, when, and whether
it was cancelled or failed; and until the run has begun `.upload`, the samples as they came.
"""

import asyncio
import os
import re
import secrets
import shutil
import time
from collections import Counter, deque
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final, Literal, Self

from judge.config import Config
from judge.errors import RunError
from judge.inputs.folder import hold
from judge.inputs.runs import AGREEMENT, INPUT, PART, RECORD, parse, read_record, read_summary
from judge.inputs.tables import replacing, sync_folder
from judge.records import Record
from judge.records.run import RunRecord
from judge.reports.gate import exit_code
from judge.review.folder import as_json, fingerprint
from judge.service.admission import Slots
from judge.service.body import Kept
from judge.service.monitoring import LOG, Metrics
from judge.service.problems import Problem
from judge.service.process import WorkerProcess
from judge.service.wire import OPEN, STATES, BatchStatus, Options, ProblemDetails, State
from judge.service.worker import Report, Task

ASKED: Final = ".batch.json"
ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_NEW: Final = ".new-"
Ended = Literal["failed", "cancelled"]


class Asked(Record):
    """What `.batch.json` holds."""

    schema_: Literal[1] = 1
    """Version of this layout."""
    name: str = ""
    """What whoever sent it calls it."""
    options: Options = Options()
    """What it is to be judged with."""
    arrived: str
    """ISO 8601, UTC."""
    sha256: str
    """Hash of the bytes that came."""
    size: int
    """How many they were."""
    ended: Ended | None = None
    """Whether it goes on no more, though the run is not finished."""
    problem: ProblemDetails | None = None
    """Why it failed."""


@dataclass(eq=False)
class Batch:
    """One batch, as this process knows it."""

    id: str
    folder: Path
    asked: Asked
    finished: bool = False
    report: Report = field(default_factory=Report)
    failures: Counter[str] = field(default_factory=Counter)
    began: float = 0.0
    task: asyncio.Task[None] | None = None
    process: WorkerProcess | None = None
    _totals: dict[str, object] = field(default_factory=dict)

    @property
    def state(self) -> State:
        """Where it stands."""
        return self._state(self.asked)

    def _state(self, asked: Asked) -> State:
        if asked.ended is not None:
            return asked.ended
        if self.finished:
            return "finished"
        if self.task is None:
            return "queued"
        return "running" if self.report.begun else "checking"

    @property
    def open(self) -> bool:
        """Whether something is still to come."""
        return self.state in OPEN

    def status(self, *, whole: bool = True) -> BatchStatus:
        """How it stands; reads the folder. `whole`: with its totals."""
        # Once, for this is a thread of its own: state and problem must be of one moment.
        asked, told, running = self.asked, self.report, self.task is not None
        state = self._state(asked)
        known: dict[str, object] = {"failures": dict(self.failures)}
        if running and told.begun:
            fresh, seconds = told.done - told.kept, time.monotonic() - self.began
            rate = fresh / seconds if fresh > 0 and seconds > 0 else None
            left = (told.samples - told.done) / rate if rate else None
            known |= {"rate": rate and round(rate, 3), "seconds_left": left and round(left, 1)}
        known["labelled"] = (self.folder / AGREEMENT).is_file()
        with suppress(RunError):
            record = read_record(self.folder)
            known |= {"signature": record.signature, "finished": record.finished}
            known["run"] = _public(record) if whole else None
            known |= {"total": record.input.samples, "rejected": record.input.rejected}
            known["done"] = told.done if running else self._counted()
            if record.finished and whole:
                self._totals = self._totals or self._summed()
                known |= self._totals
            elif record.finished:
                known["done"] = record.input.samples
        return BatchStatus(
            id=self.id,
            name=asked.name,
            state=state,
            arrived=asked.arrived,
            options=asked.options,
            problem=asked.problem,
            **known,
        )

    def _summed(self) -> dict[str, object]:
        summary = read_summary(self.folder)
        return {
            "done": summary.answers,
            "summary": summary,
            "exit_code": exit_code(summary),
            "failures": {reason.value: n for reason, n in summary.unscored.items() if n},
            "results_sha256": fingerprint(self.folder),
        }

    def _counted(self) -> int:
        try:
            with (self.folder / PART).open("rb") as file:
                return sum(piece.count(b"\n") for piece in iter(lambda: file.read(1 << 20), b""))
        except FileNotFoundError:
            return 0

    def write(self, ended: Ended | None, problem: ProblemDetails | None = None) -> None:
        """Keep whether it goes on no more, and why, so that it outlives a power cut."""
        self.asked = self.asked.model_copy(update={"ended": ended, "problem": problem})
        write_asked(self.folder, self.asked)


def _public(record: RunRecord) -> RunRecord:
    config = {n: value for n, value in record.config.items() if n not in {"cache_dir", "cache_url"}}
    place = record.input.model_copy(update={"path": INPUT})
    return record.model_copy(update={"config": config, "input": place})


def write_asked(folder: Path, asked: Asked) -> None:
    """Write `.batch.json`, whole or not at all."""
    with (
        replacing(folder / ASKED, "mend that first", follow=False) as part,
        part.open("x", encoding="utf-8") as file,
    ):
        file.write(as_json(asked))
        file.flush()
        os.fsync(file.fileno())


class Batches:
    """All batches under a folder, held by this process while it is entered.

    Args:
        data: the folder; made where it does not exist.
        config: the settings of the service.
        slots: the places for answers in flight.
        running: batches judged at once.
        metrics: are told what the workers report.
    """

    def __init__(
        self, data: Path, config: Config, slots: Slots, running: int, metrics: Metrics
    ) -> None:
        self.data = data
        self._config = config
        self._slots = slots
        self._running = running
        self._metrics = metrics
        self._known: dict[str, Batch] = {}
        self._queue: deque[Batch] = deque()
        self._draining = False
        self._held = ExitStack()

    async def __aenter__(self) -> Self:
        try:
            self.data.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"{self.data}: {error.strerror}; name another --data") from None
        step = "stop that one, or name another --data"
        self._held.enter_context(hold(self.data, "service", step))
        metrics = self._metrics
        metrics.states(lambda state: sum(each.state == state for each in self.all()), STATES)
        for batch in sorted(self._found(), key=_order):
            self._known[batch.id] = batch
            if batch.open:
                self._queue.append(batch)
        self._fill()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.drain()
        self._held.close()

    def _found(self) -> list[Batch]:
        found = []
        for folder in self.data.iterdir():
            if folder.name.startswith(_NEW):  # cut off while it came in: promised to nobody
                shutil.rmtree(folder, ignore_errors=True)
            elif ID.fullmatch(folder.name) and (folder / ASKED).is_file():
                try:
                    asked = parse((folder / ASKED).read_bytes(), Asked, str(folder / ASKED))
                except RunError as error:
                    LOG.warning("%s", error)
                    continue
                finished = False
                if (folder / RECORD).exists():
                    with suppress(RunError):
                        finished = read_record(folder).finished is not None
                found.append(Batch(folder.name, folder, asked, finished))
        return found

    def all(self) -> list[Batch]:
        """Every batch, oldest first."""
        return list(self._known.values())

    def get(self, name: str) -> Batch:
        """The batch of this id; `Problem` where there is none."""
        if (batch := self._known.get(name)) is None:
            raise Problem("not-found", f"there is no batch {name[:64]!r}; see GET /v1/batches")
        return batch

    def fresh(self) -> Path:
        """A new folder to receive a batch in."""
        folder = self.data / f"{_NEW}{secrets.token_hex(8)}"
        folder.mkdir()
        return folder

    async def add(
        self, folder: Path, kept: Kept, name: str | None, label: str, options: Options
    ) -> tuple[Batch, bool]:
        """Take in a batch that lies in a folder of `fresh`; returns it, and whether it is new.

        Of an id that is known the same bytes and options are the same batch, which is taken up
        again where it had failed or was cancelled.

        Raises:
            Problem: other bytes or options stand there under this id.
        """
        arrived = datetime.now(UTC).isoformat(timespec="microseconds")
        asked = Asked(
            name=label, options=options, arrived=arrived, sha256=kept.sha256, size=kept.size
        )
        name = name or f"b{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
        if name not in self._known:
            await asyncio.to_thread(write_asked, folder, asked)
        if (known := self._known.get(name)) is not None:  # by now, too
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
            return await self._again(known, asked), False
        batch = Batch(name, self.data / name, asked)
        try:
            folder.rename(batch.folder)  # noqa: ASYNC240  at once, before anybody else's turn
        except OSError:
            raise Problem(
                "conflict", f"{name!r} is taken by something else; name another"
            ) from None
        self._known[name] = batch
        for each in (batch.folder, self.data):
            await asyncio.to_thread(sync_folder, each)
        self._queue.append(batch)
        self._fill()
        return batch, True

    async def _again(self, batch: Batch, asked: Asked) -> Batch:
        for what, name in (("bytes", "sha256"), ("options", "options")):
            if getattr(batch.asked, name) != getattr(asked, name):
                raise Problem("conflict", f"batch {batch.id!r} is there with other {what}")
        if batch.asked.ended is not None and not self._draining:
            await self._stopped(batch)
            batch.write(None)
            self._queue.append(batch)
            self._fill()
        return batch

    async def cancel(self, batch: Batch, *, purge: bool) -> None:
        """Judge no more of a batch; `purge` removes its folder, too."""
        if batch.open:
            batch.write("cancelled")
            with suppress(ValueError):
                self._queue.remove(batch)
        await self._stopped(batch)
        if purge and self._known.pop(batch.id, None) is not None:
            # Under another name first: half a folder must not be found again.
            gone = self.data / f"{_NEW}{secrets.token_hex(8)}"
            with suppress(FileNotFoundError):  # somebody else has removed it
                batch.folder.rename(gone)
            await asyncio.to_thread(shutil.rmtree, gone, ignore_errors=True)

    async def drain(self) -> None:
        """Stop all workers in order; what they had not done is done after the next start."""
        self._draining = True
        await asyncio.gather(*(self._stopped(each) for each in self.all()))

    async def _stopped(self, batch: Batch) -> None:
        if batch.process is not None and batch.task is not None:
            batch.process.stop()
            await asyncio.wait({batch.task})

    def _fill(self) -> None:
        """Begin batches that wait, as far as there is room."""
        busy = sum(each.task is not None for each in self.all())
        while self._queue and busy < self._running and not self._draining:
            batch = self._queue.popleft()
            batch.report, batch.began = Report(), time.monotonic()
            batch.failures.clear()
            batch.process = self._process(batch)
            batch.task = asyncio.create_task(self._judge(batch, batch.process))
            batch.task.add_done_callback(partial(self._ended, batch))
            busy += 1

    def _ended(self, batch: Batch, done: asyncio.Task[None]) -> None:
        batch.task = batch.process = None
        if not done.cancelled() and (error := done.exception()) is not None:
            LOG.error("batch broke", exc_info=error, extra={"told": {"batch": batch.id}})
            with suppress(OSError, RunError):  # its folder may be gone
                batch.write(
                    "failed",
                    Problem(
                        "bug", "judging it broke off; the log tells more; PUT it again to go on"
                    ).details(),
                )
        LOG.info("batch %s", batch.state, extra={"told": {"batch": batch.id}})
        self._fill()

    async def _judge(self, batch: Batch, process: WorkerProcess) -> None:
        """Run the worker of a batch until it ends."""
        code, last = await process.run(), batch.report
        if last.ended == "finished":
            batch.finished = True
        elif batch.asked.ended is not None or last.ended == "stopped" or self._draining:
            return
        elif last.ended == "failed":
            batch.write("failed", last.problem)
        else:
            said = f"its worker ended with code {code}; the log tells more; PUT it again to go on"
            batch.write("failed", Problem("bug", said).details())

    def _process(self, batch: Batch) -> WorkerProcess:
        config = self._config
        settings = config.model_dump(mode="json", include=set(config.model_fields_set))
        if config.headers:
            secrets_ = {name: each.get_secret_value() for name, each in config.headers.items()}
            settings["headers"] = secrets_
        task = Task(
            batch=batch.id, folder=str(batch.folder), config=settings, options=batch.asked.options
        )
        return WorkerProcess(task, self._slots, lambda report: self._told(batch, report))

    def _told(self, batch: Batch, report: Report) -> None:
        if report.begun and not batch.report.begun:
            batch.began = time.monotonic()
        batch.report = report
        batch.failures.update(report.failed)
        self._metrics.spent("batch", report.spent)
        self._metrics.failed("batch", report.failed)


def _order(batch: Batch) -> tuple[str, str]:
    return batch.asked.arrived, batch.id
