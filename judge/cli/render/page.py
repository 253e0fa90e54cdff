"""Pages on a terminal: lines broken at its width, and figures."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from judge.text.fold import CJK
from judge.text.visible import visible

# Rich breaks lines at spaces only: Chinese would begin on a line of its own, and be cut before a
# full stop.
_OPENING: Final = "（《“「『【［([«"
_CLOSING: Final = "，。、；：！？）》”」』】］)\\]»…%％"
_TAB: Final = 4
_NARROWEST: Final = 10
_PIECE: Final = re.compile(
    rf"\n|[^\S\n]+|[{re.escape(_OPENING)}]*[{CJK}][{_CLOSING}]*|(?:(?![{CJK}])\S)+"
)


class Page:
    """What is said on a console, line by line."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def say(self, text: Text | str, indent: int = 0, hang: int = 0, style: str = "") -> None:
        """Say a text in lines that fit; arguments as of `wrap`. `style` is of a plain string."""
        whole = Text(text, style=style) if isinstance(text, str) else text
        self.console.print(wrap(whole, self.console.width, indent, hang), soft_wrap=True)

    def copied(self, text: str, style: str = "") -> None:
        """Say what people copy, such as a command or a signature: it is not broken into lines."""
        self.console.print(Text(visible(text), style=style), soft_wrap=True)

    def made_by(self, signatures: Iterable[str], correctness: Iterable[str]) -> None:
        """Say which judges were asked, about faithfulness and about correctness."""
        for signature in signatures:
            self.copied(f"made by {signature}", "dim")
        for signature in correctness:
            self.copied(f"correctness made by {signature}", "dim")

    def blank(self) -> None:
        """Leave a line free."""
        self.console.print()


def wrap(text: Text, width: int, indent: int = 0, hang: int = 0) -> Text:
    """Break a text into lines; control characters in it are made visible.

    Args:
        text: what to break; its styles are kept, its own line breaks too.
        width: columns of the terminal.
        indent: columns left free before each line.
        hang: columns left free on top of that before each line but the first.
    """
    shown = text.copy()
    shown.plain = visible(shown.plain)
    shown.expand_tabs(_TAB)
    # All cuts at once: one slice after the other would copy a long text for each of its lines.
    cuts = [c for line in _lines(shown.plain, max(_NARROWEST, width - indent), hang) for c in line]
    broken = Text()
    for number, line in enumerate(shown.divide(cuts)[1::2]):
        line.rstrip()
        broken.append("\n" if number else "")
        if line:
            broken.append(" " * (indent + hang if number else indent)).append_text(line)
    return broken


def _lines(plain: str, width: int, hang: int) -> Iterator[tuple[int, int]]:
    """Where each line begins and ends."""
    hanging = max(_NARROWEST, width - hang)
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
            start, column, room = piece.start(), 0, hanging
        for position in _folds(word, room - column, hanging):
            yield start, piece.start() + position
            start = piece.start() + position
            size = cell_len(plain[start : piece.end()])
            column = 0
        column += size
        end = piece.end()
    yield start, end


def _folds(word: str, room: int, then: int) -> Iterator[int]:
    """Where a word wider than a line is cut: `room` columns are left here, `then` on the next."""
    if word.isspace():
        return
    column = 0
    for position, character in enumerate(word):
        column += cell_len(character)
        if column > room and position:
            yield position
            column, room = cell_len(character), then


def number(value: float | None) -> str:
    """A score to three digits; a dash where there is none, for none is not zero."""
    return "–" if value is None else f"{value:.3f}"


def between(low: float, high: float) -> str:
    """An interval of scores."""
    return f"{number(low)}–{number(high)}"
