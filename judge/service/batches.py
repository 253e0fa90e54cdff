"""Batches: run folders under one folder, each judged by a worker process.

The folders are the whole state. Beside the files of its run, a batch has `.batch.json` with its
options and whether it was cancelled or failed; and `.upload`, its samples as they arrived, until
the run has begun.

Run as a program, this module is the worker. Its argument is the folder of a batch, and the first
line of standard input is the settings, secrets included. It runs the same `Job` as the command
line, writes to standard output why the batch failed, and ends with code 0 where all answers are
judged. It stops when standard input ends: the service closes it to stop the batch, and the system
does when the service is killed.
"""

import asyncio
import json
import os
import re
import secrets
import shutil
import signal
import sys
import threading
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, Self

from pydantic import model_validator

from judge.config import Config
from judge.errors import JudgeError, RunError
from judge.inputs.runs import (
    AGREEMENT,
    INPUT,
    PART,
    RunFolder,
    hold,
    read_document,
    read_record,
    read_summary,
    whole_lines,
)
from judge.inputs.tables import as_json, sync_folder
from judge.jobs.job import Job, Watcher
from judge.records import Record
from judge.records.run import RunRecord
from judge.reports.gate import exit_code
from judge.service.monitoring import LOG, Metrics, log_json
from judge.service.wire import (
    OPEN,
    STATES,
    BatchStatus,
    Options,
    Problem,
    ProblemDetails,
    State,
    for_log,
    problem_of,
)

BATCH_FILE: Final = ".batch.json"
UPLOAD: Final = ".upload"
ID_PATTERN: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_NEW: Final = ".new-"
"""The beginning of the name of a folder whose batch is still arriving, or is being removed."""
_WORKER: Final = (sys.executable, "-P", "-m", "judge.service.batches")
_LOCK_SECONDS: Final = 60.0
"""Time for the worker of a service that was killed to end."""
_NICE: Final = 19
"""Live requests come before a batch where there are too few processors for both (`# D112`)."""
_STOP_SECONDS: Final = 10.0


class BatchRecord(Record):
    """The content of `.batch.json`."""

    schema_: Literal[1] = 1
    """Version of this layout."""
    name: str = ""
    """The sender's name for the batch."""
    owner: str = ""
    """The name of the token that sent it; empty where the service had no tokens."""
    options: Options = Options()
    """How to judge it."""
    arrived: str
    """ISO 8601, UTC."""
    sha256: str
    """Hash of the bytes that arrived."""
    ended: Literal["failed", "cancelled"] | None = None
    """Set where judging stops although the run is not finished."""
    problem: ProblemDetails | None = None
    """Why the batch failed."""

    @model_validator(mode="before")
    @classmethod
    def _of_an_earlier_version(cls, data: Any) -> Any:  # noqa: ANN401  whatever is validated
        """Leave out the size and the unset options that earlier versions wrote."""
        if not isinstance(data, dict) or not isinstance(data.get("options"), dict):
            return data
        options = {name: each for name, each in data["options"].items() if each is not None}
        return {name: each for name, each in data.items() if name != "size"} | {"options": options}


def read_batch(folder: Path) -> BatchRecord:
    """Return the record of a batch; raise RunError if it is absent or damaged."""
    return read_document(folder / BATCH_FILE, BatchRecord, "mend it, or remove the folder")


def write_batch(folder: Path, record: BatchRecord) -> None:
    """Write the record of a batch whole or not at all, also in a power cut."""
    RunFolder(folder).write_lines(BATCH_FILE, [as_json(record)])


