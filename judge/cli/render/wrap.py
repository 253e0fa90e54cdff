"""Line breaks for a terminal, in Chinese as in English: rich breaks at spaces only."""

import re
from collections.abc import Iterator
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from judge.text.fold import CJK
from judge.text.visible import visible

_OPENING: Final = "（《“「『【［([«"
_CLOSING: Final = "，。、；：！？）》”」』】］)\\]»…%％"
_TAB: Final = 4
_PIECE: Final = re.compile(
    rf"\n|[^\S\n]+|[{re.escape(_OPENING)}]*[{CJK}][{_CLOSING}]*|(?:(?![{CJK}])\S)+"
)


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
    cuts = [cut for line in _lines(shown.plain, max(10, width - indent), hang) for cut in line]
    lines = shown.divide(cuts)[1::2]
    broken = Text()
    for number, line in enumerate(lines):
        line.rstrip()
        broken.append("\n" if number else "")
        if line:
            broken.append(" " * (indent + hang if number else indent)).append_text(line)
    return broken


def _lines(plain: str, width: int, hang: int) -> Iterator[tuple[int, int]]:
    start = end = column = 0
    for piece in _PIECE.finditer(plain):
        word = piece[0]
        # Every line but the first has this much on its left.
        hanging = max(10, width - hang)
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
