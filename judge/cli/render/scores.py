"""Scores over a run, and what was counted: the rows and lines that its tables share."""

from collections.abc import Mapping
from typing import Final, TypeVar

from rich.table import Table
from rich.text import Text

from judge.cli.render.paint import number
from judge.cli.terminal import titled_table
from judge.records import CorpusBounds, CorpusScore, UnscoredReason
from judge.reports.failures import Example
from judge.text.visible import clip, flat

_Part = TypeVar("_Part", bound=str)

NAMES: Final = 11
"""Columns of the names of counts."""
_WIDEST: Final = 500


def counts_from(names: int = NAMES) -> int:
    """Column at which the counts begin, behind names so wide."""
    return names + 3


def score_table(title: str) -> Table:
    """A table of scores, empty as yet."""
    table = titled_table(title)
    table.add_column("mean", justify="right")
    table.add_column("95 % interval", no_wrap=True)
    table.add_column("pooled", justify="right")
    table.add_column("answers", justify="right")
    table.add_column("of", justify="right", no_wrap=True)
    return table


def add_score(
    table: Table,
    label: str,
    score: CorpusScore | None,
    bounds: CorpusBounds | None,
    item: str = "sentence",
) -> None:
    """Add a row for a score, a dash where there is none; and one where failures leave it open."""
    table.add_row(label, *_figures(score, item))
    answers = 0 if score is None else score.answers
    if bounds is not None and (bounds.low < bounds.high or bounds.answers != answers):
        limits = f"{number(bounds.low)}–{number(bounds.high)}"
        table.add_row("  failures 0, then 1", "", limits, "", str(bounds.answers), "")


def _figures(score: CorpusScore | None, item: str) -> tuple[str, ...]:
    if score is None:
        return number(None), "", "", "0", ""
    items = item if score.items == 1 else f"{item}s"
    interval = f"{number(score.interval.low)}–{number(score.interval.high)}"
    pooled = number(score.micro)
    return number(score.macro), interval, pooled, str(score.answers), f"{score.items} {items}"


def count_line(name: str, total: int, parts: Mapping[_Part, int], names: int = NAMES) -> Text:
    """A total and its parts, those of nothing left out."""
    listed = ", ".join(
        f"{count} {part.replace('_', ' ')}" for part, count in parts.items() if count
    )
    return Text(f"  {name:<{names}} {total}" + (f": {listed}" if listed else ""))


def failure_lines(
    unscored: Mapping[UnscoredReason, int],
    fallen_back: int,
    examples: Mapping[UnscoredReason, Example],
    names: int = NAMES,
) -> list[Text]:
    """What went wrong, by reason, with an example of each; nothing where nothing did."""
    if not unscored:
        return []
    line = count_line("unscored", sum(unscored.values()), unscored, names)
    if fallen_back:
        line.append(f"; {fallen_back} of them answered by the fallback")
    return [line, *(_example(reason, each, names) for reason, each in examples.items())]


def _example(reason: UnscoredReason, example: Example, names: int) -> Text:
    text = f"{reason.value.replace('_', ' ')}, {flat(example.qid)}: {flat(example.failure.detail)}"
    return Text(f"  {'such as':<{names}} {clip(text, _WIDEST)}")
