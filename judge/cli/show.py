"""`judge show`: answers and why, a list, or the answers of a quadrant one after another."""

import shlex
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final, get_args

import typer

from judge.cli.options import RUN, chosen, takes_language
from judge.cli.render.answers import Part, conflict, print_answer, print_list
from judge.cli.terminal import lang_option, output
from judge.errors import ConfigError, RunError
from judge.inputs.runs import Origins, read_results
from judge.records import SampleResult
from judge.records.result import QuadrantWord
from judge.reports.filters import FLAGS, STATUSES, SUPPORTS, Filter
from judge.reports.worst import worst_answer
from judge.scores.correctness import read_words
from judge.text.visible import clip, counted

_WORDS: Final = (
    "The words: answerable, unanswerable; retrieved, missed; answered, abstained, silent; "
    "faithful, unfaithful, unjudged; correct, wrong, uncompared; beside."
)
_SUPPORTS: Final = "full, partial, none, contradicted, no_claim, unscored"
_FLAGS: Final = (
    "unverified_quote, conflicting_evidence, unjudged_evidence, flipped, conflicting_gold, "
    "alternatives, beside_question, no_chunks, ambiguous_chunk_id, unjudged_text, "
    "injection_suspected"
)
_LISTED: Final = 20
_UNPLACED: Final = (
    "it takes gold evidence (gold_evidence or relevance of the samples) that agrees with itself; "
    "or the run is older: score again with --force"
)


_SUPPORT: Final = typer.Option(
    None, metavar="LABEL", help=f"List sentences with this label: {_SUPPORTS}."
)
_FLAG: Final = typer.Option(
    None,
    metavar="NAME",
    help="List sentences with this flag, or the answers where it concerns a whole answer: "
    f"{_FLAGS}.",
)
_STATUS: Final = typer.Option(
    None,
    metavar="NAME",
    help="List answers with this status: abstained, no_claims, unscored, scored; or sentences "
    "with a citation of this status: valid, unsupported, dangling, unjudged.",
)
_CELL: Final = typer.Option(
    None,
    metavar="WORDS",
    help=f"Answers of a cell: words such as retrieved,wrong; all hold. {_WORDS}",
)


app = typer.Typer(add_completion=False)


@app.command()
@takes_language
def show(
    run: Path = RUN,
    qids: list[str] | None = typer.Argument(
        None, metavar="[QID]…", help="The answers to show; the worst one where left out."
    ),
    *,
    support: str | None = _SUPPORT,
    flag: str | None = _FLAG,
    status: str | None = _STATUS,
    worst: int | None = typer.Option(
        None, metavar="N", min=1, help="List the N worst sentences, worst first."
    ),
    cell: str | None = _CELL,
    count: int | None = typer.Option(
        None, "-n", metavar="N", min=1, help=f"How many to show: {_LISTED} in a list, else 1."
    ),
    skip: int | None = typer.Option(None, metavar="N", min=0, help="How many to skip."),
) -> None:
    """Show answers: each sentence's support, the evidence, the citations; or list many.

    --support, --flag, --status and --worst list sentences or answers in a few lines each, in input
    order or worst first; where several are given, with --cell and QIDs, too, all must hold.

    --cell alone shows the answers of one cell of the table that judge score --details prints where
    samples have gold evidence: one at a time, in input order, and how to go on to the next.

    Example: judge show runs/today q_001

    Example: judge show runs/today --support none --status dangling

    Example: judge show runs/today --cell retrieved,wrong
    """
    try:
        words = frozenset() if cell is None else read_words(cell)
    except ValueError as error:
        raise ConfigError(f"--cell {cell!r} {error}") from None
    named = {"--support": support, "--flag": flag, "--status": status}
    given = {option: value for option, value in named.items() if value is not None}
    paged = count is not None or skip is not None
    if worst is not None and paged:
        raise ConfigError("-n and --skip page through a list; --worst N says how many itself")
    if worst is not None or given:
        given |= {} if cell is None else {"--cell": cell}
        part = (worst or count or _LISTED, skip or 0, worst is not None)
        _show_list(run, qids or [], given, words, part)
        return
    if paged and (cell is None or qids):
        raise ConfigError("-n and --skip go with --cell or a list, and without a QID")
    if qids or not words:
        _show_answers(run, qids or [], words)
    else:
        _show_cell(run, words, count or 1, skip or 0)


def _show_list(
    run: Path,
    qids: Sequence[str],
    given: Mapping[str, str],
    words: Collection[QuadrantWord],
    part: tuple[int, int, bool],
) -> None:
    """List the sentences or answers for which all of these options hold."""
    known = {"--support": SUPPORTS, "--flag": FLAGS, "--status": STATUSES}
    for option, values in known.items():
        if option in given:
            chosen(option, given[option], values)
    support, flag, status = map(given.get, known)
    asked = Filter(support, flag, status, words)
    results = _answers(run, qids) if qids else read_results(run)
    command = ["judge", "show", str(run), *qids]
    for option, value in given.items():
        command += [option, value]
    count, skip, worst = part
    command += ["--worst", str(count)] if worst else [] if count == _LISTED else ["-n", str(count)]
    command += lang_option().split()
    with output() as page:
        print_list(results, asked, Part(count, skip, worst), command, page)


def _answers(run: Path, qids: Sequence[str]) -> list[SampleResult]:
    """Return the results of these answers, in this order.

    Raises:
        RunError: the run has no such answer.
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
            why = conflict(result) or _UNPLACED
            raise RunError(f"{run}: answer {result.qid!r} is in no cell: {why}")
        if result.cell is not None and not set(words).issubset(result.cell.words):
            where = ", ".join(result.cell.words)
            raise RunError(f"{run}: answer {result.qid!r} is not in that cell; it is {where}")
    samples = Origins(run)
    with output() as page:
        for number, result in enumerate(results):
            if number:
                page.blank()
            sample = samples.of(result)
            print_answer(result, sample, page)


def _show_cell(run: Path, words: Collection[QuadrantWord], count: int, skip: int) -> None:
    """Show `count` answers with all these words, in input order, and say how to go on."""
    found, placed = 0, False
    samples = Origins(run)
    asked = ",".join(word for word in get_args(QuadrantWord) if word in words)
    with output() as page:
        for result in read_results(run):
            placed |= result.cell is not None
            if result.cell is None or not set(words).issubset(result.cell.words):
                continue
            found += 1
            if skip < found <= skip + count:
                sample = samples.of(result)
                print_answer(result, sample, page)
                page.blank()
        if not found:
            raise RunError(f"{run}: no answer is {asked}{'' if placed else ': ' + _UNPLACED}")
        if found <= skip:
            raise RunError(
                f"{run}: --skip {skip} leaves none of {counted(found, 'answer')} in {asked}"
            )
        last = min(found, skip + count)
        shown = f"{last:,}" if last == skip + 1 else f"{skip + 1:,} to {last:,}"
        page.copied(f"{shown} of {found:,} in {asked}", "bold")
        if last < found:
            many = "" if count == 1 else f" -n {count}"
            many += lang_option()
            name = shlex.quote(str(run))
            page.copied(f"next: judge show {name} --cell {asked}{many} --skip {last}")
