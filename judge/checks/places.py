"""Places: what a sentence says about each of its figures and dates."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from heapq import nlargest
from itertools import chain
from math import fsum
from typing import Final, NamedTuple

from judge.checks.dates import Date, Day
from judge.checks.quantities import MERE, Quantity, counted
from judge.text.words import LIGHT, Words, weight

_HITS: Final = 1000
"""Rows of its words that are looked at for one figure of a claim, the rarest words first."""
_THIRD: Final = 0.33
_NEAR: Final = 8
"""Places that share most words with a figure of a claim are compared."""
_ITEMS: Final = 12
"""A sentence of more figures is a table, and says nothing of each."""
COUNT: Final = 13
"""Below that a mere number may be the answer's own count of what a passage lists."""
_MANY: Final = 20
"""Places of one value that are compared; what stands in more is said of many things."""
_CUT: Final = re.compile(
    r"[,，;；、:：()（）而和与及但aAbBwWoO](?:(?<![A-Za-z])|(?<=\s.)(?i:(?<=a)nd|(?<=b)ut"
    r"|(?<=w)hile|(?<=w)hereas|(?<=o)r)(?=\s))"
)
_STRONG: Final = frozenset(";；")
_LISTED: Final = re.compile(r"respectively|分别|依次", re.IGNORECASE)
_HAN_JOINT: Final = "而和与及但"
_DATE: Final = "date"
_LEAST: Final = 0.15
"""The share of a claim's words, by weight, that must stand at the other figure alone."""
_HALF: Final = 0.5
_REST: Final = 0.2
"""What may stand at its own figure alone, by weight: no word that tells something."""

Item = Quantity | Date


class Place(NamedTuple):
    """A figure or date, and what its sentence says about it."""

    item: Item
    kinds: frozenset[str]
    """What it measures or counts: places of one kind can be compared."""
    text: int
    """Which of the texts."""
    sentence: int
    """First character of its sentence."""
    words: frozenset[str]
    """Stems of the telling words of the part of the sentence that belongs to it, and its figures
    of other kinds."""
    core: frozenset[str]
    """Those of its own clause."""
    past: frozenset[str]
    """Words of the place of its kind before it in the sentence, which a clause need not repeat."""
    alone: bool
    """Whether nothing else of its kind stands in that part."""


class Row(NamedTuple):
    """A sentence with figures or dates, of which no places are made yet."""

    text: str
    read: Callable[[int, int], Words]
    """The words of the text between two places."""
    items: Sequence[Item]
    """Those that stand in it."""
    kinds: Sequence[frozenset[str]]
    """Of each item."""
    start: int
    end: int
    number: int
    """Which of the texts."""


def rows(
    text: str,
    read: Callable[[int, int], Words],
    items: Sequence[Item],
    cuts: Sequence[tuple[int, int]],
    number: int = 0,
) -> Iterator[Row]:
    """The sentences of a text of which items and sentences are known, and words can be read."""
    items = sorted((item for item in items if item.certain), key=lambda item: item.start)
    starts = [item.start for item in items]
    listed = [match.start() for match in _LISTED.finditer(text)]
    for start, end in cuts:
        own = items[bisect_left(starts, start) : bisect_left(starts, end)]
        if 0 < len(own) <= _ITEMS and bisect_left(listed, start) == bisect_left(listed, end):
            kinds = [_kinds(item, text) for item in own]
            yield Row(text, read, own, kinds, start, end, number)


def places(row: Row) -> list[Place]:
    """The places of its items, one each."""
    text, read, items, sorts, *span, number = row
    taken = frozenset(at for item in items for at in range(item.start, item.end))
    ends = frozenset(item.end for item in items)
    weak, strong = [span[0]], []
    for match in _CUT.finditer(text, *span):
        joint = match[0] in _HAN_JOINT and match.start() not in ends
        if match.start() not in taken and not joint:
            weak.append(match.start())
            if match[0] in _STRONG:
                strong.append(match.start())
    weak.append(span[1])
    found = read(*span)
    telling = [
        (start, own)
        for start, own in zip(found.starts, found.stems, strict=True)
        if weight(own) > LIGHT and start not in taken
    ]
    whole = frozenset(own for _, own in telling)

    def within(low: int, high: int) -> frozenset[str]:
        if [low, high] == span:
            return whole
        return frozenset(own for start, own in telling if low <= start < high)

    large = [_is_large(item) for item in items]
    made: list[Place] = []
    for at, (item, own) in enumerate(zip(items, sorts, strict=True)):
        others = [n for n in range(len(items)) if n != at]
        like = [n for n in others if own & sorts[n] or (large[at] and large[n])]
        before = items[max((n for n in like if n < at), default=at)]
        behind = items[min((n for n in like if n > at), default=at)]
        low, high = _part(item, before, behind, weak, strong)
        inside = [n for n in others if low <= items[n].start < high]
        apart = [key for n in inside if not own & sorts[n] for key in _key(items[n])]
        words = within(low, high).union(apart)
        core = within(*_clause(item, weak)) or words
        alone = not any(own & sorts[n] for n in inside)
        past = next((each.words for each in reversed(made) if own & each.kinds), frozenset())
        made.append(Place(item, own, number, span[0], words, core, past, alone))
    return made


def _kinds(item: Item, text: str) -> frozenset[str]:
    if isinstance(item, Date):
        return frozenset((_DATE,))
    own = frozenset(unit.kind for _, unit in item.readings) - {MERE.kind}
    thing = None if own else counted(item, text)
    return own or frozenset((f"#{thing}",) if thing else ())


def _is_large(item: Item) -> bool:
    """Whether it is a mere number that is no part of the grammar: `two` of `the two sold 900`."""
    if isinstance(item, Date):
        return False
    return item.readings[0].unit == MERE and item.readings[0].value >= COUNT


