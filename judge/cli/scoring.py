"""A job from the terminal's side: progress while it goes on, totals and gates at its end."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from rich.console import Console

from judge.cli.progress import Progress
from judge.cli.render.totals import Ended, print_totals
from judge.cli.terminal import output
from judge.errors import JudgeUnavailable
from judge.job import Job
from judge.messages import Lang
from judge.records import SampleResult
from judge.reports.failures import Failures
from judge.reports.gate import Gate, exit_code, hold
from judge.reports.worst import Worst

INTERRUPTED: Final = 130
"""The shell's code for a command stopped by Ctrl-C."""


class Told(NamedTuple):
    """How a run is told of."""

    strict: bool = False
    """Whether gates are held against the lower limits."""
    worst: int = 5
    """How many of the worst sentences to print."""
    cached: bool = False
    """Whether verdicts are kept, so that another run asks only for what failed."""
    lang: Lang = "en"
    """Of the table of cells."""


def score_into(folder: Path, job: Job, gates: Sequence[Gate], told: Told) -> int:
    """Run the job, print what came of it, and return the exit code."""
    kept, failures = Worst(told.worst), Failures()

    def keep(result: SampleResult) -> None:
        kept.add(result)
        failures.add(result)

    progress = Progress(also=keep)
    try:
        with progress:
            summary = job.run(progress)
    except JudgeUnavailable as error:
        raise JudgeUnavailable(f"{error}; {progress.said}") from None
    except KeyboardInterrupt:
        Console(stderr=True).print(
            f"judge: interrupted; {progress.said}", highlight=False, soft_wrap=True
        )
        return INTERRUPTED
    results = [hold(gate, summary, strict=told.strict) for gate in gates]
    with output() as console:
        ended = Ended(kept.sentences(), failures.first, results, told.cached, told.lang)
        print_totals(summary, ended, folder, console)
    return exit_code(summary, results)
