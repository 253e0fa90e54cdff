"""Pieces of a long text: cut at sentences, with overlap, and nothing left out."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from judge.judges.similarity.windows import segments
from judge.text.tokens import estimate_tokens

_OVERLAP: Final = 10


def pieces(text: str, limit: int) -> Iterator[tuple[int, int, int]]:
    """Pieces of a text of at most `limit` estimated tokens, 2 or more: start, end, tokens.

    At least the last sentence of a piece, and a tenth of it at most where sentences are short, is
    said again in the next, so that no two neighbours are torn apart. A text that fits is one piece.

    >>> list(pieces("It rained. It snowed. It froze.", 6))
    [(0, 22, 6), (11, 31, 6)]
    """
    size = estimate_tokens(text)
    if size <= limit:
        yield 0, len(text), size
        return
    units = list(_units(text, limit // 2))
    first, held = 0, 0
    for last, (start, _, tokens) in enumerate(units):
        if held + tokens > limit:
            yield units[first][0], start, held
            first, held = last - 1, units[last - 1][2]
            while first and held + units[first - 1][2] <= limit // _OVERLAP:
                first -= 1
                held += units[first][2]
        held += tokens
    yield units[first][0], len(text), held


def _units(text: str, longest: int) -> Iterator[tuple[int, int, int]]:
    """The sentences of a text with the blanks behind them; none costs more than `longest`."""
    starts = [0, *(start for start, _ in segments(text)[1:]), len(text)]
    for start, end in pairwise(starts):
        tokens = estimate_tokens(text[start:end])
        step = end - start if tokens <= longest else longest
        for low in range(start, end, max(step, 1)):
            high = min(low + step, end)
            yield low, high, tokens if step == end - start else estimate_tokens(text[low:high])
