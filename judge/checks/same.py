"""Figures that two texts share whatever their units: `2,500 kg` is `2.5 tonnes`."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Final, NamedTuple

from judge.checks.dates import dates
from judge.checks.quantities import Bound, Quantity, quantities
from judge.checks.sequence import Token
from judge.checks.spans import Spans
from judge.checks.units import Reading
from judge.text.pieces import segments
from judge.text.words import CONTENT, grammar, weight, words

_DIGITS: Final = 12
"""Significant; units are converted in floating point."""
_BARE: Final = 80
"""Characters; a figure and its unit, in however many words, are no longer."""


_Key = tuple[str | None, str]


class _Figure(NamedTuple):
    keys: frozenset[_Key]
    """What it measures and how much, one a reading."""
    start: int
    end: int


class Held:
    """The figures and dates of some passages, each read once.

    Args:
        passages: any.
    """

    def __init__(self, passages: Sequence[str]) -> None:
        self._passages = passages
        self._cut: dict[int, list[tuple[int, int]]] = {}

    def look_up(
        self, text: str, told: Sequence[Token], new: Sequence[Token]
    ) -> tuple[int, int, int] | None:
        """Where a passage gives the figures that are all that a sentence adds to its question.

        A passage that is but a figure cannot speak to a verb beside it: held against such a one, a
        sentence may have words of its own, if more of it is its question's.

        Args:
            text: a sentence.
            told: its telling words and numbers that its question says.
            new: those that it does not.

        Returns:
            Which passage, and the sentence of it that holds the first of the figures, by its first
            character and one past its last; None where a figure is missing or is not all.
        """
        own = _figures(text)
        inside = Spans([(each.start, each.end) for each in own])
        others = [token for token in new if not inside.meets(token.start, token.end)]
        if len(others) == len(new) or any(token.value is not None for token in others):
            return None
        fresh = [
            each for each in own if any(t.start < each.end and each.start < t.end for t in new)
        ]
        mine, theirs = (sum(weight(token.key) for token in side) for side in (others, told))
        for at, (places, bare) in enumerate(self._known):
            found = [next((places[k] for k in each.keys if k in places), None) for each in fresh]
            if None not in found and (not others or (bare and mine < theirs)):
                return (at, *self._around(at, min(place for place in found if place is not None)))
        return None

    @cached_property
    def _known(self) -> list[tuple[dict[_Key, int], bool]]:
        """Of each passage where its figures stand first, and whether it is but figures."""
        known = []
        for passage in self._passages:
            found = _figures(passage)
            places = {key: each.start for each in reversed(found) for key in each.keys}
            known.append((places, _bare(passage, found)))
        return known

    def _around(self, at: int, place: int) -> tuple[int, int]:
        spans = self._cut.get(at)
        if spans is None:
            spans = self._cut[at] = segments(self._passages[at])
        return spans[bisect_right(spans, place, key=itemgetter(1))]


def other_bounds(claim: str, passage: str) -> list[str]:
    """The bounds of a claim in whose place a passage has another: `up to 600`, `up to 450`.

    What is at most 450 is at most 600, too; but it is another answer to the same question. And at
    least 5 is not at most 5.

    >>> other_bounds("It costs up to 600 euros.", "It costs up to 450 euros.")
    ['600 euros']
    """
    theirs = [(own.unit, _value(own), each.bound) for each, own in _readings(passage)]
    bounds = {(unit, bound) for unit, _, bound in theirs}
    sides: dict[str, set[Bound | None]] = {}
    for _, value, bound in theirs:
        sides.setdefault(value, set()).add(bound)
    return [
        claim[each.start : each.end]
        for each in quantities(claim)
        if each.bound
        and any((own.unit, each.bound) in bounds or _value(own) in sides for own in each.readings)
        and not any(sides.get(_value(own), set()) & {each.bound, None} for own in each.readings)
    ]


def _readings(text: str) -> Iterator[tuple[Quantity, Reading]]:
    return ((each, own) for each in quantities(text) for own in each.readings)


def _value(reading: Reading) -> str:
    return f"{reading.value:.{_DIGITS}g}"


def _figures(text: str) -> list[_Figure]:
    found = dates(text)
    held = [
        _Figure(frozenset([("date", repr(tuple(date.readings[0])))]), date.start, date.end)
        for date in found
        if date.certain and len(date.readings) == 1
    ]
    for each in quantities(text, found):
        if each.certain:
            kinds = ((own.unit.kind if own.unit else None, own.value) for own in each.readings)
            keys = frozenset((kind, f"{value:.{_DIGITS}g}") for kind, value in kinds)
            held.append(_Figure(keys, each.start, each.end))
    return sorted(held, key=lambda figure: figure.start)


def _bare(passage: str, found: Sequence[_Figure]) -> bool:
    """Whether a passage is but figures and words of grammar."""
    if len(passage) > _BARE:
        return False
    held, light = Spans([(each.start, each.end) for each in found]), Spans(grammar(passage))
    return not any(
        weight(key) > CONTENT and not held.meets(start, end) and not light.meets(start, end)
        for key, start, end in zip(*words(passage), strict=True)
    )
