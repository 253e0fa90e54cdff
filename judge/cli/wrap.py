"""Line breaks for a terminal, in Chinese as in English: rich breaks at spaces only."""

import re
from collections.abc import Iterator
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from judge.text.fold import CJK

_OPENING: Final = "（《“「『【［([«"
_CLOSING: Final = "，。、；：！？）》”」』】］)\\]»…%％"
_PIECE: Final = re.compile(
    rf"\n|[^\S\n]+|[{re.escape(_OPENING)}]*[{CJK}][{_CLOSING}]*|(?:(?![{CJK}])\S)+"
)


def wrap(text: Text, width: int, indent: int = 0) -> Text:
    """Break a text into lines.

    Args:
        text: what to break; its styles are kept, its own line breaks too.
        width: columns of the terminal.
        indent: columns left free before each line.
    """
    lines = [text[start:end] for start, end in _lines(text.plain, max(10, width - indent))]
    for line in lines:
        line.rstrip()
    margin = Text(" " * indent)
    return Text("\n").join(margin + line if line else line for line in lines)


def _lines(plain: str, width: int) -> Iterator[tuple[int, int]]:
    start = end = column = 0
    for piece in _PIECE.finditer(plain):
        word = piece[0]
        if word == "\n":
            yield start, end
            start = end = piece.end()
            column = 0
            continue
        size = cell_len(word)
        if column and column + size > width and not word.isspace():
            yield start, end
            start, column = piece.start(), 0
        for position in _folds(word, width - column):
            yield start, piece.start() + position
            start = piece.start() + position
            size = cell_len(plain[start : piece.end()])
            column = 0
        column += size
        end = piece.end()
    yield start, end


def _folds(word: str, room: int) -> Iterator[int]:
    """Where a word wider than a line is cut."""
    if word.isspace():
        return
    column = 0
    for position, character in enumerate(word):
        column += cell_len(character)
        if column > room and position:
            yield position
            column = cell_len(character)
