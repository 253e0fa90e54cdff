"""The worker process of one batch. It runs the same `Job` as the command line.

It reads its task from standard input, and at its end writes the outcome to standard output. It
stops when standard input ends: the service closes it to stop the batch, and the system does when
the service is killed.
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
from judge.service.monitoring import LOG, log_json, usage
from judge.service.problems import Problem, for_log, problem_of
from judge.service.wire import Options, ProblemDetails

UPLOAD: Final = ".upload"
"""The samples of a batch until its run folder has them as its input."""
_LOCK_SECONDS: Final = 60.0
"""Time for the worker of a service that was killed to end."""
_NICE: Final = 19
"""Live requests come before a batch where there are too few processors for both (`# D112`)."""
_STOP_SECONDS: Final = 10.0


class BatchTask(Record):
    """The task of a worker. The service sends it as one line of JSON."""

    batch: str
    """The id of the batch."""
    folder: str
    """The run folder of the batch."""
    config: dict[str, object]
    """The settings, secrets included."""
    options: Options
    """The options that the batch was sent with."""


class BatchOutcome(Record):
    """How judging a batch ended, as one line of JSON."""

    used: dict[str, int] = Field(default_factory=dict)
    """The sums of `monitoring.usage` over the answers that this worker judged."""
    finished: bool = False
    """Whether all answers are judged."""
    problem: ProblemDetails | None = None
    """Why the batch failed."""


class _Stop(Exception):
    """The service has closed standard input."""


class _UsageWatcher(Watcher):
    """Adds up what the answers took, and removes the upload once the run folder has a copy."""

    def __init__(self, upload: Path) -> None:
        self.used: Counter[str] = Counter()
        self._upload = upload
        self._kept = self._done = 0

    def on_start(self, _record: RunRecord, kept: int, /) -> None:
        """Remove the upload."""
        self._upload.unlink(missing_ok=True)
        self._kept, self._done = kept, min(self._done, kept)

    def on_result(self, result: SampleResult, /) -> None:
        """Count the result, unless an earlier worker has made it."""
        self._done += 1
        if self._done > self._kept:
            self.used.update(usage(result))


def judge(task: BatchTask) -> BatchOutcome:
    """Judge the batch, and return how that ended; stop when standard input ends."""
    folder = Path(task.folder)
    upload = folder / UPLOAD
    watcher, problem, finished = _UsageWatcher(upload), None, False
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
            job.run(watcher)
        finished = True
    except _Stop:
        pass
    except JudgeError as error:
        LOG.error("batch failed: %s", for_log(error))
        problem = problem_of(error, folder.parent)
    except Exception as error:  # noqa: BLE001  the last line of defence
        LOG.error("a bug, or a full disk", exc_info=error)
        detail = f"{type(error).__name__}; the log has more; PUT the batch again to go on"
        problem = Problem("bug", detail)
    details = problem and problem.details()
    return BatchOutcome(used=dict(watcher.used), finished=finished, problem=details)


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
        task = BatchTask.model_validate_json(line)
        log_json(batch=task.batch)
        outcome = judge(task)
        with suppress(OSError):  # the service is gone, and standard input has ended too
            sys.stdout.write(outcome.model_dump_json() + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
