"""`judge compare`: two or more runs over the same questions."""

from pathlib import Path
from typing import Final

import typer

from judge.cli.app import LOGGER
from judge.cli.options import JSON, several, takes_language
from judge.cli.render.comparison import print_differences
from judge.cli.terminal import Page, say_report
from judge.errors import ConfigError, RunError
from judge.inputs.runs import finished_run, made_from
from judge.inputs.tables import check_output, write_whole
from judge.messages import Messages
from judge.pages.compare import MOST_ANSWERS, comparison, report_beside
from judge.reports.compare import compare_runs
from judge.reports.gate import GATED, UNTRUSTED, gates_code, parse_loss

_MAX_ANSWERS: Final = 5


@takes_language
def compare(
    runs: list[Path] | None = typer.Argument(
        None, metavar="RUN", help="Run folders; the others are compared with the first."
    ),
    *,
    by: str | None = typer.Option(
        None, "--by", metavar="KEY", help="Also compare by the values of this key of the samples."
    ),
    trend: bool = typer.Option(
        False, "--trend", help="Order the runs by their start; leave out unfinished ones."
    ),
    scores: str | None = typer.Option(
        None, metavar="NAME,…", help="The scores to compare, the headline first; by default all."
    ),
    across_signatures: bool = typer.Option(
        False, "--across-signatures", help="Compare runs that were judged in different ways, too."
    ),
    fail_if_worse: list[str] | None = typer.Option(
        None, metavar="NAME=X", help="Exit 1 if the lower limit of the loss is above X."
    ),
    fail_if_mean_worse: list[str] | None = typer.Option(
        None, metavar="NAME=X", help="Exit 1 if the mean loss is above X."
    ),
    page_file: Path | None = typer.Option(
        None, "-o", "--output", metavar="FILE", help="Also write all of it as an HTML page."
    ),
    as_json: bool = JSON,
) -> None:
    """Say whether another configuration is better, and where it became worse.

    Answers are matched by qid. Each score has its paired difference from the first run, a 95 %
    interval, and p of a paired t test, corrected for how many scores are shown. A gate is on the
    loss from the first run to the last: on its mean, or on the lower limit of its 95 % interval.
    Both may be repeated.

    Example: judge compare runs/before runs/after --by language --fail-if-worse faithfulness=0.02

    Example: judge compare runs/perturbed-before runs/perturbed-after --by variant

    Example: judge compare runs/* --trend -o trend.html
    """
    losses = [parse_loss(text, of_mean=False) for text in fail_if_worse or ()]
    losses += [parse_loss(text, of_mean=True) for text in fail_if_mean_worse or ()]
    names = several("--scores", scores, tuple(GATED))
    found = []
    for folder in runs or ():
        try:
            found.append(finished_run(folder))
        except RunError as error:
            if not trend:
                raise
            if folder.is_dir():  # a report among the arguments is no run
                LOGGER.warning("left out: %s", error)
    if len(found) < 2:  # noqa: PLR2004
        raise ConfigError("name two finished runs or more, such as runs/before runs/after")
    if trend:
        found.sort(key=lambda run: run[0].record.started)
    folders = [run.folder for run, _ in found]
    if page_file is not None:
        sources = [path for folder in folders for path in made_from(folder)]
        check_output(page_file, sources, force=True)
    report = compare_runs(
        found,
        names=[str(folder) for folder in folders],
        by=by,
        scores=names,
        losses=losses,
        across=across_signatures,
        worst=MOST_ANSWERS if page_file else _MAX_ANSWERS,
    )
    if page_file is not None:
        reports = [report_beside(folder, page_file) for folder in folders]
        write_whole(page_file, comparison(report, folders, reports))

    def show(page: Page) -> None:
        print_differences(report, page, most=_MAX_ANSWERS)
        if page_file is not None:
            page.copied(Messages.of("compare", "say")("written", path=page_file))

    say_report(report, show, as_json=as_json)
    untrusted = bool(report.gates) and any(run.untrusted for run in report.runs)
    raise typer.Exit(UNTRUSTED if untrusted else gates_code(report.gates))
