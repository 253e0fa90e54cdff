"""Two sentences that say the same but for one figure, date, unit, name or denial."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise, takewhile
from typing import Final

from judge.checks.calendars import Calendar
from judge.checks.dates import Date
from judge.checks.quantities import Quantity
from judge.checks.rounding import Figures, Match
from judge.retrieval.statements import Part, Statement, capitalised, telling
from judge.text.fold import CJK_CHAR

_LEAST: Final = 2.0
"""Telling words that both must have."""
_AROUND: Final = 6.0
"""The same, where a name differs: short sentences are alike by chance, and of different things."""
_LONGEST_NAME: Final = 4.0
"""Telling words of a name."""
_RANGE: Final = re.compile(r"\s?[-–—~～/]\s?")
_STOPS: Final = re.compile(r"[.!?;:,。！？；：，、\n]")


def differ(one: Statement, other: Statement) -> tuple[str, str] | None:
    """What the one says otherwise than the other, as each wrote it; None where nothing is.

    Every telling word must stand in both in the same order, and they may differ in one place alone:
    by a figure or date that is no rounding or part of the other, by its unit, by a name, or by a
    denial. Where two things differ one may be the condition of the other: `in 2020 5 m` and `in
    2021 6 m` go together. For the same reason other matters, not differences, are a date that
    opens a sentence or ends a line without a full stop, a year beside a name (`the 2020
    Olympics`), a number behind one (`Model 3`), and the name a sentence opens with. Questions deny
    nothing, and a denial within `if` or `whether` none either. Names that share a word may be one
    name. Chinese shows no names: there any other word in a long sentence is taken for one, so that
    a mere synonym may be reported.
    """
    if one.asks or other.asks:
        return None
    front = _shared(one.parts, other.parts)
    back = _shared(one.parts[front:][::-1], other.parts[front:][::-1])
    own, theirs = (side.parts[front : len(side.parts) - back] for side in (one, other))
    shared = telling((*one.parts[:front], *one.parts[len(one.parts) - back :]))
    if not own and not theirs:
        return _denied(one, other) if shared >= _LEAST else None
    if not own or not theirs or len(one.denials) != len(other.denials):
        return None
    if _are_figures(own, theirs):
        ranges = _is_one(one.text, own) and _is_one(other.text, theirs)
        fits = ranges and shared + min(telling(own), telling(theirs)) >= _LEAST
    else:
        opens = telling(one.parts[:front]) == 0
        fits = shared >= _AROUND and not opens and _are_names((one.text, own), (other.text, theirs))
    return (_written(one.text, own), _written(other.text, theirs)) if fits else None


def _shared(one: Sequence[Part], other: Sequence[Part]) -> int:
    """How many parts say the same from the start on."""
    both = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: _is_same(*pair), both))


def _is_same(one: Part, other: Part) -> bool:
    if isinstance(one.what, Date) and isinstance(other.what, Date):
        return Calendar([other.what]).covers(one.what) or Calendar([one.what]).covers(other.what)
    if isinstance(one.what, Quantity) and isinstance(other.what, Quantity):
        # Two limits of one side are two limits: `at most 500` is no other way to say `at most 600`.
        limits = one.what.bound is not None and one.what.bound is other.what.bound
        said = [each._replace(bound=None) if limits else each for each in (one.what, other.what)]
        return Match.FOUND in _matches(*said)
    return one.what is None and other.what is None and one.key == other.key


def _matches(one: Quantity, other: Quantity) -> tuple[Match, Match]:
    return Figures([other]).look_up(one), Figures([one]).look_up(other)


def _are_figures(own: Sequence[Part], theirs: Sequence[Part]) -> bool:
    """Whether figures alone differ, and such as can be compared: hours with hours."""
    return len(own) == len(theirs) and all(map(_is_comparable, own, theirs))


def _is_one(text: str, parts: Sequence[Part]) -> bool:
    """Whether these are one figure or the two ends of a range."""
    gaps = (text[a.end : b.start] for a, b in pairwise(parts))
    return all(map(_RANGE.fullmatch, gaps))


def _is_comparable(one: Part, other: Part) -> bool:
    if isinstance(one.what, Quantity) and isinstance(other.what, Quantity):
        units = (one.what.readings[0].unit, other.what.readings[0].unit)
        kinds = {unit and unit.kind for unit in units}
        return len(kinds) == 1 or Match.OTHER_UNIT in _matches(one.what, other.what)
    return isinstance(one.what, Date) and isinstance(other.what, Date)


def _are_names(*sides: tuple[str, Sequence[Part]]) -> bool:
    keys = [{part.key for part in parts} for _, parts in sides]
    return keys[0].isdisjoint(keys[1]) and all(
        telling(parts) <= _LONGEST_NAME
        and not _STOPS.search(_written(text, parts))
        and all(
            part.what is None and (CJK_CHAR.match(part.key) or capitalised(part, text))
            for part in parts
        )
        for text, parts in sides
    )


def _written(text: str, parts: Sequence[Part]) -> str:
    return text[parts[0].start : parts[-1].end]


def _denied(one: Statement, other: Statement) -> tuple[str, str] | None:
    """What one side denies and the other does not, as each wrote it."""
    own, theirs = dict(one.denials), dict(other.denials)
    at, *more = own.keys() ^ theirs.keys() or (len(one.parts),)
    if more or at == len(one.parts) or one.supposes or other.supposes:
        return None
    return _clause(one, at, own), _clause(other, at, theirs)


def _clause(side: Statement, at: int, denials: Mapping[int, int]) -> str:
    """The word that is denied on one side, and the denial on that."""
    word, *behind = side.parts[at : at + 2]
    # A Chinese word is seldom one character.
    joined = [part for part in behind if CJK_CHAR.match(word.key) and part.start == word.end]
    return side.text[denials.get(at, word.start) : (joined or [word])[0].end]
