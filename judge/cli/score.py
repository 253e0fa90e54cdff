"""`judge score`: the batch job."""

import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import typer
from rich.console import Console

from judge.cli.app import Interrupted, stopping
from judge.cli.options import (
    SAMPLES,
    check_name,
    engine_option,
    file_option,
    gate_option,
    takes_language,
)
from judge.cli.progress import Progress
from judge.cli.render.totals import print_totals
from judge.cli.terminal import Page
from judge.compose import open_hook
from judge.config import Config
from judge.errors import ConfigError, JudgeUnavailable, UsageError, WorkerLost, extra
from judge.evaluator import Evaluator
from judge.inputs.files import (
    PIPED,
    readable,
    run_name,
    standard_input,
)
from judge.inputs.runs import LOCK, OWN, REVIEW, read_record, read_run
from judge.inputs.tables import check_output, replacing, write_whole
from judge.jobs.forecast import SECONDS_PER_CALL, forecast
from judge.jobs.job import Job
from judge.messages import Messages
from judge.records import Summary
from judge.records.comparison import Side
from judge.reports.cases import write_junit
from judge.reports.gate import Gates, describe, doubted, exit_code
from judge.reports.worst import Highlights
from judge.text.visible import counted

if TYPE_CHECKING:
    from judge.cluster.job import ClusterJob

_MARKDOWN_WIDTH: Final = 100


class _FileOptions(NamedTuple):
    """The files that are read and written."""

    output: str | None = file_option(
        None,
        "-o",
        "--output",
        metavar="RUN",
        help="The run folder. Without it, runs/ and the name of SAMPLES.",
        callback=check_name,
    )
    force: bool = file_option(False, "--force", help="Replace a finished run.")
    skip_bad_lines: bool = file_option(
        False, "--skip-bad-lines", help="Write bad lines to rejected.jsonl and go on."
    )
    limit: int | None = file_option(
        None, metavar="N", min=1, help="Score a random sample of N answers, drawn by --seed."
    )
    details: bool = file_option(False, "--details", help="Also print counts and the cells.")
    junit: Path | None = file_option(
        None, metavar="FILE", help="Also write JUnit XML with a test case for each answer."
    )
    markdown: Path | None = file_option(
        None, metavar="FILE", help="Also write the totals as Markdown, for the summary of a CI job."
    )
    review_hook: str | None = file_option(
        None, metavar="NAME", help="Pass some answers to module:object or an http address."
    )

    def reports(self) -> dict[str, Path]:
        """Return the files beside the run folder, by their options."""
        paths = {"--junit": self.junit, "--markdown": self.markdown}
        return {option: path for option, path in paths.items() if path is not None}


class _GateOptions(NamedTuple):
    """The bounds that a summary is checked against."""

    fail_under: list[str] | None = gate_option(
        None, metavar="NAME=X", help="Exit 1 if a score is under X; may be repeated."
    )
    fail_over: list[str] | None = gate_option(
        None, metavar="NAME=X", help="Exit 1 if a rate is over X; may be repeated."
    )
    strict_gate: bool = gate_option(
        False, "--strict-gate", help="Compare the worse limit of the interval, failures counted in."
    )
    expect: str | None = gate_option(
        None,
        metavar="SIGNATURE",
        help="Exit 2 before anything is judged if the judge is another one: llm, similarity, "
        "llm:MODEL, or the beginning of a signature up to a bar.",
    )

    def gates(self) -> Gates:
        """Return the gates; raise ConfigError if one cannot be read."""
        bounds: dict[Side, list[str]]
        bounds = {"least": self.fail_under or [], "most": self.fail_over or []}
        return Gates.read(bounds, self.expect, strict=self.strict_gate)


class _EngineOptions(NamedTuple):
    """The machines that score."""

    engine: Literal["local", "ray"] = engine_option(
        "local", help="Score in this process, or on a Ray cluster."
    )
    address: str | None = engine_option(
        None, metavar="ADDRESS", help="The Ray cluster, such as auto; by default one started here."
    )
    replicas: int | None = engine_option(
        None, metavar="N", min=1, help="The number of Ray actors, each with --concurrency answers."
    )

    def check(self, review_hook: str | None, limit: int | None, *, dry_run: bool) -> None:
        """Raise ConfigError for options that do not go with the engine."""
        if self.engine == "ray":
            other = {"--review-hook": review_hook, "--limit": limit, "--dry-run": dry_run}
            step = "does not work with --engine ray; leave it out"
        else:
            other = {"--address": self.address, "--replicas": self.replicas}
            step = "is for a cluster: add --engine ray, or leave it out"
        for option, value in other.items():
            if value:
                raise ConfigError(f"{option}: {step}")


