"""Chunks cut into passages that a small model reads at once."""

from typing import Final, NamedTuple

from judge.text.pieces import pieces
from judge.text.tokens import estimate_tokens

LEAST: Final = 16
"""Estimated tokens: a passage is not cut further."""


class Passage(NamedTuple):
    """Some characters of a chunk, blanks at neither end."""

    position: int
    """Of its chunk."""
    start: int
    end: int
    text: str


def passages(position: int, text: str, limit: int, first: int = 0) -> list[Passage]:
    """The passages of a text, overlapping, cut at sentences; none of what is blank.

    Args:
        position: of the chunk.
        text: the chunk, or a part of it.
        limit: estimated tokens of a passage, 2 or more.
        first: the character of the chunk at which `text` begins.
    """
    cut = []
    for start, end, _ in pieces(text, limit):
        piece = text[start:end]
        if bare := piece.strip():
            begin = first + start + len(piece) - len(piece.lstrip())
            cut.append(Passage(position, begin, begin + len(bare), bare))
    return cut


def halved(passage: Passage) -> list[Passage]:
    """Two passages or more in its place; none where it is too small for that."""
    half = estimate_tokens(passage.text) // 2
    return passages(passage.position, passage.text, half, passage.start) if half >= LEAST else []
