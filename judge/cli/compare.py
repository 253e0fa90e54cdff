"""`judge compare`: two or more runs over the same questions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import typer

from judge.cli.ci import annotate, check_file, hiding_commands, write_markdown
from judge.cli.options import JSON, several, takes_language
from judge.cli.render.answers import gate_line
from judge.cli.render.comparison import print_differences
from judge.cli.terminal import output, say_json
from judge.errors import ConfigError, RunError
from judge.inputs.runs import Run, finished_run, made_from
from judge.inputs.tables import check_output, write_whole
from judge.messages import Messages
from judge.pages.compare import MOST_ANSWERS, comparison, report_beside
from judge.records import Summary
from judge.reports.compare import compare_runs
from judge.reports.gate import GATED, UNTRUSTED, gates_code, parse_loss

_LISTED: Final = 5


app = typer.Typer(add_completion=False)


@app.command()
@takes_language
def compare(
    runs: list[Path] | None = typer.Argument(
        None,
        metavar="RUN",
        help="Run folders; the others are compared with the first.",
    ),
    *,
    by: str | None = typer.Option(
        None,
        "--by",
        metavar="KEY",
        help="Also by the values of this key of the samples, such as judge perturb's variant.",
    ),
    trend: bool = typer.Option(
        False,
        "--trend",
        help="Take the runs in the order of their start; leave out unfinished ones.",
    ),
    scores: str | None = typer.Option(
        None,
        metavar="NAME,…",
        help="The scores to compare, the headline first. Without it, all that were measured.",
    ),
    across_signatures: bool = typer.Option(
        False, "--across-signatures", help="Compare runs that were judged in different ways, too."
    ),
    fail_if_worse: list[str] | None = typer.Option(
        None,
        metavar="NAME=X",
        help="Exit 1 if the last run is worse than the first by more than X: if the lower limit of "
        "the loss's 95 % interval is above X; may be repeated.",
    ),
    fail_if_mean_worse: list[str] | None = typer.Option(
        None,
        metavar="NAME=X",
        help="Exit 1 if the mean loss from the first run to the last is above X; may be repeated.",
    ),
    detect: float = typer.Option(
        0.02,
        metavar="X",
        min=1e-9,
        max=1,
        help="Say how many answers it takes to detect this difference.",
    ),
    worst: int | None = typer.Option(
        None, metavar="N", min=0, help="The number of changed answers to show: 5, or 300 on a page."
    ),
    page_file: Path | None = typer.Option(
        None, "-o", "--output", metavar="FILE", help="Also write all of it as an HTML page."
    ),
    markdown: Path | None = typer.Option(
        None, metavar="FILE", help="Also write what is printed as Markdown, for a pull request."
    ),
    as_json: bool = JSON,
) -> None:
    """Say whether another configuration is better, and where it became worse.

    Answers are matched by qid. Each score has its paired difference from the first run, a 95 %
    interval, and p of a paired t test, corrected for how many scores are shown.

    Example: judge compare runs/before runs/after --by language --fail-if-worse faithfulness=0.02

    Example: judge compare runs/perturbed-before runs/perturbed-after --by variant

    Example: judge compare runs/* --trend -o trend.html
    """
    losses = [parse_loss(text, of_mean=False) for text in fail_if_worse or ()]
    losses += [parse_loss(text, of_mean=True) for text in fail_if_mean_worse or ()]
    names = several("--scores", scores, tuple(GATED))
    found, left_out = _find_runs(runs or [], trend=trend)
    sources = [path for run, _ in found for path in made_from(run.folder)]
    if page_file is not None:
        check_output(page_file, sources, force=True)
    if markdown is not None:
        check_file("--markdown", markdown, sources=[*sources, *filter(None, [page_file])])
    report = compare_runs(
        found,
        names=[str(run.folder) for run, _ in found],
        by=by,
        scores=names,
        losses=losses,
        across=across_signatures,
        detect=detect,
        worst=(MOST_ANSWERS if page_file else _LISTED) if worst is None else worst,
    ).model_copy(update={"left_out": left_out})
    if page_file is not None:
        folders = [run.folder for run, _ in found]
        reports = [report_beside(folder, page_file) for folder in folders]
        write_whole(page_file, comparison(report, folders, reports))
    most = _LISTED if worst is None else worst
    if as_json:
        say_json(report.model_dump_json())
    else:
        with hiding_commands(), output() as page:
            print_differences(report, page, most=most)
            if page_file is not None:
                page.copied(Messages.of("compare", "say")("written", path=page_file))
        annotate(report.gates)
    if markdown is not None:
        first = [gate_line(gate).plain for gate in report.gates]
        write_markdown(markdown, lambda page: print_differences(report, page, most=most), first)
    untrusted = bool(report.gates) and any(run.untrusted for run in report.runs)
    raise typer.Exit(UNTRUSTED if untrusted else gates_code(report.gates))


def _find_runs(
    folders: Sequence[Path], *, trend: bool
) -> tuple[list[tuple[Run, Summary]], dict[str, str]]:
    """Return the runs, a trend's in the order of their start, and why others are left out."""
    left_out: dict[str, str] = {}
    runs = []
    for folder in folders:
        try:
            runs.append(finished_run(folder))
        except RunError as error:
            if not trend:
                raise
            if folder.is_dir():
                left_out[str(folder)] = str(error).removeprefix(f"{folder}: ")
    if len(runs) < 2:  # noqa: PLR2004
        raise ConfigError(
            f"name two finished runs or more, as in judge compare runs/* --trend; found {len(runs)}"
        )
    if trend:
        runs.sort(key=lambda found: found[0].record.started)
    return runs, left_out
