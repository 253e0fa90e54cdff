"""What a text says that can be compared: its figures, dates, names and words."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import combinations
from typing import Final

from judge.checks.dates import Date, dates
from judge.checks.names import Mentions, Name, names
from judge.checks.numbers import Unit
from judge.checks.places import Item, Place, Row, places, rows, values
from judge.checks.quantities import MERE, Quantity, quantities
from judge.text.pieces import segments
from judge.text.words import Words, words

_BY: Final = re.compile(
    r"(?:(?<![^\W_])by(?: (?:about|around|nearly|almost|over))?"
    r"|(?:增加|增长|上涨|上升|下降|减少|提高|降低|下跌|便宜|[多少高低贵早晚长短大小快慢涨跌升降重轻深浅])了?"
    r"|少用|多用) ?[$€£¥￥]?\Z",
    re.IGNORECASE,
)
_MORE: Final = re.compile(
    r" ?(?:[a-z]+ )??(?:more|less|fewer|(?!(?:other|under|over|after|per|number|member|paper)\b)"
    r"[a-z]{2,}er)(?: [a-z]+){0,3} than\b"
    r"| ?(?:more|higher|lower|less|cheaper|faster|slower|longer|shorter|older|younger)\b"
    r"(?! (?:of|or)\b)",
    re.IGNORECASE,
)
"""What stands right before a difference, and right behind it."""
_REACH: Final = 16
"""Characters before a figure that are looked at."""
_PAIRED: Final = 6
"""Figures of one sentence that a percentage may be of; more are a table."""
_KEPT: Final = 400_000
"""Characters of texts that are kept as read; as many of those before them are too."""
_LONGEST: Final = 20_000
"""Characters of the longest text that is kept."""


class Statement:
    """What a text says that can be compared, each kind found when it is asked for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._stems: dict[int, frozenset[str]] = {}

    @cached_property
    def dates(self) -> list[Date]:
        """Its dates, in reading order."""
        return dates(self.text)

    @cached_property
    def quantities(self) -> list[Quantity]:
        """Its figures with their units; none that is part of a date."""
        return quantities(self.text, self.dates)

    @cached_property
    def names(self) -> list[Name]:
        """Its names of persons, places and things."""
        return names(self.text, self.dates, self.words)

    @cached_property
    def words(self) -> Words:
        """Its words as stems, with their places."""
        return words(self.text)

    def words_in(self, start: int, end: int) -> Words:
        """The words that begin between two places, which are those of a sentence."""
        own = self.__dict__.get("words")
        if own is None and (_torn(self.text, start) or _torn(self.text, end)):
            own = self.words
        if own is None:
            return words(self.text, start, end)
        run = slice(bisect_left(own.starts, start), bisect_left(own.starts, end))
        return Words(own.stems[run], own.starts[run], own.ends[run])

    @cached_property
    def mentions(self) -> Mentions:
        """To look up which parts of a name it has."""
        return Mentions(self.text, self.words)

    def rows(self, number: int = 0) -> Iterator[Row]:
        """Its sentences with figures and dates; `number` says which text it is."""
        items: list[Item] = [*self.quantities, *self.dates]
        return rows(self.text, self.words_in, items, self.cuts, number)

    @cached_property
    def cuts(self) -> list[tuple[int, int]]:
        """Where its sentences begin and end."""
        return segments(self.text)

    def lone(self) -> Iterator[tuple[object, int]]:
        """The values of figures and dates that have no other of their kind in their sentence."""
        starts = [start for start, _ in self.cuts]
        grouped: dict[tuple[int, str], list[Item]] = {}
        items: list[Item] = [*self.quantities, *self.dates]
        for item in items:
            at = bisect_right(starts, item.start) - 1
            kind = "date" if isinstance(item, Date) else item.readings[0].unit.kind
            grouped.setdefault((at, kind), []).append(item)
        for (at, _), own in grouped.items():
            if len(own) == 1:
                yield from ((value, at) for value in values(own[0]))

    def stems_of(self, at: int) -> frozenset[str]:
        """The stems of one of its sentences, by number."""
        if at not in self._stems:
            self._stems[at] = frozenset(self.words_in(*self.cuts[at]).stems)
        return self._stems[at]

    def shares(self) -> Iterator[float]:
        """What percentage of each other its figures are, within a sentence, and their changes."""
        for one, two in self._pairs():
            (a, unit), (b, other) = one.readings[0], two.readings[0]
            if unit.kind in {other.kind, MERE.kind} or other == MERE:
                for x, y in ((a, b), (b, a)) if a > 0 and b > 0 else ():
                    yield from (100 * x / y, 100 * abs(x - y) / y)

    def sums(self) -> Iterator[tuple[Unit, float]]:
        """What the figures of a sentence that measure or count alike come to together."""
        for figures in self._figures():
            alike: dict[Unit, list[float]] = {}
            for each in figures:
                alike.setdefault(each.readings[0].unit, []).append(each.readings[0].value)
            for unit, own in alike.items():
                if 1 < len(own) <= _PAIRED:
                    yield unit, sum(own)

    def gaps(self) -> Iterator[tuple[Quantity, Quantity, float]]:
        """Sentences that give two figures of one unit, and by how much they differ."""
        for one, two in self._pairs():
            (a, unit), (b, other) = one.readings[0], two.readings[0]
            if unit == other or MERE in (unit, other):
                yield one, two, abs(a - b)

    def _figures(self) -> Iterator[list[Quantity]]:
        """The figures of each sentence that are surely some."""
        figures = [each for each in self.quantities if each.certain]
        starts = [each.start for each in figures]
        for start, end in self.cuts:
            yield figures[bisect_left(starts, start) : bisect_left(starts, end)]

    def _pairs(self) -> Iterator[tuple[Quantity, Quantity]]:
        """Any two of a sentence, where that is no table."""
        few = (figures for figures in self._figures() if len(figures) <= _PAIRED)
        return (pair for figures in few for pair in combinations(figures, 2))

    def differs(self, quantity: Quantity) -> bool:
        """Whether one of its quantities is said to be a difference: `9 euros more`."""
        before = self.text[max(0, quantity.start - _REACH) : quantity.start]
        behind = self.text[quantity.end : quantity.end + 2 * _REACH]
        return bool(_BY.search(before) or _MORE.match(behind))

    @cached_property
    def _placed(self) -> dict[tuple[int, int], Place]:
        made = (place for row in self.rows() for place in places(row))
        return {(place.item.start, place.item.end): place for place in made}

    def place(self, item: Item) -> Place | None:
        """What it says about one of its figures or dates; None in a list of several."""
        return self._placed.get((item.start, item.end))


class Reader:
    """What texts say, those of late kept: chunks and quotes repeat from answer to answer."""

    def __init__(self) -> None:
        self._young: dict[str, Statement] = {}
        self._old: dict[str, Statement] = {}
        self._size = 0

    def __call__(self, text: str) -> Statement:
        """What a text says."""
        own = self._young.get(text)
        if own is None:
            own = self._old.get(text) or Statement(text)
            if len(text) <= _LONGEST:
                self._young[text] = own
                self._size += len(text)
            if self._size > _KEPT:
                self._young, self._old, self._size = {}, self._young, 0
        return own


read: Final = Reader()


def _torn(text: str, place: int) -> bool:
    """Whether a long text without blanks was cut there, in the middle of a word perhaps."""
    return 0 < place < len(text) and all(
        sign.isalnum() or sign in "'’" for sign in text[place - 1 : place + 1]
    )