def _key(item: Item) -> Iterator[str]:
    if isinstance(item, Date):
        for day in item.readings[:1]:
            yield from (f"{name}={part}" for name, part in day._asdict().items() if part)
    else:
        yield f"={item.readings[0].value:g}"


def _part(
    item: Item, before: Item, behind: Item, weak: Sequence[int], strong: Sequence[int]
) -> tuple[int, int]:
    """Where the part of a sentence that belongs to an item begins and ends.

    It reaches to the clauses of the items of its kind beside it; what stands between belongs to
    both, unless a semicolon parts it.
    """
    low, high = weak[0], weak[-1]
    if before is behind:
        return low, high
    first, last = _clause(item, weak)
    if before is not item:
        low = min(_clause(before, weak)[1], first)
        low = next((cut for cut in strong if low <= cut <= first), low)
    if behind is not item:
        high = max(_clause(behind, weak)[0], last)
        high = next((cut for cut in reversed(strong) if last <= cut <= high), high)
    return low, high


def _clause(item: Item, weak: Sequence[int]) -> tuple[int, int]:
    at = bisect_left(weak, item.start + 1)
    return weak[at - 1], weak[min(bisect_left(weak, item.end), len(weak) - 1)]


class Places:
    """The places of the figures and dates of some sentences, found by kind and words.

    They are made where a sentence has something of the kind or value that is asked for.
    """

    def __init__(self, found: Iterable[Row]) -> None:
        self._rows = list(found)
        self._made: dict[int, list[Place]] = {}

    @cached_property
    def _valued(self) -> dict[object, list[int]]:
        """By value the rows that have it."""
        found: dict[object, list[int]] = defaultdict(list)
        for at, row in enumerate(self._rows):
            for value in dict.fromkeys(value for item in row.items for value in values(item)):
                found[value].append(at)
        return found

    def _places(self, at: int) -> list[Place]:
        if at not in self._made:
            self._made[at] = places(self._rows[at])
        return self._made[at]

    @cached_property
    def _having(self) -> dict[str, list[int]]:
        """By word and figure the rows that have it."""
        found: dict[str, list[int]] = defaultdict(list)
        for at, row in enumerate(self._rows):
            keys = (key for item in row.items for key in _key(item))
            for own in {*row.read(row.start, row.end).stems, *keys}:
                found[own].append(at)
        return found

    def near(self, claim: Place) -> list[tuple[float, Place]]:
        """Those of a claim's kind with its words, and how alike their words are, 0 to 1.

        Of a row that has less than a third of the words by weight no place is half like the claim.
        """
        shared: dict[int, float] = defaultdict(float)
        lists = [(self._having.get(own, ()), weight(own)) for own in claim.words]
        left = _HITS
        for held, own in sorted(lists, key=lambda each: len(each[0])):
            for at in held[:left]:
                shared[at] += own
            left -= min(len(held), left)
        least = _THIRD * weigh(claim.words)
        found = [
            place
            for at in sorted(shared)
            if shared[at] >= least and not claim.kinds.isdisjoint(chain(*self._rows[at].kinds))
            for place in self._places(at)
            if place.kinds & claim.kinds and place.words & claim.words
        ]
        best = nlargest(_NEAR, found, key=lambda place: weigh(claim.words & place.words))
        return [(_alike(claim, place), place) for place in best]

    def holders(self, item: Item) -> list[Place]:
        """Those of exactly its value; none where there are too many to tell."""
        wanted = frozenset(values(item))
        having = {at for each in wanted for at in self._valued.get(each, ())}
        if len(having) > _MANY:
            return []
        made = (place for at in sorted(having) for place in self._places(at))
        found = [place for place in made if not wanted.isdisjoint(values(place.item))]
        return [] if len(found) > _MANY else found


def values(item: Item) -> Iterator[object]:
    """What places are found by: values of a quantity, a date with and without its day and month."""
    if isinstance(item, Date):
        for day in item.readings:
            month, year = Day(day.year, day.month, None, day.weekday), Day(day.year)
            yield from (day, *(own for own in (month, year) if own != day))
    else:
        yield from (value for value, _ in item.readings)


def _alike(claim: Place, place: Place) -> float:
    """Dice's coefficient of their words by weight.

    Words beside the place's own clause that the claim does not have count half, and those that it
    has of the place before, which need not be said again, count for it.
    """
    elided = place.past - place.words
    shared = weigh(claim.words & place.words)
    if place.core:
        shared += weigh(claim.words & elided)
    own = weigh(place.core) + weigh(claim.words & (place.words | elided) - place.core)
    rest = _HALF * weigh(place.words - place.core - claim.words)
    return 2 * shared / (weigh(claim.words) + own + rest)


def belongs(claim: frozenset[str], own: Place, other: Place) -> bool:
    """Whether words speak of the other place rather than of the one that has their figure.

    More of them stand at the other alone, and their own place says something that they do not. A
    clause leaves out what the one before it said: what only the first of two has is no sign.
    """
    mine, theirs = own.words - other.words, other.words - own.words
    if not mine - claim:
        return False
    if follows(other, own):
        return weigh(claim & theirs) >= _LEAST * weigh(claim)
    there, here = weigh(claim & theirs), weigh(claim & mine)
    return there >= _LEAST * weigh(claim) and here <= _REST


def follows(place: Place, other: Place) -> bool:
    """Whether it stands in the sentence of another, behind that."""
    beside = (place.text, place.sentence) == (other.text, other.sentence)
    return beside and other.item.start < place.item.start


def weigh(words: frozenset[str]) -> float:
    """The weight of some stems together."""
    return fsum(map(weight, words))
