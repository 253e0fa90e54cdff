"""Folding: spellings of the same words become the same string, with offsets into the original."""

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from judge.text.patterns import lazy_pattern

CJK: Final = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Han, kana, bopomofo and hangul, as the inside of a regular expression's brackets."""

CJK_CHAR: Final = lazy_pattern(f"[{CJK}]")

_WIDE = lazy_pattern(f"[{CJK}\u3001-\u303f\uff00-\uff65]")
_INVISIBLE = frozenset(
    "\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff"
)
# Putting marks in order takes the square of their number; Unicode's stream-safe format allows 30.
_LONGEST_CLUSTER: Final = 31
PLAIN: Final = r"\s!-~\u4e00-\u9fff。"
"""Characters of which folding changes at most the case, as the inside of a regular expression's
brackets."""
# The last character may have a combining mark behind it, unless another plain one follows.
_PLAIN: Final = lazy_pattern(rf"(?:[!-~]+(?: [!-~]+)*|[\u4e00-\u9fff]+)(?=[{PLAIN}]|\Z)")
_VOICED = "\uff9e\uff9f"  # half-width kana have a separate character for voicing
# Models straighten quotation marks and dashes when they copy; a quote is no less verbatim for it.
_STRAIGHT = str.maketrans(
    "“”„‟«»‘’‚‛‐‑‒–—―−「」『』",
    '""""""\'\'\'\'-------""""',
)


class Folded(NamedTuple):
    """A folded text; `starts[i]` and `ends[i]` are the original offsets of its character `i`."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the original offsets of the folded `text[start:end]`, which is not empty."""
        return self.starts[start], self.ends[end - 1]


def fold(text: str) -> Folded:
    """Fold NFKC, case, width, white space, and the shapes of quotation marks and dashes.

    Runs of white space become one space, and go beside a CJK character and at both ends. Characters
    without width go too.
    """
    if text.isascii() and len(plain := " ".join(text.lower().split())) == len(text):
        return Folded(plain, range(len(text)), range(1, len(text) + 1))
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    gap = -1
    for start, end, whole in _parts(text):
        part = text[start:end]
        if part.isspace():
            gap = start if gap < 0 else gap
            continue
        folded = part.lower() if whole else _fold_cluster(part)
        if not folded:
            continue
        if gap >= 0 and pieces and not (_WIDE.match(folded) or _WIDE.match(pieces[-1][-1])):
            pieces.append(" ")
            starts.append(gap)
            ends.append(start)
        gap = -1
        pieces.append(folded)
        starts.extend(range(start, end) if whole else [start] * len(folded))
        ends.extend(range(start + 1, end + 1) if whole else [end] * len(folded))
    return Folded("".join(pieces), tuple(starts), tuple(ends))


@lru_cache(maxsize=1 << 14)
def _fold_cluster(cluster: str) -> str:
    """Return the cluster without width, case and white space; empty if it is invisible."""
    if cluster in _INVISIBLE:
        return ""
    folded = unicodedata.normalize("NFKC", cluster).casefold().translate(_STRAIGHT)
    return "".join(folded.split())


def _parts(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield spans of plain characters (true), and of one other with its combining marks."""
    start = 0
    while start < len(text):
        run = _PLAIN.match(text, start)
        end = run.end() if run else start + 1
        limit = start if run else min(len(text), start + _LONGEST_CLUSTER)
        while end < limit and (unicodedata.combining(text[end]) or text[end] in _VOICED):
            end += 1
        yield start, end, run is not None
        start = end


def count_cjk(text: str) -> int:
    """Return the number of Han, kana, bopomofo and hangul characters."""
    return len(CJK_CHAR.findall(text))


def estimate_tokens(text: str) -> int:
    """Return the estimated number of tokens: one per CJK character, one per four others."""
    wide = count_cjk(text)
    return wide + -(-(len(text) - wide) // 4)
