"""Small, joined and signed numbers that one text has and others lack: `floor 3`, `2:1`, `-5`."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from judge.checks.dates import dates
from judge.checks.quantities import quantities
from judge.checks.spans import Spans
from judge.checks.values import figures
from judge.text.words import words

_LARGE: Final = 13
"""From here on a number is held against evidence wherever it stands, and not only here."""
_JOINT: Final = frozenset("/:：-–−")
_MINUS: Final = re.compile(r"(?:(?:^|[^\w)\]])[-−–]|负|零下|\b(?:minus|negative) )$", re.IGNORECASE)
_LETTER: Final = re.compile(r"[A-Za-z]$")
_BEFORE: Final = 10
"""Characters before a number that a sign may take."""


class _Number(NamedTuple):
    key: str
    """Of its value, with its sign."""
    plain: str
    """Of its value alone."""
    certain: bool
    """False where it may be a mere word, such as `one`."""
    joined: bool
    """Whether it is written as part of another: `2:1`, `1/2`."""
    start: int
    end: int


class Numbers:
    """The numbers of some texts, as they are written, each text read once.

    A passage that evidence is taken from need not count what an answer counts, so that there small
    numbers prove nothing. Of two answers to one question each has the number that was asked for.

    Args:
        texts: the other answer, and the question.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        theirs = [number for text in texts for number in _numbers(text)]
        self._held = {number.key for number in theirs}
        self._plain = {number.plain for number in theirs}

    def lack(self, claim: str) -> list[str]:
        """The small, joined and signed numbers of a claim that none of the texts has.

        Args:
            claim: a sentence, without its citations.

        Returns:
            As the claim writes them, in its order. Dates and numbers with a unit are looked up
            elsewhere, and so is what is large and stands alone.

        >>> Numbers(["floor five"]).lack("It is on floor 3."), Numbers(["第三届"]).lack("第3届")
        (['3'], [])
        """
        found = dates(claim)
        spans = [(date.start, date.end) for date in found]
        spans += [
            (each.start, each.end)
            for each in quantities(claim, found)
            if each.readings[0].unit is not None
        ]
        elsewhere = Spans(sorted(spans))
        return [
            claim[number.start : number.end]
            for number in _numbers(claim)
            if number.certain
            and number.key not in self._held
            and (number.plain in self._plain or _counts(number, elsewhere))
        ]


def _counts(number: _Number, elsewhere: Spans) -> bool:
    if elsewhere.meets(number.start, number.end):
        return False
    value = float(number.plain)
    return number.joined or (value < _LARGE and value.is_integer())


def _numbers(text: str) -> Iterator[_Number]:
    found = figures(text, words(text))
    starts, ends = {each.start for each in found}, {each.end for each in found}
    for each in found:
        value = each.key[1:]
        joined = (text[each.end : each.end + 1] in _JOINT and each.end + 1 in starts) or (
            text[each.start - 1 : each.start] in _JOINT and each.start - 1 in ends
        )
        before = text[max(each.start - _BEFORE, 0) : each.start]
        sign = "-" if not joined and _MINUS.search(before) else ""
        # `B12` and `v2` are names.
        certain = each.certain and not _LETTER.search(before)
        yield _Number(sign + value, value, certain, joined, each.start, each.end)
