"""Places: what a sentence says about each of its figures and dates."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from heapq import nlargest
from typing import Final, NamedTuple

from judge.checks.dates import Date, Day
from judge.checks.quantities import MERE, Quantity, counted
from judge.text.words import LIGHT, Words, weight

_HITS: Final = 500
"""Places of its words that are looked at for one figure of a claim, the rarest words first."""
_NEAR: Final = 8
"""Places that share most words with a figure of a claim are compared."""
_ITEMS: Final = 12
"""A sentence of more figures is a table, and says nothing of each."""
COUNT: Final = 13
"""Below that a mere number may be the answer's own count of what a passage lists."""
_MANY: Final = 20
"""Places of one value that are compared; what stands in more is said of many things."""
_CUT: Final = re.compile(
    r"[,，;；、:：()（）]|(?<=\s)(?:and|but|while|whereas|or)(?=\s)|[而和与及但]", re.IGNORECASE
)
_STRONG: Final = re.compile(r"[;；]")
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


def places(
    text: str, found: Words, items: Sequence[Item], cuts: Sequence[tuple[int, int]], number: int = 0
) -> Iterator[Place]:
    """The places of the items of a text, of which the words and sentences are known."""
    items = sorted((item for item in items if item.certain), key=lambda item: item.start)
    starts = [item.start for item in items]
    listed = [match.start() for match in _LISTED.finditer(text)]
    for start, end in cuts:
        own = items[bisect_left(starts, start) : bisect_left(starts, end)]
        if 0 < len(own) <= _ITEMS and bisect_left(listed, start) == bisect_left(listed, end):
            yield from _sentence(text, found, own, (start, end), number)


def _sentence(
    text: str, found: Words, items: Sequence[Item], span: tuple[int, int], number: int
) -> list[Place]:
    owner = {place: at for at, item in enumerate(items) for place in range(item.start, item.end)}
    ends = frozenset(item.end for item in items)
    weak, strong = [span[0]], []
    for match in _CUT.finditer(text, *span):
        joint = match[0] in _HAN_JOINT and match.start() not in ends
        if match.start() not in owner and not joint:
            weak.append(match.start())
            if _STRONG.match(match[0]):
                strong.append(match.start())
    weak.append(span[1])
    run = slice(bisect_left(found.starts, span[0]), bisect_left(found.starts, span[1]))
    telling = [
        (start, own)
        for start, own in zip(found.starts[run], found.stems[run], strict=True)
        if weight(own) > LIGHT and start not in owner
    ]
    sorts = [_kinds(item, text) for item in items]
    large = [_is_large(item) for item in items]
    made: list[Place] = []
    for at, item in enumerate(items):
        like = [
            n
            for n, own in enumerate(sorts)
            if n != at and (own & sorts[at] or (large[at] and large[n]))
        ]
        before = items[max((n for n in like if n < at), default=at)]
        behind = items[min((n for n in like if n > at), default=at)]
        low, high = _part(item, before, behind, weak, strong)
        words = {stem for start, stem in telling if low <= start < high}
        first, last = _clause(item, weak)
        core = {stem for start, stem in telling if first <= start < last} or words
        alone = True
        for each, own in zip(items, sorts, strict=True):
            if low <= each.start < high and each is not item:
                alone = alone and not own & sorts[at]
                words.update(() if own & sorts[at] else _key(each))
        past = next((own.words for own in reversed(made) if own.kinds & sorts[at]), frozenset())
        made.append(
            Place(item, sorts[at], number, span[0], frozenset(words), frozenset(core), past, alone)
        )
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
    first, last = _clause(item, weak)
    low, high = weak[0], weak[-1]
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
    """The places of the figures and dates of some texts, found by kind and words."""

    def __init__(self, found: Sequence[Place]) -> None:
        self._places = found
        self._valued: dict[object, list[int]] = defaultdict(list)
        self._holders: dict[tuple[str, str], list[int]] = defaultdict(list)
        for number, place in enumerate(found):
            for value in values(place.item):
                self._valued[value].append(number)
            for kind in place.kinds:
                for own in place.words:
                    self._holders[kind, own].append(number)

    def near(self, claim: Place) -> list[tuple[float, Place]]:
        """Those of a claim's kind with its words, and how alike their words are, 0 to 1."""
        shared: dict[int, float] = defaultdict(float)
        for kind in claim.kinds:
            lists = [(self._holders.get((kind, own), ()), weight(own)) for own in claim.words]
            left = _HITS
            for held, own in sorted(lists, key=lambda each: len(each[0])):
                for number in held[:left]:
                    shared[number] += own
                left -= min(len(held), left)
        best = nlargest(_NEAR, shared, key=lambda number: (shared[number], -number))
        return [(_alike(claim, self._places[each]), self._places[each]) for each in best]

    def holders(self, item: Item) -> list[Place]:
        """Those of exactly its value; none where there are too many to tell."""
        numbers = {number for each in values(item) for number in self._valued.get(each, ())}
        return [] if len(numbers) > _MANY else [self._places[each] for each in sorted(numbers)]


def values(item: Item) -> Iterator[object]:
    """What places are found by: values of a quantity, a date with and without its day and month."""
    if isinstance(item, Date):
        for day in item.readings:
            yield from (
                day,
                *(own for own in (day._replace(day=None), Day(day.year)) if own != day),
            )
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
    return sum(map(weight, words))
