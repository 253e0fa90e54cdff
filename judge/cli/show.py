"""`judge show`: one answer and why, or the answers of a quadrant one after another."""

import shlex
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args

import typer

from judge.cli.app import app
from judge.cli.options import RUN, language
from judge.cli.terminal import output
from judge.errors import ConfigError, RunError
from judge.text.visible import counted

if TYPE_CHECKING:
    from judge.messages import Lang
    from judge.records.quadrant import QuadrantWord

_WORDS: Final = (
    "The words: answerable, unanswerable; retrieved, missed; answered, abstained, silent; "
    "faithful, unfaithful, unjudged; correct, wrong, uncompared."
)
_UNPLACED: Final = (
    "it takes gold evidence (gold_evidence or relevance of the samples) that agrees with itself; "
    "or the run is older: score again with --force"
)


@app.command()
def show(
    run: Path = RUN,
    qid: str | None = typer.Argument(
        None, metavar="[QID]", help="Which answer; the worst where left out."
    ),
    *,
    cell: str | None = typer.Option(
        None,
        metavar="WORDS",
        help=f"Answers of a cell: words such as retrieved,wrong; all hold. {_WORDS}",
    ),
    count: int | None = typer.Option(
        None, "-n", metavar="N", min=1, help="With --cell: how many [1]."
    ),
    skip: int | None = typer.Option(
        None, metavar="N", min=0, help="With --cell: how many to pass over [0]."
    ),
    lang: str = typer.Option(
        "en", metavar="en|zh", help="Language of what is printed [en]; reasons keep the answer's."
    ),
) -> None:
    """Show one answer: each sentence's support, the evidence, the citations.

    With --cell, the answers of one cell of the table that judge score prints where samples have
    gold evidence: one at a time, in input order, and how to go on to the next.

    Example: judge show runs/today q_001

    Example: judge show runs/today --cell retrieved,wrong
    """
    from judge.scores.quadrants import read_words  # noqa: PLC0415  heavy, and --help stays quick

    if (cell is None or qid is not None) and (count is not None or skip is not None):
        raise ConfigError("-n and --skip go with --cell, and without a QID")
    try:
        words = frozenset() if cell is None else read_words(cell)
    except ValueError as error:
        raise ConfigError(f"--cell {cell!r} {error}") from None
    if qid is not None or not words:
        _show_answer(run, qid, words, language(lang))
    else:
        _show_cell(run, words, count or 1, skip or 0, language(lang))


def _show_answer(
    run: Path, qid: str | None, words: "Collection[QuadrantWord]", lang: "Lang"
) -> None:
    from judge.cli.render.answer import print_answer  # noqa: PLC0415  likewise
    from judge.cli.render.quadrants import print_grounds, unplaced  # noqa: PLC0415
    from judge.files.runs import Origins, read_results  # noqa: PLC0415
    from judge.reports.worst import worst_answer  # noqa: PLC0415

    results = read_results(run)
    named = (result for result in results if result.qid == qid)
    result = worst_answer(results) if qid is None else next(named, None)
    if result is None and qid is None:
        raise RunError(f"{run}: no answer claims anything; name one: judge show {run} QID")
    if result is None:
        raise RunError(f"{run}: no answer {qid!r}; without one, the worst is shown")
    if words and result.cell is None:
        why = unplaced(result, "en") or _UNPLACED
        raise RunError(f"{run}: answer {result.qid!r} is in no cell: {why}")
    if result.cell is not None and not set(words).issubset(result.cell.words):
        where = ", ".join(result.cell.words)
        raise RunError(f"{run}: answer {result.qid!r} is not in that cell; it is {where}")
    sample = Origins(run).of(result)
    with output(lang) as page:
        print_answer(result, sample, page)
        print_grounds(result, sample, page, lang)


def _show_cell(
    run: Path, words: "Collection[QuadrantWord]", count: int, skip: int, lang: "Lang"
) -> None:
    """Show `count` answers with all these words, in input order, and say how to go on."""
    from judge.cli.render.answer import print_answer  # noqa: PLC0415  likewise
    from judge.cli.render.quadrants import print_grounds  # noqa: PLC0415
    from judge.files.runs import Origins, read_results  # noqa: PLC0415
    from judge.records.quadrant import QuadrantWord  # noqa: PLC0415

    found = 0
    samples = Origins(run)
    asked = ",".join(word for word in get_args(QuadrantWord) if word in words)
    with output(lang) as page:
        for result in read_results(run):
            if result.cell is None or not set(words).issubset(result.cell.words):
                continue
            found += 1
            if skip < found <= skip + count:
                sample = samples.of(result)
                print_answer(result, sample, page)
                print_grounds(result, sample, page, lang)
                page.blank()
        if not found:
            raise RunError(f"{run}: {_none(run, words, asked)}")
        if found <= skip:
            raise RunError(
                f"{run}: --skip {skip} leaves none of {counted(found, 'answer')} in {asked}"
            )
        last = min(found, skip + count)
        shown = f"{last:,}" if last == skip + 1 else f"{skip + 1:,} to {last:,}"
        page.copied(f"{shown} of {found:,} in {asked}", "bold")
        if last < found:
            many = "" if count == 1 else f" -n {count}"
            many += "" if lang == "en" else f" --lang {lang}"
            name = shlex.quote(str(run))
            page.copied(f"next: judge show {name} --cell {asked}{many} --skip {last}")


def _none(run: Path, words: "Collection[QuadrantWord]", asked: str) -> str:
    """Why no answer of a run has these words."""
    from judge.files.runs import read_results  # noqa: PLC0415  likewise

    if all(result.cell is None for result in read_results(run)):
        return f"no answer is in a cell: {_UNPLACED}"
    statuses = {found.status for each in read_results(run) if (found := each.correctness)}
    if {"correct", "wrong"}.isdisjoint(words) or statuses - {"no_reference"}:
        return f"no answer is {asked}"
    if statuses:
        return f"no answer is {asked}; no answer has a reference to be compared with: gold_answer"
    return f"no answer is {asked}; whether answers are correct was not asked: --correctness"
