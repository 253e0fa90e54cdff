"""Numbers and dates by value, as terms look them up: `3 May 2021` is `2021年5月3日`."""

from typing import Final, NamedTuple

from judge.checks.counted import counted
from judge.checks.dates import Date, Day, dates
from judge.checks.numbers import numbers
from judge.text.words import Words

NUMBER: Final = "#"
"""What the keys of values begin with, and no word's key."""


class Value(NamedTuple):
    """A number, or a day or month of the calendar, and its place."""

    key: str
    """Equal for equal values, in whatever language or way of writing."""
    counts: str
    """What it counts, as `counted` says; of values that count the same, one denies the other."""
    certain: bool
    """False where it may be a mere word, or may be read in another way."""
    start: int
    """First character."""
    end: int
    """One past the last."""


def figures(text: str, said: Words) -> list[Value]:
    """The numbers of a text, in reading order.

    Args:
        text: any.
        said: its words.
    """
    return [
        Value(
            number_key(number.value),
            counted(text, number, said),
            number.certain,
            number.start,
            number.end,
        )
        for number in numbers(text)
    ]


def days(text: str) -> list[Value]:
    """The days and months of a text, in reading order; its years are figures.

    >>> [value.key for value in days("from 3 May 2021 to 6月5日")]
    ['#05-03', '#2021-05', '#06-05']
    """
    return [value for date in dates(text) for value in _dated(date)]


def number_key(value: float) -> str:
    """The key of a number: equal for equal values."""
    return f"{NUMBER}{value:.15g}"


def _dated(date: Date) -> list[Value]:
    certain = date.certain and len(date.readings) == 1
    return [
        Value(key, counts, certain, date.start, date.end)
        for day in date.readings
        for key, counts in _keys(day)
    ]


def _keys(day: Day) -> list[tuple[str, str]]:
    keys = []
    if day.month and day.day:
        keys.append((f"{NUMBER}{day.month:02}-{day.day:02}", "日"))
    if day.month and day.year:
        keys.append((f"{NUMBER}{day.year}-{day.month:02}", "月"))
    return keys
