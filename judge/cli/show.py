"""`judge show`: answers with the evidence for their labels, or lists of sentences and answers."""

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import typer

from judge.cli.options import RUN, check_choice, several, takes_language
from judge.cli.render.answers import print_answer, print_list
from judge.cli.terminal import Page
from judge.errors import RunError
from judge.inputs.runs import read_results, samples_of
from judge.messages import Messages
from judge.records import SampleResult
from judge.records.result import QuadrantWord
from judge.reports.worst import FLAGS, STATUSES, SUPPORTS, Filter, worst_answer
from judge.text.visible import clip


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
        None, metavar="NAME", help=f"List sentences or answers with this flag: {', '.join(FLAGS)}."
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
        help="List the answers of a cell, by words that all apply, such as retrieved,wrong. The "
        f"words: {', '.join(get_args(QuadrantWord))}.",
    ),
) -> None:
    """Show answers with the support, evidence and citations of each sentence; or list many.

    --support, --flag, --status, --cell and --worst list sentences or answers in a few lines each,
    in input order or worst first. If several are given, also with QIDs, all must hold. --cell is
    about the table that judge score --details prints for samples with gold evidence.

    Example: judge show runs/today q_001

    Example: judge show runs/today --support none --status dangling

    Example: judge show runs/today --cell retrieved,wrong
    """
    check_choice("--support", support, SUPPORTS)
    check_choice("--flag", flag, FLAGS)
    check_choice("--status", status, STATUSES)
    words = several("--cell", cell, get_args(QuadrantWord))
    if {support, flag, status, worst, cell} != {None}:
        results = _answers(run, qids) if qids else read_results(run)
        print_list(results, Filter(support, flag, status, words), Page(), worst)
        return
    lowest = None if qids else worst_answer(read_results(run))
    shown = _answers(run, qids or []) if lowest is None else [lowest]
    if not shown:
        raise RunError(f"{run}: no answer claims anything; name one: judge show {run} QID")
    samples, page = samples_of(run, {result.qid for result in shown}), Page()
    for position, result in enumerate(shown):
        if position:
            page.blank()
        sample = samples.get(result.qid)
        print_answer(result, sample, page)
        if sample is None:
            page.say(Messages.of("answer", "head")("gone"), hang=2, style="dim")


def _answers(run: Path, qids: Sequence[str]) -> list[SampleResult]:
    """Return the results with these qids, in their order; raise RunError if one is missing."""
    found = {result.qid: result for result in read_results(run) if result.qid in set(qids)}
    for qid in qids:
        if qid not in found:
            raise RunError(f"{run}: no answer {clip(qid, 80)!r}; without one, the worst is shown")
    return [found[qid] for qid in dict.fromkeys(qids)]
