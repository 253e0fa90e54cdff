"""How the answers of a run agree with their references, printed."""

from collections.abc import Mapping
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from judge.cli.render.scores import add_score, count_line, counts_from, failure_lines, score_table
from judge.cli.render.wrap import wrap
from judge.cli.terminal import print_table
from judge.records import CorrectnessStatus, CorrectnessTotals, UnscoredReason
from judge.reports.failures import Example

_TITLE: Final = "Correctness against the reference"
_LOOKS: Final = "How far answers look correct against the reference (similarity)"
_NONE: Final = (
    "correctness: no answer has a reference to be compared with; "
    "give the samples a gold_answer (or reference)"
)
_NAMES: Final = len("verdicts on references")


def print_compared(
    totals: CorrectnessTotals,
    failures: Mapping[UnscoredReason, Example],
    console: Console,
    *,
    offline: bool,
) -> None:
    """Print the table and the counts, or that there is no reference at all.

    Args:
        totals: what is printed.
        failures: an example of each reason that was not given one yet.
        console: where to.
        offline: whether similarity compared: what it sees only looks correct.
    """
    console.print()
    if sum(totals.statuses.values()) == totals.statuses[CorrectnessStatus.NO_REFERENCE]:
        console.print(wrap(Text(_NONE, style="yellow"), console.width, hang=2), soft_wrap=True)
        return
    print_table(_table(totals, offline=offline), console)
    for line in _counts(totals, failures):
        console.print(wrap(line, console.width, hang=counts_from(_NAMES)), soft_wrap=True)


def _table(totals: CorrectnessTotals, *, offline: bool) -> Table:
    table = score_table(_LOOKS if offline else _TITLE)
    label = "looks correct (F1)" if offline else "correctness (F1)"
    add_score(table, label, totals.f1, totals.f1_bounds)
    add_score(table, "precision", totals.precision, totals.precision_bounds)
    add_score(table, "recall", totals.recall, totals.recall_bounds)
    if totals.f1_with_fallback is not None:
        add_score(table, "F1 with fallback", totals.f1_with_fallback, None)
    return table


def _counts(totals: CorrectnessTotals, failures: Mapping[UnscoredReason, Example]) -> list[Text]:
    answers, references = totals.answer_supports, totals.reference_supports
    flags = sum(totals.flags.values())
    flagged = [count_line("flags", flags, totals.flags, _NAMES)] if flags else []
    return [
        count_line("answers", sum(totals.statuses.values()), totals.statuses, _NAMES),
        Text(f"  {'claims':<{_NAMES}} {totals.claims}, of answers and references"),
        count_line("verdicts on answers", sum(answers.values()), answers, _NAMES),
        count_line("verdicts on references", sum(references.values()), references, _NAMES),
        *failure_lines(totals.unscored, totals.fallen_back, failures, _NAMES),
        *flagged,
    ]
