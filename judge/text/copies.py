"""Near-copies: two texts that are the same but for a few words, or of which one holds the other."""

import re
from functools import lru_cache
from typing import Final

from judge.text.fold import CJK, fold

_UNIT: Final = re.compile(rf"[{CJK}]|[^\W_{CJK}]+")
_MAX_CHARACTERS: Final = 20_000
"""Only this beginning of a text is compared."""
_MIN_RUNS: Final = 8
"""Shorter texts, such as headings, are near-copies of equal texts alone."""
_MIN_SHARE: Final = 0.8
"""One changed word in fifteen changes three runs of three words in fifteen, and leaves .8."""


def near_copies(one: str, other: str) -> bool:
    """Whether four fifths of the shorter text's runs of three words are in the other text too.

    A word is a CJK character or a run of letters and digits; case and width do not count.

    >>> near_copies("Rain fell.", "rain  fell"), near_copies("Rain fell.", "Snow fell.")
    (True, False)
    """
    (words, runs), (others, other_runs) = _words_and_runs(one), _words_and_runs(other)
    least = min(len(runs), len(other_runs))
    if least >= _MIN_RUNS and len(runs & other_runs) >= _MIN_SHARE * least:
        return True
    return words == others if words else bool(one.strip()) and one == other


@lru_cache(maxsize=256)
def _words_and_runs(text: str) -> tuple[list[str], frozenset[tuple[str, str, str]]]:
    words = _UNIT.findall(fold(text[:_MAX_CHARACTERS]).text)
    return words, frozenset(zip(words, words[1:], words[2:], strict=False))
