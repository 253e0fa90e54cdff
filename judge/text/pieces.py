"""Texts cut at sentences: into segments, and into overlapping pieces that fit a model."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final, TypeVar

from judge.text.fold import estimate_tokens
from judge.text.patterns import lazy_pattern

_OVERLAP: Final = 10
_LONGEST_CACHED: Final = 4_096
_T = TypeVar("_T")

LONGEST: Final = 400
"""Characters; a sentence beyond that is cut, at a space or comma where there is one."""

# A run of dots is tried from its first dot only, and nothing else repeats over it: linear. All
# branches share their first character, which the engine then skips to: 20 times as fast.
_END: Final = lazy_pattern(
    r"""
    [。！？；…!?.\n] (?:
      (?<=[。！？；…!?]) [。！？；…!?]* ["'”’」』）)\]】]*
    | (?<=[^\W_][^\W_]\.) \.* ["'”’)\]]* (?= \s+["'“‘(\[]?[A-Z0-9\u3400-\u9fff] | [A-Z][a-z] )
    | (?<=[)\]"'”’%]\.) \.* ["'”’)\]]* (?= \s | [A-Z] )
    | (?<=\n) \n* )
    """,
    re.VERBOSE,
)
_SOFT: Final = (" ", "，", "、", ",")


def cached_by_text(read: Callable[[str], _T]) -> Callable[[str], _T]:
    """Cache what a function returns for recent short texts, because answers share chunks."""
    cached = lru_cache(maxsize=1 << 10)(read)
    return lambda text: cached(text) if len(text) <= _LONGEST_CACHED else read(text)


def segments(text: str) -> list[tuple[int, int]]:
    """Cut a chunk into segments that hold every character that is not white space, as offsets.

    >>> segments("It rained. 下雨了。我没带伞。")
    [(0, 10), (11, 15), (15, 20)]
    """
    found: list[tuple[int, int]] = []
    start = 0
    for end in [*(match.end() for match in _END.finditer(text)), len(text)]:
        while start < end:
            # A long sentence is cut at the last space or comma of its second half.
            low, high = start + LONGEST // 2, start + LONGEST
            near = max(text.rfind(mark, low, high) for mark in _SOFT) if high < end else -1
            cut = near + 1 if near >= 0 else min(high, end)
            piece = text[start:cut]
            if stripped := piece.strip():
                first = start + len(piece) - len(piece.lstrip())
                found.append((first, first + len(stripped)))
            start = cut
    return found


def pieces(text: str, limit: int) -> Iterator[tuple[int, int, int]]:
    """Yield pieces of a text of at most `limit` estimated tokens (2 or more): start, end, tokens.

    Neighbouring pieces overlap by a sentence, or by a tenth where sentences are short, so that
    neighbouring sentences stay together. A text that fits is one piece.

    >>> list(pieces("It rained. It snowed. It froze.", 6))
    [(0, 22, 6), (11, 31, 6)]
    """
    size = estimate_tokens(text)
    if size <= limit:
        yield 0, len(text), size
        return
    units = list(_units(text, limit // 2))
    first, size_so_far = 0, 0
    for last, (start, _, tokens) in enumerate(units):
        if size_so_far + tokens > limit:
            yield units[first][0], start, size_so_far
            first, size_so_far = last - 1, units[last - 1][2]
            while first and size_so_far + units[first - 1][2] <= limit // _OVERLAP:
                first -= 1
                size_so_far += units[first][2]
        size_so_far += tokens
    yield units[first][0], len(text), size_so_far


def _units(text: str, longest: int) -> Iterator[tuple[int, int, int]]:
    """Yield the sentences with the blanks behind them, cut at `longest` tokens."""
    starts = [0, *(start for start, _ in segments(text)[1:]), len(text)]
    for start, end in pairwise(starts):
        tokens = estimate_tokens(text[start:end])
        step = end - start if tokens <= longest else longest
        for low in range(start, end, max(step, 1)):
            high = min(low + step, end)
            yield low, high, tokens if step == end - start else estimate_tokens(text[low:high])
