"""Ways: from one thing to another, or one before another, and the other way round elsewhere."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from judge.checks.clauses import Clause, share

_NEAR: Final = 0.7
"""The share of a claim's words, by weight, that a sentence has which speaks of the same way."""
_WAY: Final = re.compile(
    r"\bfrom\s(?P<a>[^.;]{1,60}?)\s(?:in)?to\s(?P<b>[^.,;]{1,60})"
    r"|\bto\s(?P<d>(?-i:[A-Z])\w{1,20}(?: \w{1,20})?)\sfrom\s(?P<c>[^.,;]{1,60})"
    r"|[从由自](?P<e>[^，。；]{1,20}?)[^，。；]?(?:至|到|往|为)(?P<f>[^，。；]{1,20})"
    r"|先(?P<g>[^。；]{1,20}?)[，,]?(?:再|然后|后)(?P<h>[^，。；]{1,20})",
    re.IGNORECASE,
)
_ENDS: Final = (("a", "b"), ("c", "d"), ("e", "f"), ("g", "h"))
_REACH: Final = 3
"""Telling words at either end."""


def turned_way(
    own: tuple[Clause, ...], sentences: Sequence[tuple[Clause, ...]]
) -> tuple[str, str] | None:
    """A way of a claim, and the evidence's, which goes from its end to its beginning."""
    for begins, ends, phrase in _ways(own):
        for sentence in sentences:
            for start, end, instead in _ways(sentence):
                if (
                    begins & end
                    and ends & start
                    and not begins & start
                    and not ends & end
                    and share(own, sentence) >= _NEAR
                ):
                    return phrase, instead
    return None


@lru_cache(maxsize=1 << 12)
def _ways(sentence: tuple[Clause, ...]) -> list[tuple[frozenset[str], frozenset[str], str]]:
    return list(_read(sentence)) if sentence else []


def _read(sentence: tuple[Clause, ...]) -> Iterator[tuple[frozenset[str], frozenset[str], str]]:
    words = [word for clause in sentence for word in clause.words]
    for match in _WAY.finditer(sentence[0].text):
        for one, two in _ENDS:
            if match[one]:
                start, end = (
                    {word.key for word in [w for w in words if low <= w.start < high][:_REACH]}
                    for low, high in (match.span(one), match.span(two))
                )
                # What stands at both ends, such as a unit, tells neither.
                yield frozenset(start - end), frozenset(end - start), match[0]
