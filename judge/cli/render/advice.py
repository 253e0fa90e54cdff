"""Advice on measures, printed."""

from rich.console import Console
from rich.text import Text

from judge.advice.recommend.sections import command, sections
from judge.advice.recommend.table import table
from judge.advice.records import Advice
from judge.cli.render.page import wrap
from judge.text.visible import visible


def print_advice(advice: Advice, source: str, console: Console, written: str | None) -> None:
    """Print the scenario, the measures, and why.

    Args:
        advice: what was found.
        source: a shell's word for the samples.
        console: where to.
        written: name of the page that was written, if one was.
    """
    for number, section in enumerate(sections(advice)):
        if number:
            console.print()
        console.print(wrap(Text(section.title, style="bold"), console.width), soft_wrap=True)
        for item in section.items:
            line = Text(item.name, style="cyan").append("  " if item.name else "")
            line.append(item.said, style="default")
            console.print(wrap(line, console.width, indent=2, hang=4), soft_wrap=True)
    if to_run := command(advice, source):
        console.print()
        title = table().words["measure"].of(advice.lang)
        console.print(wrap(Text(title, style="bold"), console.width), soft_wrap=True)
        # A command is copied: it is not broken into lines.
        console.print(Text(f"  {visible(to_run)}"), soft_wrap=True)
    if written is not None:
        said = table().words["written"].of(advice.lang, name=visible(written))
        console.print(Text(said), soft_wrap=True)