@dataclass(eq=False)
class Batch:
    """One batch."""

    id: str
    folder: Path
    record: BatchRecord
    is_finished: bool = False
    task: asyncio.Task[None] | None = None
    """Waits for the batch's turn, then runs the worker; null once judging has ended."""
    worker: asyncio.subprocess.Process | None = None
    """Judges the batch; null before its turn, and once judging has ended."""
    _counted: tuple[int, int] = (0, 0)
    """Results that were counted in a run that is not finished, and their bytes."""

    @property
    def state(self) -> State:
        """The state that the batch is in."""
        if self.record.ended is not None:
            return self.record.ended
        if self.is_finished:
            return "finished"
        if self.worker is None:
            return "queued"
        return "checking" if (self.folder / UPLOAD).exists() else "running"

    def status(self, *, whole: bool = True) -> BatchStatus:
        """Return the status, with `whole` including the totals; reads the folder."""
        # Read once: this runs on a thread, and all parts must be of the same moment.
        record, state = self.record, self.state
        known: dict[str, object] = {"labelled": (self.folder / AGREEMENT).is_file()}
        with suppress(RunError):
            run = read_record(self.folder)
            done = run.input.samples if run.finished else self._count_results()
            known |= {"signature": run.signature, "finished": run.finished, "done": done}
            known |= {"total": run.input.samples, "rejected": run.input.rejected}
            if run.finished and whole:
                summary = read_summary(self.folder)
                known |= {"summary": summary, "exit_code": exit_code(summary)}
        kept = {name: getattr(record, name) for name in ("name", "arrived", "options", "problem")}
        return BatchStatus(id=self.id, state=state, **kept, **known)

    def _count_results(self) -> int:
        """Return the number of results so far; the ones counted before are not read again."""
        done, size = self._counted
        with suppress(FileNotFoundError), (self.folder / PART).open("rb") as file:
            file.seek(size)
            for line in whole_lines(file):
                done += 1
                size += len(line)
        self._counted = done, size
        return done

    async def judged(self, settings: bytes) -> tuple[int, bytes]:
        """Judge the batch in a process; return its exit code, and the problem that it writes."""
        self._counted = 0, 0
        # Ctrl-C does not reach another process group. In another session `nice` would mean nothing
        # (`# D112`).
        self.worker = await asyncio.create_subprocess_exec(
            *_WORKER,
            self.folder,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            process_group=0,
        )
        stdin, stdout = self.worker.stdin, self.worker.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("the worker has no pipes")
        stdin.write(settings)
        try:
            problem = await stdout.read()
        finally:
            stdin.close()
            code = await self.worker.wait()
        return code, problem

    async def stop(self) -> None:
        """Stop judging the batch; its worker ends in order."""
        if self.task is None:
            return
        if self.worker is None:
            self.task.cancel()
        elif self.worker.stdin is not None:
            self.worker.stdin.close()
        await asyncio.wait({self.task})

    def end(
        self, ended: Literal["failed", "cancelled"] | None, problem: ProblemDetails | None = None
    ) -> None:
        """Write whether and why judging has ended; null takes the batch up again."""
        self.record = self.record.model_copy(update={"ended": ended, "problem": problem})
        write_batch(self.folder, self.record)


class Batches:
    """The batches under a folder; an asynchronous context manager that makes and locks the folder.

    `config` has the settings of a batch, before its own options; `running` are judged at a time.
    """

    def __init__(self, data: Path, config: Config, running: int, metrics: Metrics) -> None:
        self.data = data
        self._settings = _with_secrets(config)
        self._places = asyncio.Semaphore(running)
        self._metrics = metrics
        self._batches: dict[str, Batch] = {}
        self._is_closing = False
        self._lock = ExitStack()

    async def __aenter__(self) -> Self:
        try:
            self.data.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"{self.data}: {error.strerror}; name another --data") from None
        step = "stop that one, or name another --data"
        self._lock.enter_context(hold(self.data, "service", step))
        self._metrics.states(lambda state: sum(each.state == state for each in self.all()), STATES)
        for batch in sorted(self._found(), key=lambda each: (each.record.arrived, each.id)):
            self._batches[batch.id] = batch
            if batch.state in OPEN:
                self._begin(batch)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._is_closing = True
        await asyncio.gather(*(each.stop() for each in self.all()))
        self._lock.close()

    def _found(self) -> list[Batch]:
        batches = []
        for folder in self.data.iterdir():
            if folder.name.startswith(_NEW):
                shutil.rmtree(folder, ignore_errors=True)
            elif re.fullmatch(ID_PATTERN, folder.name) and (folder / BATCH_FILE).is_file():
                try:
                    batch = Batch(folder.name, folder, read_batch(folder))
                except RunError as error:
                    LOG.warning("%s", error)
                    continue
                with suppress(RunError):
                    batch.is_finished = read_record(folder).finished is not None
                batches.append(batch)
        return batches

    def all(self) -> list[Batch]:
        """Return every batch, oldest first."""
        return list(self._batches.values())

    def get(self, id_: str) -> Batch:
        """Return the batch with this id; raise `Problem` if no batch has it."""
        if (batch := self._batches.get(id_)) is None:
            raise Problem("not-found", f"there is no batch {id_[:64]!r}; see GET /v1/batches")
        return batch

    def new_folder(self) -> Path:
        """Make a folder to receive a batch in."""
        folder = self.data / f"{_NEW}{secrets.token_hex(8)}"
        folder.mkdir()
        return folder

    async def add(self, folder: Path, id_: str | None, record: BatchRecord) -> tuple[Batch, bool]:
        """Add a batch that arrived in a folder of `new_folder`; return it and whether it is new.

        A known batch with this id, these bytes and options is returned; judging it goes on if it
        failed or was cancelled. Raise `Problem` if it has other bytes or options.
        """
        id_ = id_ or f"b{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
        if id_ not in self._batches:
            await asyncio.to_thread(write_batch, folder, record)
        if (known := self._batches.get(id_)) is not None:  # it may have arrived meanwhile
            for name in ("sha256", "options"):
                if getattr(known.record, name) != getattr(record, name):
                    what = "bytes" if name == "sha256" else name
                    raise Problem("conflict", f"there is a batch {id_!r} with other {what}")
            if known.record.ended is not None:
                await known.stop()
            if known.record.ended is not None:  # no other request took it up meanwhile
                known.end(None)
                self._begin(known)
            return known, False
        batch = Batch(id_, self.data / id_, record)
        try:
            folder.rename(batch.folder)  # noqa: ASYNC240  at once, before another request's turn
        except OSError:
            detail = f"{id_!r} is the name of something else; choose another"
            raise Problem("conflict", detail) from None
        self._batches[id_] = batch
        for each in (batch.folder, self.data):
            await asyncio.to_thread(sync_folder, each)
        self._begin(batch)
        return batch, True

    async def cancel(self, batch: Batch, *, purge: bool) -> None:
        """Stop judging a batch, and with `purge` remove its folder."""
        if batch.state in OPEN:
            batch.end("cancelled")
        await batch.stop()
        if purge and self._batches.pop(batch.id, None) is not None:
            # It gets another name first: half a folder must not be found again.
            doomed = self.data / f"{_NEW}{secrets.token_hex(8)}"
            with suppress(FileNotFoundError):  # something else has removed it
                batch.folder.rename(doomed)
            await asyncio.to_thread(shutil.rmtree, doomed, ignore_errors=True)

    def _begin(self, batch: Batch) -> None:
        batch.task = asyncio.create_task(self._judge(batch))

    async def _judge(self, batch: Batch) -> None:
        """Judge a batch once it is its turn, and keep how that ended."""
        try:
            async with self._places:
                code, problem = await batch.judged(self._settings)
            if code == 0:
                batch.is_finished = True
                self._metrics.count_batch(await asyncio.to_thread(read_summary, batch.folder))
            elif not (batch.record.ended or self._is_closing or code == -signal.SIGTERM):
                detail = f"its worker ended with code {code}; the log has more; PUT it to go on"
                bug = Problem("bug", detail).details()
                batch.end("failed", ProblemDetails.model_validate_json(problem) if problem else bug)
        except Exception as error:  # noqa: BLE001  one batch must not stop the others
            LOG.error("batch broke", exc_info=error, extra={"entry": {"batch": batch.id}})
            with suppress(OSError, RunError):  # its folder may be gone
                detail = "judging it broke off; the log has more; PUT it again to go on"
                batch.end("failed", Problem("bug", detail).details())
        finally:
            batch.task = batch.worker = None
            LOG.info("batch %s", batch.state, extra={"entry": {"batch": batch.id}})