@takes_language
def score(
    source: str = SAMPLES,
    *,
    files: _FileOptions,
    dry_run: bool = file_option(
        False, "--dry-run", help="Print the number of calls and tokens, and the cost; send nothing."
    ),
    gate_options: _GateOptions,
    engine: _EngineOptions,
    settings: Config,
) -> None:
    """Score a file of answers into a run folder; an interrupted run is resumed.

    Whatever a review hook does, results and exit code stay the same.

    Example: judge score samples.jsonl -o runs/today --fail-under faithfulness=0.9
    """
    if settings.repeat > 1 and not settings.asks_model:
        raise ConfigError(
            f"repeat {settings.repeat}: only a language model is asked again, because other judges "
            "return the same each time; name one with --model, or leave it out"
        )
    engine.check(files.review_hook, files.limit, dry_run=dry_run)
    gates = gate_options.gates()
    if dry_run:
        _print_forecast(source, settings, files)
        return
    file = None if source == PIPED else Path(source)
    folder = Path(files.output or f"runs/{run_name(file.name) if file else 'stdin'}")
    gates.check(settings)
    if gates.bounds and not (gate_options.expect or {"judge", "model"} & settings.model_fields_set):
        typer.echo(
            "judge: the gates check the scores of a judge without a language model; add --model, "
            "or --expect or --judge if that is meant",
            err=True,
        )
    sources = [Path(source), *(folder / name for name in (*OWN, LOCK, REVIEW))]
    for option, path in files.reports().items():
        check_output(path, sources, force=True, option=option)
    job: Job | ClusterJob
    if engine.engine == "ray":
        with extra("ray", "--engine ray"):
            from judge.cluster import job as cluster  # noqa: PLC0415  heavy, and an extra
        job = cluster.ClusterJob(
            source,
            folder,
            settings,
            address=engine.address,
            replicas=engine.replicas,
            force=files.force,
            skip_bad_lines=files.skip_bad_lines,
            gates=gates,
        )
    else:
        hook = None if files.review_hook is None else open_hook(files.review_hook)
        job = Job(
            standard_input() if source == PIPED else source,
            folder,
            settings,
            evaluator=Evaluator(settings, review_hook=hook),
            force=files.force,
            skip_bad_lines=files.skip_bad_lines,
            limit=files.limit,
            gates=gates,
        )
    raise typer.Exit(run_and_print(job, folder, files))


def run_and_print(job: "Job | ClusterJob", folder: Path, files: _FileOptions) -> int:
    """Run the job, print its totals, write the reports, and return the exit code."""
    highlights = Highlights()
    progress = Progress(also=highlights.add)
    try:
        with progress, stopping(job.stop):
            summary = job.run(progress)
        record = read_record(folder)

        def print_on(page: Page) -> None:
            print_totals(summary, record, highlights, folder, page, details=files.details)

        print_on(Page())
        if files.junit is not None:
            _write_junit(files.junit, folder, summary)
        if files.markdown is not None:
            _write_markdown(files.markdown, summary, print_on)
    except BaseException as error:
        # A report of an earlier run would be taken for that of this one.
        if progress.has_begun or not isinstance(error, UsageError):
            for path in files.reports().values():
                path.unlink(missing_ok=True)
        if isinstance(error, KeyboardInterrupt):
            raise Interrupted(progress.state) from None
        if isinstance(error, JudgeUnavailable | WorkerLost):
            raise type(error)(f"{error}; {progress.state}") from None
        raise
    return exit_code(summary)


def _write_junit(path: Path, folder: Path, summary: Summary) -> None:
    lines = [describe(gate) for gate in summary.gates]
    for each in doubted(summary):
        share = f"{100 * (each.unscored_share or 0):.1f}"
        lines.append(Messages.of("cases")("case.untrusted", share=share))
    with replacing(path, "name another --junit") as part:
        part.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            write_junit(file, read_run(folder.resolve()), lines)


def _write_markdown(path: Path, summary: Summary, print_on: Callable[[Page], None]) -> None:
    """Write the gates, and the printed totals as a block of code, in which no markup works."""
    printed = StringIO()
    print_on(Page(Console(file=printed, width=_MARKDOWN_WIDTH, color_system=None)))
    text = printed.getvalue()
    fence = "`" * (1 + max(2, *map(len, re.findall("`+", text)), 0))
    gates = "".join(f"**{describe(gate)}**\n\n" for gate in summary.gates)
    write_whole(path, [f"{gates}{fence}text\n{text}{fence}\n"], "--markdown")


def _print_forecast(source: str, settings: Config, files: _FileOptions) -> None:
    page = Page()
    if not settings.asks_model:
        page.say("no language model is named: no call would be sent, at no cost")
        return
    with readable(source) as path:
        found = forecast(path, settings, limit=files.limit, skip_bad_lines=files.skip_bad_lines)
    unknown = "not known without --input-price and --output-price"
    rows = {
        "answers": f"{found.answers:,}, with {counted(found.claims, 'claim')}, "
        f"{found.kept:,} of them in the cache",
        "calls": f"{found.calls:,}",
        "tokens": f"about {found.prompt_tokens:,} in, {found.reply_tokens:,} out",
        "cost": unknown if found.cost is None else f"about {found.cost:,.4g}",
        "minutes": f"about {found.minutes:,.1f}, at {SECONDS_PER_CALL:g} seconds a call and "
        f"{found.at_once:,} calls at once",
    }
    page.fields(rows.items())
    page.say(
        "nothing was sent; what a reply leaves open, and what --repeat asks again, comes on top"
    )
