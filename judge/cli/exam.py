"""`judge exam`: measure the judge on items whose right labels are known."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import typer
from rich.console import Console
from rich.progress import Progress

from judge.cli.options import FORCE, JSON, GateOptions, takes_options
from judge.cli.render.exam import print_exam
from judge.cli.terminal import Page, say_report
from judge.config import Config
from judge.exam import compare, first_items, read_items, read_report, sit
from judge.exam.comparison import check_common
from judge.exam.items import ExamItems
from judge.exam.records import ExamReport
from judge.exam.sitting import Watch
from judge.inputs.tables import as_json as written
from judge.inputs.tables import check_output, write_whole
from judge.records import Interval
from judge.records.result import ADDED
from judge.reports.gate import OVER_BUDGET, UNTRUSTED, gates_code

_GATED: Final = ("accuracy", "binary", "macro_f1", "kappa", "quotes", "citations")
_NOT_EXAMINED: Final = (*ADDED, "triad", "faithful_from", "correct_from", "map", "review_rate")
"""The settings that have no meaning in an exam, which is about faithfulness alone."""


class _ItemOptions(NamedTuple):
    """The items, and how often each is judged."""

    items: list[str] | None = typer.Option(
        None, metavar="FILE", help="A golden set of your own, or exam: the shipped items."
    )
    repeat: int = typer.Option(
        1, metavar="K", min=1, max=20, help="Judge K times, and report the labels that change."
    )
    limit: int | None = typer.Option(
        None, metavar="N", min=1, help="The first N items of each category and language."
    )

    def read(self) -> ExamItems:
        """Return the selected items."""
        whole = read_items(*(self.items or ()))
        return whole if self.limit is None else first_items(whole, self.limit)


@partial(takes_options, without=_NOT_EXAMINED)
def exam(
    *,
    item_options: _ItemOptions,
    gate_options: GateOptions,
    against: Path | None = typer.Option(
        None, "--against", metavar="FILE", help="Compare with an earlier report on the same items."
    ),
    out: Path | None = typer.Option(
        None, "-o", "--output", metavar="FILE", help="Write the report as JSON."
    ),
    force: bool = FORCE,
    as_json: bool = JSON,
    settings: Config,
) -> None:
    """Measure the judge on items in two languages whose right labels are known.

    The settings are those of judge score. Every item is judged anew: no verdict is read from the
    cache or kept there, and there is no fallback. Without --model, similarity is measured. --items
    may be repeated. With --repeat the chunks are in another order and the seed is another each
    time; the first verdict is graded. Reports for --against are written by -o.

    --fail-under takes accuracy, binary (full or rest), macro_f1, kappa, quotes and citations.

    Exit codes: 0 fine; 1 a --fail-under gate failed; 3 too many sentences have no verdict (at least
    three, and over --max-unscored), or a gate had nothing to measure; 4 the budget is spent.

    Example: judge exam --model gpt-5-mini --repeat 3 -o exam.json
    """
    gates = gate_options.gates(_GATED)
    items = item_options.read()
    earlier = None if against is None else read_report(against)
    if earlier is not None:
        check_common(earlier, items)
    if out is not None:
        sources = [Path(name) for name in (*(item_options.items or ()), against) if name]
        check_output(out, sources, force=force)
    with _bar() as watch:
        report = sit(settings, items, repeat=item_options.repeat, watch=watch)
    results = gates.hold_means(*_measured(report), what="in the exam")
    compared = None if earlier is None else compare(earlier, report)
    report = report.model_copy(update={"gates": results, "against": compared})
    if out is not None:
        write_whole(out, [written(report)])

    def show(page: Page) -> None:
        print_exam(report, page)
        if out is not None:
            page.copied(f"written to {out}")

    say_report(report, show, as_json=as_json)
    fit = report.fitness
    code = UNTRUSTED if fit.untrusted and not fit.spent else gates_code(results)
    raise typer.Exit(OVER_BUDGET if report.over_budget and code != UNTRUSTED else code)


def _measured(
    report: ExamReport,
) -> tuple[dict[str, float | None], dict[str, Interval | None]]:
    """Return the figures that gates check, and their intervals."""
    totals = report.totals
    rates = {
        "accuracy": totals.whole.accuracy,
        "binary": totals.whole.binary,
        "quotes": totals.quotes,
        "citations": totals.citations,
    }
    values = {"macro_f1": totals.macro_f1, "kappa": totals.kappa}
    limits: dict[str, Interval | None] = dict.fromkeys(_GATED)
    for name, rate in rates.items():
        values[name] = rate.value if rate else None
        if rate is not None:
            limits[name] = Interval(low=rate.low, high=rate.high, method="wilson_effective")
    return values, limits


@contextmanager
def _bar() -> Iterator[Watch]:
    """Show a progress bar on standard error, if that is a terminal."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("judging the items")
        yield lambda done, total: bar.update(task, completed=done, total=total)