def _with_secrets(config: Config) -> bytes:
    """Return settings as a line of JSON, secrets included."""
    settings = config.model_dump(mode="json", include=config.model_fields_set)
    if config.headers:
        secret = {name: each.get_secret_value() for name, each in config.headers.items()}
        settings["headers"] = secret
    return f"{json.dumps(settings)}\n".encode()


class _Stop(BaseException):
    """The service has closed standard input."""


class _UploadRemover(Watcher):
    """Removes the upload once the run folder has a copy."""

    def __init__(self, upload: Path) -> None:
        self._upload = upload

    def on_start(self, _record: RunRecord, _kept: int, /) -> None:
        """Remove the upload."""
        self._upload.unlink(missing_ok=True)


def judge(folder: Path, settings: bytes) -> Problem | None:
    """Judge the batch; return why it failed, if it did."""
    upload = folder / UPLOAD
    jobs: list[Job] = []
    threading.Thread(target=_stop_with_input, args=(jobs,), daemon=True).start()
    try:
        options = read_batch(folder).options
        config = options.config(Config.model_validate_json(settings))
        with hold(folder, patience=_LOCK_SECONDS):
            pass
        # An open file is copied into the run folder, which then has all that it needs.
        with (upload if upload.exists() else folder / INPUT).open("rb") as source:
            skips, gates = options.skip_bad_lines, options.gates(config)
            jobs.append(Job(source, folder, config, skip_bad_lines=skips, gates=gates))
            jobs[0].run(_UploadRemover(upload))
    except JudgeError as error:
        LOG.error("batch failed: %s", for_log(error))
        return problem_of(error, folder.parent)
    except Exception as error:  # noqa: BLE001  the last line of defence
        LOG.error("a bug, or a full disk", exc_info=error)
        detail = f"{type(error).__name__}; the log has more; PUT the batch again to go on"
        return Problem("bug", detail)
    return None


def _stop_with_input(jobs: list[Job]) -> None:
    while os.read(0, 4096):
        continue
    if any(job.stop(_Stop()) for job in jobs):
        time.sleep(_STOP_SECONDS)
    # Nothing is being judged, or the job does not stop. The folder survives this as a kill -9.
    os._exit(1)


def main() -> None:
    """Judge the batch in the folder that is the argument."""
    for number in (signal.SIGINT, signal.SIGTERM):
        # A signal to all processes at once is for the service, which then closes standard input.
        signal.signal(number, signal.SIG_IGN)
    os.nice(_NICE)
    folder, settings = Path(sys.argv[1]), sys.stdin.buffer.readline()
    if not settings.endswith(b"\n"):
        sys.exit(1)  # the service stopped meanwhile
    log_json(batch=folder.name)
    with suppress(_Stop, OSError):  # where the service is gone, standard output is closed
        problem = judge(folder, settings)
        if problem is None:
            return
        sys.stdout.write(problem.details().model_dump_json())
        sys.stdout.flush()
    sys.exit(1)


if __name__ == "__main__":
    main()
