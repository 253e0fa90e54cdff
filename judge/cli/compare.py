"""`judge compare`: two or more runs over the same questions."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import typer

from judge.cli.ci import annotate, check_file, hiding_commands, write_markdown
from judge.cli.options import JSON, chosen, takes_language
from judge.cli.render.answers import gate_line
from judge.cli.render.comparison import print_differences
from judge.cli.terminal import output, say_json
from judge.errors import ConfigError, RunError
from judge.inputs.files import placed
from judge.inputs.runs import RECORD, Run, finished_run, made_from, questions, read_run
from judge.messages import LANGUAGE, Messages
from judge.pages.compare import comparison
from judge.records.comparison import RunComparison, RunLine
from judge.reports.compare import WITHOUT, Answers, differences, signatures_apart, with_sentences
from judge.reports.gate import GATED, doubted, gates_code, hold_loss, measured, parse_loss
from judge.review.folder import check_output, write_whole
from judge.scores.answer import SUPPORTING

_APART: Final = (
    "{} and {} were not judged alike: {}; score with the same settings, or add --across-signatures"
)
_LISTED: Final = 5
_ON_PAGE: Final = 300


app = typer.Typer(add_completion=False)


@app.command()
@takes_language
def compare(
    runs: list[Path] | None = typer.Argument(
        None,
        metavar="RUN",
        help="Run folders; the first is what the others are held against.",
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
    """Tell whether another configuration is better, and where it became worse.

    Answers are matched by qid. Each score has its paired difference from the first run, a 95 %
    interval, and p of a paired t test, corrected for how many scores are shown.

    Example: judge compare runs/before runs/after --by language --fail-if-worse faithfulness=0.02

    Example: judge compare runs/perturbed-before runs/perturbed-after --by variant
    """
    asked = _Asked(
        by,
        tuple(dict.fromkeys(_chosen(scores, tuple(GATED)))),
        across_signatures,
        tuple(map(parse_loss, fail_if_worse or ())),
        detect,
        (_ON_PAGE if page_file else _LISTED) if worst is None else worst,
    )
    found, left_out = _found(runs or [], trend)
    sources = [path for run in found for path in made_from(run.folder)]
    if page_file is not None:
        check_output(page_file, sources, force=True)
    if markdown is not None:
        check_file("--markdown", markdown, sources=[*sources, *filter(None, [page_file])])
    report = _compared(found, left_out, asked)
    if page_file is not None:
        write_whole(page_file, comparison(report, LANGUAGE.get()))
    most = _LISTED if worst is None else worst
    if as_json:
        say_json(report.model_dump_json())
    else:
        _print(report, most, page_file)
    if markdown is not None:
        first = [gate_line(gate).plain for gate in report.gates]
        write_markdown(markdown, lambda page: print_differences(report, page, most=most), first)
    untrusted = bool(report.gates) and any(run.untrusted for run in report.runs)
    raise typer.Exit(3 if untrusted else gates_code(report.gates))


class _Asked(NamedTuple):
    """What is compared, and how."""

    by: str | None
    scores: tuple[str, ...]
    across: bool
    worse: Sequence[tuple[str, float]]
    detect: float
    worst: int


def _print(report: RunComparison, most: int, page_file: Path | None) -> None:
    """Print what was found, and annotate the gates that failed where GitHub reads it."""
    with hiding_commands(), output() as page:
        print_differences(report, page, most=most)
        if page_file is not None:
            page.copied(Messages.of("compare")("say.written", path=page_file))
    annotate(report.gates)


def _chosen(names: str | None, known: tuple[str, ...]) -> Iterator[str]:
    for each in [] if names is None else names.replace("，", ",").split(","):
        yield chosen("--scores", each.strip(), known)


def _found(folders: Sequence[Path], trend: Path | None) -> tuple[list[Run], dict[str, str]]:
    """The runs to compare, in their order, and those that are left out, with why."""
    if trend is not None:
        if folders:
            raise ConfigError(f"{folders[0]} and --trend: name runs, or the folder they stand in")
        return _within(trend)
    runs = [finished_run(folder)[0] for folder in folders]
    if len(runs) < 2:  # noqa: PLR2004
        raise ConfigError("name two runs or more, or --trend FOLDER; see judge compare --help")
    return runs, {}


def _within(folder: Path) -> tuple[list[Run], dict[str, str]]:
    """The finished runs in a folder by their start, and what else there is, with why."""
    try:
        names = sorted(each for each in folder.iterdir() if (each / RECORD).exists())
    except OSError as error:
        raise ConfigError(f"--trend {folder}: {error.strerror}; name a folder of runs") from None
    runs, left_out = [], {}
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
        raise ConfigError(f"--trend {folder}: {count}; name a folder of runs")
    return sorted(runs, key=lambda run: run.record.started), left_out


def _compared(runs: Sequence[Run], left_out: dict[str, str], asked: _Asked) -> RunComparison:
    summaries = [run.summary for run in runs if run.summary is not None]
    apart = signatures_apart(summaries)
    if apart and not asked.across:
        pairs = zip(runs, summaries, strict=True)
        other = next((r for r, own in pairs if signatures_apart((summaries[0], own))), runs[-1])
        raise RunError(_APART.format(runs[0].folder, other.folder, "; ".join(apart)))
    means = [measured(summary) for summary in summaries]
    offline = all(summary.by_similarity for summary in summaries)
    names = asked.scores or _measured(means, offline=offline)
    names = tuple(dict.fromkeys((*names, *(name for name, _ in asked.worse))))
    sides = {name: GATED[name] for name in names}
    once = len({run.record.input.sha256 for run in runs}) == 1  # then none asks anything else
    first = _read(runs[0], names, asked.by, once=once)
    told = []
    for run in runs[1:]:
        own = first if run.folder == runs[0].folder else _read(run, names, asked.by, once=once)
        told.append(
            differences(
                str(run.folder),
                own,
                first,
                sides,
                detect=asked.detect,
                most=asked.worst,
                sliced=asked.by is not None,
            )
        )
    last = told[-1] = with_sentences(told[-1], runs[-1].results, first)
    if asked.by is not None and not any(each.slices.keys() - {WITHOUT} for each in told):
        raise ConfigError(f"--by {asked.by!r}: no answer of {runs[0].folder} has such metadata")
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
        by=asked.by,
        offline=offline,
        detect=asked.detect,
        differences=tuple(told),
        left_out=left_out,
        gates=tuple(
            hold_loss(
                name, most, found.interval if (found := last.scores[name]) else None, sides[name]
            )
            for name, most in asked.worse
        ),
    )


def _measured(means: Sequence[Mapping[str, float | None]], *, offline: bool) -> tuple[str, ...]:
    """The scores that any run has; not what says the same again where similarity judges.

    TREC RAG's are compared where they are named: each measure more makes p of all the others less
    telling.
    """
    usual = [name for name in means[0] if name not in SUPPORTING]
    names = [name for name in usual if any(mean[name] is not None for mean in means)]
    return tuple(name for name in names if not (offline and name.endswith("_strict")))


def _read(run: Run, names: Sequence[str], by: str | None, *, once: bool) -> Answers:
    answers = Answers(names, by, None if once else questions(run.folder))
    with placed(str(run.folder)):
        for result in run.results:
            answers.add(result)
    return answers
