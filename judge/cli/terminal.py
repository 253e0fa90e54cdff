"""Standard output: a terminal, a file, or a pipe whose reader may have gone."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from judge.errors import RunError
from judge.text.visible import escaped, visible

_NARROWEST: Final = 20
_WIDEST: Final = 500


class _Output(Console):
    """Falls silent when its reader goes: what was computed, and the exit code, still stand."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        # What is still buffered goes nowhere, or Python would fail on it once more as it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def output() -> Iterator[Console]:
    """A console on standard output.

    Raises:
        RunError: it cannot be written, for another reason than that its reader has gone.
    """
    console = _Output(highlight=False)
    if console.width < _NARROWEST:  # an emulator that does not know its size says 0
        console = _Output(highlight=False, width=80)
    try:
        yield console
        if sys.stdout is not None:  # closed by `>&-`
            sys.stdout.flush()
    except BrokenPipeError:
        console.on_broken_pipe()
    except OSError as error:
        console.on_broken_pipe()
        message = f"standard output: cannot be written ({error.strerror}); "
        raise RunError(message + "what goes to files has been written") from None


def say(*lines: str) -> None:
    """Print lines as they are, however wide.

    Raises:
        RunError: as of `output`.
    """
    with output() as console:
        for line in lines:
            console.print(Text(visible(line)), soft_wrap=True)


def say_json(line: str) -> None:
    """Print one JSON document, on a line, so that a reader gets every character back.

    Raises:
        RunError: as of `output`.
    """
    with output() as console:
        console.print(Text(escaped(line)), soft_wrap=True)


def titled_table(title: str) -> Table:
    """A table under its title, whose first column names the rows."""
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    table.add_column("", no_wrap=True)
    return table


def figure_table(*headers: str) -> Table:
    """A table whose first column names the rows, and the others hold figures."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for number, header in enumerate(headers):
        table.add_column(header, justify="right" if number else "left")
    return table


def print_table(table: Table, console: Console) -> None:
    """Print a table as wide as it is: a narrow terminal breaks its lines, and no figure is cut."""
    for line in table_lines(table, console):
        console.print(line, soft_wrap=True)


def table_lines(table: Table, console: Console) -> Iterator[Text]:
    """The lines of a table, however narrow the terminal.

    Rich fills them up with spaces, which a log or a mail would keep.
    """
    wide = console.options.update(width=_WIDEST)
    options = wide.update(width=console.measure(table, options=wide).maximum)
    for line in console.render_lines(table, options, pad=False):
        text = Text.assemble(*((segment.text, segment.style or "") for segment in line))
        text.rstrip()
        yield text
