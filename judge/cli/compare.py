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
from judge.inputs.runs import RECORD, Run, finished_run, made_from, read_run
from judge.inputs.tables import check_output, write_whole
from judge.messages import Messages
from judge.pages.compare import comparison
from judge.records import Summary
from judge.reports.compare import compare_runs
from judge.reports.gate import GATED, UNTRUSTED, gates_code, parse_loss

_LISTED: Final = 5
_ON_PAGE: Final = 300


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
    trend: Path | None = typer.Option(
        None, metavar="FOLDER", help="All finished runs in a folder, in the order of their start."
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
    """
    losses = [parse_loss(text) for text in fail_if_worse or ()]
    names = several("--scores", scores, tuple(GATED))
    found, left_out = _find_runs(runs or [], trend)
    sources = [path for run, _ in found for path in made_from(run.folder)]
    if page_file is not None:
        check_output(page_file, sources, force=True)
    if markdown is not None:
        check_file("--markdown", markdown, sources=[*sources, *filter(None, [page_file])])
    report = compare_runs(
        found,
        by=by,
        scores=names,
        losses=losses,
        across=across_signatures,
        detect=detect,
        worst=(_ON_PAGE if page_file else _LISTED) if worst is None else worst,
    ).model_copy(update={"left_out": left_out})
    if page_file is not None:
        write_whole(page_file, comparison(report))
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
    folders: Sequence[Path], trend: Path | None
) -> tuple[list[tuple[Run, Summary]], dict[str, str]]:
    """Return the runs in their order, and why other folders of a trend are left out."""
    left_out: dict[str, str] = {}
    if trend is None:
        runs = [finished_run(folder) for folder in folders]
        if len(runs) < 2:  # noqa: PLR2004
            raise ConfigError("name two runs or more, or --trend FOLDER; see judge compare --help")
        return runs, left_out
    if folders:
        raise ConfigError(f"{folders[0]} and --trend: name runs, or the folder they are in")
    try:
        names = sorted(each for each in trend.iterdir() if (each / RECORD).exists())
    except OSError as error:
        raise ConfigError(f"--trend {trend}: {error.strerror}; name a folder of runs") from None
    runs = []
    for name in names:
        try:
            run = read_run(name)
        except RunError as error:
            left_out[str(name)] = str(error)
            continue
        if run.summary is None:
            left_out[str(name)] = "is unfinished"
        else:
            runs.append((run, run.summary))
    if len(runs) < 2:  # noqa: PLR2004
        count = f"holds {len(runs)} of the two finished runs that it takes"
        raise ConfigError(f"--trend {trend}: {count}; name a folder of runs")
    return sorted(runs, key=lambda found: found[0].record.started), left_out
