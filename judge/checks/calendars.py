"""Dates looked up by what they say: whether one follows from many."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from itertools import accumulate, product
from typing import TypeAlias

from judge.checks.dates import Date, Day

_Rest: TypeAlias = tuple[int | None, int | None, int | None]


class Calendar:
    """Dates in such an order that each look-up costs a few steps.

    Args:
        dates: any, in any order.
    """

    def __init__(self, dates: Iterable[Date]) -> None:
        self._rests: dict[_Rest, set[tuple[int, int] | None]] = defaultdict(set)
        for day in {day for date in dates for day in date.readings}:
            # `May 2021` follows from `3 May 2021`, and so does all else that leaves a part out.
            for rest in product({day.month, None}, {day.day, None}, {day.weekday, None}):
                self._rests[rest].add(day.years)
        self._spans = {rest: _Spans(filter(None, years)) for rest, years in self._rests.items()}

    def covers(self, date: Date) -> bool:
        """Whether a date follows from these, its year and its day perhaps from two of them.

        `3 May 2021` follows from `3 May` and `2021`, yet not from `3 May 2020` and `2021`.
        """
        return any(map(self._follows, date.readings))

    def has(self, year: float) -> bool:
        """Whether that one year is said, with or without a day of it."""
        return (year, year) in self._rests.get((None, None, None), ())

    def _follows(self, day: Day) -> bool:
        rest = day[1:]
        years = self._rests.get(rest)
        if years is None:
            return False
        if day.years is None or self._spans[rest].inside(*day.years):
            return True
        known = self._spans[None, None, None].inside(*day.years)
        return day.month is not None and known and (None in years or day.years in years)


class _Spans:
    """Spans of years, asked whether one lies inside another."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        ordered = sorted(spans)
        self._firsts = [first for first, _ in ordered]
        lasts = [last for _, last in reversed(ordered)]
        self._least = list(accumulate(lasts, min))[::-1]

    def inside(self, first: int, last: int) -> bool:
        place = bisect_left(self._firsts, first)
        return place < len(self._least) and self._least[place] <= last
