"""The table of all measures, printed."""

from typing import Final

from rich.console import Console
from rich.text import Text

from judge.advice.catalog import Measure, measures
from judge.cli.render.page import wrap

_DIRECTIONS: Final = {
    "higher": "higher is better",
    "lower": "lower is better",
    "none": "neither end is better",
}


def print_measures(console: Console) -> None:
    """Print every measure, family by family: a block each, for no terminal is wide enough."""
    family = ""
    for measure in measures():
        if measure.family != family:
            family = measure.family
            console.print(Text(f"\n{family}", style="bold underline"))
        for number, line in enumerate(_lines(measure)):
            console.print(wrap(line, console.width, indent=2 * bool(number), hang=2))


def _lines(measure: Measure) -> tuple[Text, ...]:
    head = Text(measure.name, style="bold")
    head.append(f"  {measure.range}; {_DIRECTIONS[measure.direction]}; ", style="not bold")
    head.append(f"needs {', '.join(measure.needs)}", style="not bold")
    unsaid = [name for name in measure.also if name.partition("@")[0] not in measure.meaning]
    also = f" Also called {', '.join(unsaid)}." if unsaid else ""
    return (
        head,
        Text(f"= {measure.formula}  [{measure.source}]"),
        Text(measure.meaning + also, style="dim"),
        Text(measure.meaning_zh, style="dim"),
    )
