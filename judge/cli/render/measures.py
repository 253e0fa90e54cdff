"""The table of all measures, printed."""

from itertools import groupby
from typing import Final

from rich.console import Console
from rich.text import Text

from judge.advice.rules import Measure, measures
from judge.cli.render.page import Page

_DIRECTIONS: Final = {
    "higher": "higher is better",
    "lower": "lower is better",
    "none": "neither end is better",
}


def print_measures(console: Console) -> None:
    """Print every measure, family by family: a block each, for no terminal is wide enough."""
    page = Page(console)
    for family, each in groupby(measures(), key=lambda measure: measure.family):
        console.print(Text(f"\n{family}", style="bold underline"))
        for measure in each:
            _say(measure, page)


def _say(measure: Measure, page: Page) -> None:
    facts = f"  {measure.range}; {_DIRECTIONS[measure.direction]}; needs {', '.join(measure.needs)}"
    unsaid = [name for name in measure.also if name.partition("@")[0] not in measure.meaning]
    also = f" Also called {', '.join(unsaid)}." if unsaid else ""
    page.say(Text(measure.name, style="bold").append(facts, style="not bold"), hang=2)
    page.say(f"= {measure.formula}  [{measure.source}]", indent=2, hang=2)
    page.say(measure.meaning + also, indent=2, hang=2, style="dim")
    page.say(measure.meaning_zh, indent=2, hang=2, style="dim")
