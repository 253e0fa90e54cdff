"""The worker process of one batch. It runs the same `Job` as the command line.

It reads its task from standard input and reports on standard output. It stops when standard input
ends: the service closes it to stop the batch, and the system does when the service is killed.
"""

import os
import signal
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Final

from pydantic import Field

from judge.config import Config
from judge.errors import JudgeError
from judge.inputs.runs import INPUT, hold
from judge.jobs.job import Job, Watcher
from judge.records import Record, SampleResult
from judge.records.run import RunRecord
from judge.reports.worst import failures
from judge.service.monitoring import LOG, log_json, usage
from judge.service.problems import Problem, for_log, problem_of
from judge.service.wire import Options, ProblemDetails

UPLOAD: Final = ".upload"
"""The samples of a batch until its run folder has them as its input."""
_REPORT_SECONDS: Final = 0.2
_LOCK_SECONDS: Final = 60.0
"""Time for the worker of a service that was killed to end."""
_NICE: Final = 19
"""Live requests come before a batch where there are too few processors for both (`# D112`)."""
_STOP_SECONDS: Final = 10.0


class Task(Record):
    """The task of a worker. The service sends it as one line of JSON."""

    batch: str
    """The id of the batch."""
    folder: str
    """The run folder of the batch."""
    config: dict[str, object]
    """The settings, secrets included."""
    options: Options
    """The options that the batch was sent with."""


class Report(Record):
    """The state of a batch. The worker sends it as one line of JSON."""

    begun: bool = False
    """Whether the input was checked and the folder taken."""
    samples: int = 0
    """Answers in the batch."""
    kept: int = 0
    """Answers that earlier sessions judged."""
    done: int = 0
    """Answers with a result, the kept ones included."""
    used: dict[str, int] = Field(default_factory=dict)
    """The sums of `monitoring.usage` since the last report."""
    failed: dict[str, int] = Field(default_factory=dict)
    """Claims without a verdict since the last report, by reason."""
    ended: str | None = None
    """`finished` or `failed` in the last report."""
    problem: ProblemDetails | None = None
    """Why the batch failed."""


class _Stop(Exception):
    """The service has closed standard input."""


class _Reporter(Watcher):
    """Sends a report when the job begins and ends, and every `_REPORT_SECONDS` between."""

    def __init__(self, upload: Path) -> None:
        self._upload = upload
        self._report = Report()
        self._done = 0
        self._used: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._reported = 0.0

    def on_start(self, record: RunRecord, kept: int, /) -> None:
        """Remove the upload, of which the run folder has a copy now."""
        self._upload.unlink(missing_ok=True)
        self._report = Report(begun=True, samples=record.input.samples, kept=kept)
        self._done = min(self._done, kept)
        self.send()

    def on_result(self, result: SampleResult, /) -> None:
        """Count the result."""
        self._done += 1
        if self._done > self._report.kept:
            self._used.update(usage(result))
            self._failed.update(each.reason.value for each in failures(result))
        if time.monotonic() - self._reported > _REPORT_SECONDS:
            self.send()

    def on_tick(self, _trouble: str, /) -> None:
        """Report progress while no result arrives."""
        self.send()

    def send(self, ended: str | None = None, problem: ProblemDetails | None = None) -> None:
        """Send a report to the service."""
        new: dict[str, object] = {"done": self._done, "used": dict(self._used)}
        new |= {"failed": dict(self._failed), "ended": ended, "problem": problem}
        self._reported = time.monotonic()
        self._used.clear()
        self._failed.clear()
        with suppress(OSError):  # the service is gone, and standard input has ended too
            sys.stdout.write(self._report.model_copy(update=new).model_dump_json() + "\n")
            sys.stdout.flush()


def judge(task: Task) -> None:
    """Judge the batch, and report how that ended; stop when standard input ends."""
    folder = Path(task.folder)
    upload = folder / UPLOAD
    reporter = _Reporter(upload)
    jobs: list[Job] = []
    threading.Thread(target=_stop_with_input, args=(jobs,), daemon=True).start()
    try:
        config = task.options.config(Config.model_validate(task.config))
        with hold(folder, patience=_LOCK_SECONDS):
            pass
        # An open file is copied into the run folder, which then has all that it needs.
        with (upload if upload.exists() else folder / INPUT).open("rb") as source:
            job = Job(
                source,
                folder,
                config,
                skip_bad_lines=task.options.skip_bad_lines,
                gates=task.options.gates(config),
            )
            jobs.append(job)
            job.run(reporter)
    except _Stop:
        return
    except JudgeError as error:
        LOG.error("batch failed: %s", for_log(error))
        reporter.send("failed", problem_of(error, folder.parent).details())
    except Exception as error:  # noqa: BLE001  the last line of defence
        LOG.error("a bug, or a full disk", exc_info=error)
        detail = f"{type(error).__name__}; the log has more; PUT the batch again to go on"
        reporter.send("failed", Problem("bug", detail).details())
    else:
        reporter.send("finished")


def _stop_with_input(jobs: list[Job]) -> None:
    while os.read(0, 4096):
        continue
    if any(job.stop(_Stop()) for job in jobs):
        time.sleep(_STOP_SECONDS)
    # Nothing is being judged, or the job does not stop. The folder survives this as a kill -9.
    os._exit(1)


def main() -> None:
    """Do the task on standard input."""
    for number in (signal.SIGINT, signal.SIGTERM):
        # A signal to all processes at once is for the service, which then closes standard input.
        signal.signal(number, signal.SIG_IGN)
    os.nice(_NICE)
    line = sys.stdin.buffer.readline()
    if line.endswith(b"\n"):  # else the service stopped meanwhile
        task = Task.model_validate_json(line)
        log_json(batch=task.batch)
        judge(task)


if __name__ == "__main__":
    main()
