"""`judge compare`: two or more runs over the same questions."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import typer

from judge.cli.ci import annotate, check_file, hiding_commands, write_markdown
from judge.cli.options import JSON, several, takes_language
from judge.cli.render.answers import gate_line
from judge.cli.render.comparison import print_differences
from judge.cli.terminal import output, say_json
from judge.errors import ConfigError, RunError
from judge.inputs.files import placed
from judge.inputs.runs import RECORD, Run, finished_run, made_from, questions, read_run
from judge.inputs.tables import check_output, write_whole
from judge.messages import Messages
from judge.pages.compare import comparison
from judge.records.comparison import RunComparison, RunLine
from judge.reports.compare import WITHOUT, Answers, differences, signatures_apart, with_sentences
from judge.reports.gate import (
    GATED,
    UNTRUSTED,
    doubted,
    gates_code,
    hold_loss,
    measured,
    parse_loss,
)
from judge.scores.answer import SUPPORTING

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
    wanted = _Wanted(
        by,
        several("--scores", scores, tuple(GATED)),
        across_signatures,
        tuple(map(parse_loss, fail_if_worse or ())),
        detect,
        (_ON_PAGE if page_file else _LISTED) if worst is None else worst,
    )
    found, left_out = _find_runs(runs or [], trend)
    sources = [path for run in found for path in made_from(run.folder)]
    if page_file is not None:
        check_output(page_file, sources, force=True)
    if markdown is not None:
        check_file("--markdown", markdown, sources=[*sources, *filter(None, [page_file])])
    report = _compared(found, left_out, wanted)
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


class _Wanted(NamedTuple):
    """The comparison that is wanted."""

    by: str | None
    scores: tuple[str, ...]
    across: bool
    losses: Sequence[tuple[str, float]]
    """The scores with gates, and the largest loss of each that passes."""
    detect: float
    worst: int


def _find_runs(folders: Sequence[Path], trend: Path | None) -> tuple[list[Run], dict[str, str]]:
    """Return the runs in their order, and why other folders of a trend are left out."""
    left_out: dict[str, str] = {}
    if trend is None:
        runs = [finished_run(folder)[0] for folder in folders]
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
            runs.append(run)
    if len(runs) < 2:  # noqa: PLR2004
        count = f"holds {len(runs)} of the two finished runs that it takes"
        raise ConfigError(f"--trend {trend}: {count}; name a folder of runs")
    return sorted(runs, key=lambda run: run.record.started), left_out


def _compared(runs: Sequence[Run], left_out: dict[str, str], wanted: _Wanted) -> RunComparison:
    summaries = [run.summary for run in runs if run.summary is not None]
    apart = signatures_apart(summaries)
    if apart and not wanted.across:
        pairs = zip(runs, summaries, strict=True)
        other = next((r for r, own in pairs if signatures_apart((summaries[0], own))), runs[-1])
        raise RunError(
            f"{runs[0].folder} and {other.folder} were not judged alike: {'; '.join(apart)}; score "
            "with the same settings, or add --across-signatures"
        )
    means = [measured(summary) for summary in summaries]
    offline = all(summary.by_similarity for summary in summaries)
    names = wanted.scores or _measured(means, offline=offline)
    names = tuple(dict.fromkeys((*names, *(name for name, _ in wanted.losses))))
    sides = {name: GATED[name] for name in names}
    # Runs of one input have the same questions.
    same_input = len({run.record.input.sha256 for run in runs}) == 1

    def read(run: Run) -> Answers:
        answers = Answers(names, wanted.by, None if same_input else questions(run.folder))
        with placed(str(run.folder)):
            for result in run.results:
                answers.add(result)
        return answers

    first = read(runs[0])
    found = [
        differences(
            str(run.folder),
            first if run.folder == runs[0].folder else read(run),
            first,
            sides,
            detect=wanted.detect,
            most=wanted.worst,
            sliced=wanted.by is not None,
        )
        for run in runs[1:]
    ]
    last = found[-1] = with_sentences(found[-1], runs[-1].results, first)
    if wanted.by is not None and not any(each.slices.keys() - {WITHOUT} for each in found):
        raise ConfigError(f"--by {wanted.by!r}: no answer of {runs[0].folder} has such metadata")
    gates = []
    for name, most in wanted.losses:
        score = last.scores[name]
        gates.append(hold_loss(name, most, score.interval if score else None, sides[name]))
    return RunComparison(
        runs=tuple(
            RunLine(
                name=str(run.folder),
                started=run.record.started,
                answers=summary.answers,
                signatures=summary.signatures,
                untrusted=bool(doubted(summary)),
                mean={name: mean[name] for name in names},
            )
            for run, summary, mean in zip(runs, summaries, means, strict=True)
        ),
        sides=sides,
        across=apart,
        by=wanted.by,
        offline=offline,
        detect=wanted.detect,
        differences=tuple(found),
        left_out=left_out,
        gates=tuple(gates),
    )


def _measured(means: Sequence[Mapping[str, float | None]], *, offline: bool) -> tuple[str, ...]:
    """Return the scores that any run has, without those that repeat another by similarity.

    TREC RAG's scores are compared only if they are named: with each additional score, p of all
    others says less.
    """
    usual = [name for name in means[0] if name not in SUPPORTING]
    names = [name for name in usual if any(mean[name] is not None for mean in means)]
    return tuple(name for name in names if not (offline and name.endswith("_strict")))
