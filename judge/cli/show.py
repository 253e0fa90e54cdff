"""`judge show`: answers with the evidence for their labels, or lists of sentences and answers."""

import shlex
from collections.abc import Collection, Sequence
from itertools import chain
from pathlib import Path
from typing import Final, get_args

import typer

from judge.cli.options import RUN, chosen, takes_language
from judge.cli.render.answers import Part, conflict, print_answer, print_list
from judge.cli.terminal import Page, lang_option, output
from judge.errors import ConfigError, RunError
from judge.inputs.runs import read_results, samples_of
from judge.records import SampleResult
from judge.records.result import QuadrantWord
from judge.reports.worst import FLAGS, STATUSES, SUPPORTS, Filter, worst_answer
from judge.scores.correctness import read_words
from judge.text.visible import clip, counted

_LISTED: Final = 20
_NO_CELL: Final = (
    "it takes gold evidence (gold_evidence or relevance of the samples) that agrees with itself; "
    "or the run is older: score again with --force"
)


app = typer.Typer(add_completion=False)


@app.command()
@takes_language
def show(
    run: Path = RUN,
    qids: list[str] | None = typer.Argument(
        None, metavar="[QID]…", help="The answers to show. Without one, the worst."
    ),
    *,
    support: str | None = typer.Option(
        None, metavar="LABEL", help=f"List sentences with this label: {', '.join(SUPPORTS)}."
    ),
    flag: str | None = typer.Option(
        None,
        metavar="NAME",
        help="List sentences with this flag, or the answers if it is about a whole answer: "
        f"{', '.join(FLAGS)}.",
    ),
    status: str | None = typer.Option(
        None,
        metavar="NAME",
        help="List answers with this status, or sentences with a citation of this status: "
        f"{', '.join(STATUSES)}.",
    ),
    worst: int | None = typer.Option(
        None, metavar="N", min=1, help="List the N worst sentences, worst first."
    ),
    cell: str | None = typer.Option(
        None,
        metavar="WORDS",
        help="Show the answers of a cell, by words that all apply, such as retrieved,wrong. The "
        f"words: {', '.join(get_args(QuadrantWord))}.",
    ),
    count: int | None = typer.Option(
        None, "-n", metavar="N", min=1, help=f"How many to show: {_LISTED} in a list, else 1."
    ),
    skip: int | None = typer.Option(None, metavar="N", min=0, help="How many to skip."),
) -> None:
    """Show answers with the support, evidence and citations of each sentence; or list many.

    --support, --flag, --status and --worst list sentences or answers in a few lines each, in input
    order or worst first. If several are given, also with --cell and QIDs, all must hold.

    --cell alone shows the answers of one cell of the table that judge score --details prints for
    samples with gold evidence: one at a time, in input order, with the command for the next.

    Example: judge show runs/today q_001

    Example: judge show runs/today --support none --status dangling

    Example: judge show runs/today --cell retrieved,wrong
    """
    try:
        words = frozenset() if cell is None else read_words(cell)
    except ValueError as error:
        raise ConfigError(f"--cell {cell!r} {error}") from None
    values = {"--support": SUPPORTS, "--flag": FLAGS, "--status": STATUSES}
    named = {"--support": support, "--flag": flag, "--status": status}
    given = {option: value for option, value in named.items() if value is not None}
    for option, value in given.items():
        chosen(option, value, values[option])
    paged = count is not None or skip is not None
    if worst is not None and paged:
        raise ConfigError("-n and --skip page through a list; --worst N says how many itself")
    if worst is None and not given:
        if paged and (cell is None or qids):
            raise ConfigError("-n and --skip go with --cell or a list, and without a QID")
        if words and not qids:
            _show_cell(run, words, count or 1, skip or 0)
        else:
            _show_answers(run, qids or [], words)
        return
    results = _answers(run, qids) if qids else read_results(run)
    given |= {} if cell is None else {"--cell": cell}
    command = ["judge", "show", str(run), *(qids or ()), *chain(*given.items())]
    if worst is not None:
        command += ["--worst", str(worst)]
    elif count not in (None, _LISTED):
        command += ["-n", str(count)]
    part = Part(worst or count or _LISTED, skip or 0, worst is not None)
    with output() as page:
        wanted = Filter(support, flag, status, words)
        print_list(results, wanted, part, [*command, *lang_option().split()], page)


def _answers(run: Path, qids: Sequence[str]) -> list[SampleResult]:
    """Return the results with these qids, in the order of the qids.

    Raises:
        RunError: the run lacks one of them.
    """
    found = {result.qid: result for result in read_results(run) if result.qid in set(qids)}
    for qid in qids:
        if qid not in found:
            raise RunError(f"{run}: no answer {clip(qid, 80)!r}; without one, the worst is shown")
    return [found[qid] for qid in dict.fromkeys(qids)]


def _show_answers(run: Path, qids: Sequence[str], words: Collection[QuadrantWord]) -> None:
    worst = None if qids else worst_answer(read_results(run))
    results = _answers(run, qids) if qids else [worst] if worst else []
    if not results:
        raise RunError(f"{run}: no answer claims anything; name one: judge show {run} QID")
    for result in results:
        if words and result.cell is None:
            reason = conflict(result) or _NO_CELL
            raise RunError(f"{run}: answer {result.qid!r} is in no cell: {reason}")
        if result.cell is not None and not set(words).issubset(result.cell.words):
            actual = ", ".join(result.cell.words)
            raise RunError(f"{run}: answer {result.qid!r} is not in that cell; it is {actual}")
    with output() as page:
        _print_answers(run, results, page)


def _show_cell(run: Path, words: Collection[QuadrantWord], count: int, skip: int) -> None:
    """Print `count` answers of a cell in input order, and the command for the next ones."""
    total, any_cell = 0, False
    shown = list[SampleResult]()
    cell = ",".join(word for word in get_args(QuadrantWord) if word in words)
    for result in read_results(run):
        any_cell |= result.cell is not None
        if result.cell is None or not set(words).issubset(result.cell.words):
            continue
        total += 1
        if skip < total <= skip + count:
            shown.append(result)
    if not total:
        raise RunError(f"{run}: no answer is {cell}{'' if any_cell else ': ' + _NO_CELL}")
    if total <= skip:
        found = f"{counted(total, 'answer')} in {cell}"
        raise RunError(f"{run}: --skip {skip} leaves none of {found}")
    with output() as page:
        _print_answers(run, shown, page)
        page.blank()
        last = min(total, skip + count)
        places = f"{last:,}" if last == skip + 1 else f"{skip + 1:,} to {last:,}"
        page.copied(f"{places} of {total:,} in {cell}", "bold")
        if last < total:
            options = f"--cell {cell}{'' if count == 1 else f' -n {count}'}{lang_option()}"
            page.copied(f"next: judge show {shlex.quote(str(run))} {options} --skip {last}")


def _print_answers(run: Path, results: Sequence[SampleResult], page: Page) -> None:
    samples = samples_of(run, results)
    for position, result in enumerate(results):
        if position:
            page.blank()
        sample = samples.get(result.qid)
        print_answer(result, sample, page, is_gone=sample is None)
