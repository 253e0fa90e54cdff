"""The worker: a process of its own that judges one batch by the same `Job` as the command line.

It is told what to do on standard input, asks on standard output for a place for each answer, and
ends with its parent: the line between them breaks, whoever dies.
"""

import asyncio
import os
import signal
import threading
import time
from collections import Counter, deque
from contextlib import suppress
from pathlib import Path
from typing import Final

from pydantic import Field

from judge.config import Config
from judge.errors import JudgeError
from judge.evaluator import Evaluator
from judge.inputs.folder import hold
from judge.inputs.runs import INPUT
from judge.jobs.job import Job, Watcher
from judge.records import Record, SampleResult
from judge.records.run import RunRecord
from judge.reports.worst import failures
from judge.service.monitoring import LOG, costs, log_json
from judge.service.problems import Problem, problem_of, unquoted
from judge.service.wire import Options, ProblemDetails

UPLOAD: Final = ".upload"
"""The samples of a batch, until its run folder has them as its input."""
ASK: Final = "+"
LEAVE: Final = "-"
_EVERY: Final = 0.2
"""Seconds between two reports."""
_PATIENCE: Final = 60.0
"""Seconds for an earlier worker, whose parent was killed, to end."""
_NICE: Final = 10
"""So much live requests go before it where there is not processor enough for both."""
_LAST: Final = 10.0
"""Seconds to stop in order."""


class Task(Record):
    """What a worker is told, as one line of JSON."""

    batch: str
    """Its id."""
    folder: str
    """Its run folder."""
    config: dict[str, object]
    """The settings, with what is secret: a pipe carries it."""
    options: Options
    """What it was asked with."""


class Report(Record):
    """What a worker says beside asking for places, as one line of JSON."""

    begun: bool = False
    """Whether the input is sound and the folder its own."""
    samples: int = 0
    """Answers in it."""
    rejected: int = 0
    """Bad lines set aside."""
    kept: int = 0
    """Answers judged in earlier sessions."""
    done: int = 0
    """Answers judged, those included."""
    spent: dict[str, int] = Field(default_factory=dict)
    """Since the last report, by the names of `metrics.COSTS`."""
    failed: dict[str, int] = Field(default_factory=dict)
    """Claims without a verdict since then, by reason."""
    ended: str | None = None
    """`finished`, `failed` or `stopped`, where this is the last report."""
    problem: ProblemDetails | None = None
    """Why it has failed."""


class Line:
    """The line to the parent: places come in, reports go out. They are `judge.pool.Places`."""

    def __init__(self, given: int = 0, said: int = 1) -> None:
        self._given, self._out = given, said
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._said: list[str] = []

    def listen(self) -> None:
        """Hear the parent, on this thread, until it says no more."""
        while given := os.read(self._given, 4096):
            with suppress(RuntimeError):  # the loop has closed
                if self._loop is not None:
                    self._loop.call_soon_threadsafe(self._wake, len(given))

    def say(self, text: str) -> None:
        """Tell the parent in a line."""
        data = f"{text}\n".encode()
        with suppress(OSError):  # it is gone, and `listen` sees to it
            while data:
                data = data[os.write(self._out, data) :]

    def _wake(self, places: int) -> None:
        for _ in range(places):
            while self._waiting:
                turn = self._waiting.popleft()
                if not turn.done():
                    turn.set_result(None)
                    break
            else:
                self._say(LEAVE)  # who asked for it has been cancelled

    def _say(self, sign: str) -> None:
        if not self._said and self._loop is not None:
            self._loop.call_soon(self._flush)
        self._said.append(sign)

    def _flush(self) -> None:
        signs, self._said = "".join(self._said), []
        self.say(signs)

    async def __aenter__(self) -> None:
        self._loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = self._loop.create_future()
        self._waiting.append(turn)
        self._say(ASK)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self._say(LEAVE)
            raise

    async def __aexit__(self, *_: object) -> None:
        self._say(LEAVE)


class Reporter(Watcher):
    """A watcher that reports to the parent process."""

    def __init__(self, upload: Path, line: Line) -> None:
        self._upload = upload
        self._line = line
        self._known = Report()
        self._done = 0
        self._spent: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._spoke = 0.0

    def on_start(self, record: RunRecord, kept: int) -> None:
        """The run folder has the samples now."""
        self._upload.unlink(missing_ok=True)
        counts = {"samples": record.input.samples, "rejected": record.input.rejected}
        self._known = Report.model_validate({"begun": True, "kept": kept} | counts)
        self._done = min(self._done, kept)
        self.tell()

    def on_result(self, result: SampleResult) -> None:
        """One more answer."""
        self._done += 1
        if self._done > self._known.kept:
            self._spent.update(costs(result))
            self._failed.update(each.reason.value for each in failures(result))
        if time.monotonic() - self._spoke > _EVERY:
            self.tell()

    def on_tick(self, _trouble: str, /) -> None:
        """Report what is new."""
        self.tell()

    def tell(self, ended: str | None = None, problem: ProblemDetails | None = None) -> None:
        """Report what is new."""
        new: dict[str, object] = {"done": self._done, "spent": dict(self._spent)}
        new |= {"failed": dict(self._failed), "ended": ended, "problem": problem}
        self._spoke = time.monotonic()
        self._spent.clear()
        self._failed.clear()
        self._line.say(self._known.model_copy(update=new).model_dump_json())


def work(task: Task, line: Line) -> None:
    """Judge the batch, and report how that ended."""
    folder = Path(task.folder)
    upload = folder / UPLOAD
    reporter = Reporter(upload, line)
    config = task.options.config(Config.model_validate(task.config))
    try:
        with hold(folder, patience=_PATIENCE):
            pass
        # Opened, and not named: the run copies it, and so holds all that it needs.
        with (upload if upload.exists() else folder / INPUT).open("rb") as source:
            Job(
                source,
                folder,
                config,
                evaluator=Evaluator(config, places=line),
                skip_bad_lines=task.options.skip_bad_lines,
                gates=task.options.gates(config),
            ).run(reporter)
    except KeyboardInterrupt:
        reporter.tell("stopped")
    except JudgeError as error:
        LOG.error("batch failed: %s", unquoted(error))
        found = problem_of(error, **{task.batch: folder, "the_samples": upload})
        reporter.tell("failed", found.details())
    except Exception as error:  # noqa: BLE001  the last line of defence
        LOG.error("a bug, or a full disk", exc_info=error)
        said = f"{type(error).__name__}; the log tells more; PUT it again to go on"
        problem = Problem("bug", said)
        reporter.tell("failed", problem.details())
    else:
        reporter.tell("finished")


def main() -> None:
    """Do what standard input says."""
    with open(0, "rb", buffering=0, closefd=False) as told_:
        task = Task.model_validate_json(told_.readline())
    log_json(batch=task.batch)
    if hasattr(os, "nice"):
        os.nice(_NICE)
    line = Line()

    def hear() -> None:
        """Where the parent has gone, end in order, or at once where that takes long."""
        line.listen()
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(_LAST)
        os._exit(1)

    threading.Thread(target=hear, name="judge-line", daemon=True).start()
    work(task, line)


if __name__ == "__main__":
    main()
