"""Standard output: lines, tables and figures on a page."""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from judge.messages import LANGUAGE, Messages
from judge.text.fold import CJK
from judge.text.patterns import lazy_pattern
from judge.text.visible import escaped, flat, short, visible

if TYPE_CHECKING:
    from judge.records import Record

_WIDEST_TABLE: Final = 500
# Rich breaks lines at spaces only, and Chinese text has none.
_OPENING: Final = "（《“「『【［([«"
_CLOSING: Final = "，。、；：！？）》”」』】］)\\]»…%％"
_TAB: Final = 4
_SMALLEST_P: Final = 0.0001
_LEAST_LINE: Final = 10
_PIECE: Final = lazy_pattern(
    rf"\n|[^\S\n]+|[{re.escape(_OPENING)}]*[{CJK}][{_CLOSING}]*|(?:(?![{CJK}])\S)+"
)


class Page:
    """A console, by default standard output, that is written to line by line."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or open_console()

    def say(self, text: Text | str, indent: int = 0, hang: int = 0, style: str = "") -> None:
        """Print a text in lines, as `wrap` breaks it. `style` applies to a plain string."""
        whole = _styled(text, style) if isinstance(text, str) else text
        self.whole(wrap(whole, self.console.width, indent, hang))

    def copied(self, text: str, style: str = "") -> None:
        """Print a text that people copy, such as a command, without breaking it into lines."""
        self.whole(_styled(visible(text), style))

    def whole(self, line: Text) -> None:
        """Print a line of any width; a narrow terminal wraps it."""
        self.console.print(line, soft_wrap=True)

    def blank(self) -> None:
        """Print an empty line."""
        self.console.print()

    def heading(self, text: str) -> None:
        """Print an empty line and a bold one."""
        self.blank()
        self.say(text, hang=2, style="bold")

    def table(
        self,
        heads: Sequence[str],
        rows: Iterable[Sequence[str | int | Text]],
        title: str | None = None,
        *,
        left: Collection[int] = (0,),
        narrow: bool = False,
    ) -> None:
        """Print a table of any width. Columns are of figures, but for those in `left`."""
        table = Table(title=title, box=box.SIMPLE_HEAD, pad_edge=False)
        table.title_justify, table.title_style = "left", "bold"
        table.padding = (0, 1, 0, 0) if narrow or title else (0, 1)
        for column, head in enumerate(heads):
            table.add_column(head, justify="left" if column in left else "right")
        for row in rows:
            table.add_row(*(f"{cell:,}" if isinstance(cell, int) else cell for cell in row))
        for line in self.rows(table):
            self.whole(line)

    def rows(self, table: Table) -> Iterator[Text]:
        """Yield the lines of a table without trailing spaces."""
        wide = self.console.options.update(width=_WIDEST_TABLE)
        options = wide.update(width=self.console.measure(table, options=wide).maximum)
        for line in self.console.render_lines(table, options, pad=False):
            text = _styled("").assemble(*((each.text, each.style or "") for each in line))
            text.rstrip()
            yield text

    def fields(
        self, rows: Iterable[tuple[str, Text | str]], width: int = 0, style: str = ""
    ) -> None:
        """Print names in a column of at least this width, and beside it their texts."""
        rows = list(rows)
        width = max([width, *(cell_len(name) for name, _ in rows)])
        for name, text in rows:
            padding = " " * (width - cell_len(name))
            self.say(Text.assemble((f"  {name}{padding}  ", style), text), hang=width + 4)

    def made_by(
        self, signatures: Iterable[str], added: Mapping[str, Iterable[str]] | None = None
    ) -> None:
        """Print the signatures of the judges: of faithfulness, and of the scores of settings."""
        say = Messages.of("looks", "made")
        for signature in signatures:
            self.copied(say("by", signature=flat(signature)), "dim")
        for setting, made in (added or {}).items():
            for signature in made:
                self.copied(say(f"{setting}_by", signature=flat(signature)), "dim")


def open_console(*, stderr: bool = False) -> Console:
    """Return a console on standard output or error that ignores a closed pipe."""

    class Piped(Console):
        def on_broken_pipe(self) -> None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())

    return Piped(stderr=stderr, highlight=False, emoji=False)


def say(*lines: str) -> None:
    """Print lines of any width on standard output."""
    page = Page()
    for line in lines:
        page.copied(line)


def say_report(report: "Record", show: Callable[[Page], None], *, as_json: bool) -> None:
    """Print a report as one line of JSON with control characters escaped, or as `show` does."""
    if as_json:
        say(escaped(report.model_dump_json()))
    else:
        show(Page())


def lang_option() -> str:
    """Return the option that makes another command speak the same language."""
    language = LANGUAGE.get()
    return "" if language == "en" else f" --lang {language}"


def number(value: float | None) -> str:
    """Return a score with three digits, and a dash for None."""
    return "–" if value is None else f"{value:.3f}"


def signed(value: float, digits: int = 3) -> str:
    """Return a difference with its sign."""
    return f"{value:+.{digits}f}".replace("-", "\N{MINUS SIGN}")


def chance(p: float) -> str:
    """Return the p of a test with four digits."""
    return f"<{_SMALLEST_P:.4f}".replace("0.", ".") if p < _SMALLEST_P else f"{p:.4f}"


class _Limits(Protocol):
    """An interval of scores, or a score with one."""

    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


def between(limits: _Limits | None, absent: str = "") -> str:
    """Return an interval of scores, or `absent` for None."""
    return absent if limits is None else f"{number(limits.low)}–{number(limits.high)}"


def some(names: Sequence[str], count: int | None = None, most: int = 5) -> str:
    """Return the first names, and how many of `count`, by default of `names`, are left."""
    counted = Messages.of("totals", "counted")
    shown = counted("joint").join(map(short, names[:most]))
    more = (len(names) if count is None else count) - min(most, len(names))
    return counted("more", names=shown, count=more) if more > 0 else shown


def wrap(text: Text, width: int, indent: int = 0, hang: int = 0) -> Text:
    """Break a text into lines, and make control characters in it visible.

    Args:
        text: the text; its styles and its own line breaks are kept.
        width: columns of the terminal.
        indent: empty columns before each line.
        hang: further empty columns before each line but the first.
    """
    shown = text.copy()
    shown.plain = visible(shown.plain)
    shown.expand_tabs(_TAB)
    # All cuts at once: one slice after the other would copy a long text for each of its lines.
    cuts = [c for line in _lines(shown.plain, max(_LEAST_LINE, width - indent), hang) for c in line]
    broken = _styled("")
    for number, line in enumerate(shown.divide(cuts)[1::2]):
        line.rstrip()
        broken.append("\n" if number else "")
        if line:
            broken.append(" " * (indent + hang if number else indent)).append_text(line)
    return broken


def _styled(text: str, style: str = "") -> Text:
    return Text(text, style=style)


def _lines(plain: str, width: int, hang: int) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each line."""
    hanging = max(_LEAST_LINE, width - hang)
    start = end = column = 0
    for piece in _PIECE.finditer(plain):
        word = piece[0]
        room = hanging if start else width
        if word == "\n":
            yield start, end
            start = end = piece.end()
            column = 0
            continue
        size = cell_len(word)
        if column and column + size > room and not word.isspace():
            yield start, end
            start, column = piece.start(), 0
        column += size
        end = piece.end()
    yield start, end
