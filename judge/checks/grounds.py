"""What a verdict rests on, and what it says of a claim's figures, dates and names."""

import re
from functools import cached_property
from itertools import combinations
from operator import itemgetter
from typing import Final

from judge.checks.counterparts import Sentences
from judge.checks.dates import Calendar, Date
from judge.checks.figures import Figures, Match
from judge.checks.names import AllMentions, Name
from judge.checks.numbers import PERCENT
from judge.checks.places import Item, Place, Places, belongs, values, weigh
from judge.checks.quantities import CENTURY, YEAR, Bound, Quantity, counted, quantities
from judge.checks.statement import Statement, read
from judge.text.words import blank

_SEVERAL: Final = 16
"""Texts that are looked through one by one; of more, what they mention is put together."""
_ALIKE: Final = 0.5
"""A sentence with at least this share of a claim's words may say another thing in its place."""
# Said of whatever lies beyond: `at least ten` and `up to ten` are the figure itself.
_OPEN: Final = re.compile(
    r"(?<!no )(?<!not )(?:(?:more|greater|longer|older|larger|higher|fewer|less|lower|younger"
    r"|shorter) than|(?<![^\W_])(?:over|above|under|below|exceed(?:s|ed|ing)?)) [$€£¥]?\Z"
    r"|(?<!不)(?:超过|超|逾|高于|多于|大于|不足|不满|低于|少于|小于)\Z",
    re.IGNORECASE,
)
_REACH: Final = 16
"""Characters before a figure that are looked at."""
_FEW: Final = 16
"""Sentences with a figure that are looked at before all places are."""
_LIKE: Final = 0.6
"""The same of a figure that stands elsewhere."""


class Grounds:
    """What a verdict rests on: the sentences its quotes touch, and the chunks with their names."""

    def __init__(self, close: tuple[Statement, ...], wide: tuple[Statement, ...]) -> None:
        self._close = close
        self._wide = wide
        self._rivals: dict[tuple[Place, float], Place | None] = {}

    @cached_property
    def figures(self) -> Figures:
        """The figures of the sentences, to look others up in."""
        return Figures(each for text in self._close for each in text.quantities)

    @cached_property
    def calendar(self) -> Calendar:
        """Their dates likewise."""
        return Calendar(each for text in self._close for each in text.dates)

    @cached_property
    def things(self) -> frozenset[str]:
        """What the sentences count."""
        found = (counted(each, text.text) for text in self._close for each in text.quantities)
        return frozenset(filter(None, found))

    def match(self, quantity: Quantity, said: Statement) -> Match:
        """What becomes of a quantity; a year may be a number: `2021 visitors`."""
        match = self.figures.look_up(quantity)
        if match is Match.FOUND:
            return match
        value, unit = quantity.readings[0]
        if unit == CENTURY:
            return Match.FOUND if self.calendar.reaches(value) else match
        year = match is Match.MISSING and self.calendar.has(value)
        return Match.FOUND if year or self._derives(quantity, said) else match

    def _derives(self, quantity: Quantity, said: Statement) -> bool:
        """Whether a percentage is that of two figures of a sentence, or a difference theirs."""
        value, unit = quantity.readings[0]
        if unit == PERCENT:
            return self._shares.look_up(quantity) is Match.FOUND
        if value in self._gaps.get(unit, ()) and said.differs(quantity):
            return True
        if unit == YEAR and value / unit.factor in self._spans:
            return True
        # `The 13th` is no sum.
        ordinal = said.text.endswith(("st", "nd", "rd", "th"), 0, quantity.end)
        return not ordinal and value in self._sums.get(unit, ())

    @cached_property
    def _sums(self) -> dict[object, set[float]]:
        """By unit, what the figures of a sentence come to."""
        found: dict[object, set[float]] = {}
        for text in self._close:
            for unit, total in text.sums():
                found.setdefault(unit, set()).add(total)
        return found

    @cached_property
    def _spans(self) -> set[float]:
        """Years between two years of a text."""
        years = {
            (text, date.readings[0][0])
            for text in self._close
            for date in text.dates[:_FEW]
            if date.readings and date.readings[0][0]
        }
        return {
            float(abs(a - b))
            for (one, a), (two, b) in combinations(years, 2)
            if one is two and a and b
        }

    @cached_property
    def _gaps(self) -> dict[object, set[float]]:
        """By unit, how much two figures of a sentence differ."""
        found: dict[object, set[float]] = {}
        for text in self._close:
            for one, two, gap in text.gaps():
                for each in (one, two):
                    found.setdefault(each.readings[0].unit, set()).add(gap)
        return found

    def otherwise(self, said: Statement, quantity: Quantity) -> str | None:
        """How much two figures differ, of which a claim gives one as their difference."""
        value, unit = quantity.readings[0]
        if not said.differs(quantity) or value in self._gaps.get(unit, ()):
            return None
        told = [
            (text, each, gap)
            for text in self._close[:-1]
            for one, two, gap in text.gaps()
            for each in (one, two)
            if each.readings[0] == quantity.readings[0] and gap
        ]
        if not told or any(text.differs(each) for text, each, _ in told):
            return None
        return f"{told[0][2]:.15g}"

    @cached_property
    def _shares(self) -> Figures:
        """What percentage of each other the figures of a sentence are, and their changes."""
        shares = {share for text in self._close for share in text.shares()}
        return Figures(quantity for share in shares for quantity in quantities(f"{share:.3f} %"))

    def dated(self, date: Date) -> bool:
        """Whether a date follows from these; a year may be a number here too."""
        year, *rest = date.readings[0]
        return self.calendar.covers(date) or (
            year is not None and not any(rest) and self.figures.has(year)
        )

    def lacks(self, name: Name) -> bool:
        """Whether a part of a name stands in none of the texts."""
        if len(self._wide) > _SEVERAL:
            return self._mentions.lacks(name)
        if any(name.written in text.text for text in self._wide):
            return False
        missing = frozenset(name.parts)
        for text in self._wide:
            missing &= text.mentions.missing(name) if missing else missing
        return bool(missing)

    def instead(self, said: Statement, item: Item) -> str | None:
        """What of its kind stands where a claim has an item that stands nowhere."""
        best = self._rival(own) if (own := said.place(item)) else None
        return self._written(best) if best else None

    def implies(self, said: Statement, quantity: Quantity) -> bool:
        """Whether what stands in its place holds for it too: 15 days are more than ten."""
        best = self._rival(own) if (own := said.place(quantity)) else None
        if best is None or not isinstance(best.item, Quantity) or not best.item.bound:
            return False
        text, other = self._close[best.text].text, best.item
        if quantity.bound or not _OPEN.search(text, max(0, other.start - _REACH), other.start):
            return False
        (value, _), (limit, _) = quantity.readings[0], other.readings[0]
        return value > limit if other.bound is Bound.LOWER else value < limit

    def misplaced(self, said: Statement, item: Item) -> str | None:
        """What stands there instead, where a claim has an item of something else."""
        # What stands beside nothing of its kind is not mistaken for it: most quotes are short.
        texts = self._close[:-1]
        many = sum(len(t.dates if isinstance(item, Date) else t.quantities) for t in texts)
        own = said.place(item) if many > 1 else None
        if not own or not own.alone or self._asked(item):
            return None
        if self._stands(own):
            return None
        holders = self._places.holders(item)
        best = self._rival(own, _LIKE) if holders else None
        beaten = best and all(belongs(own.words, each, best) for each in holders)
        return self._written(best) if best and beaten else None

    def _stands(self, own: Place) -> bool:
        """Whether a sentence with one figure of its kind has this one, and most of its words.

        Most claims are settled so, before the places of the evidence are made.
        """
        enough = _LIKE * weigh(own.words)
        return any(
            weigh(own.words & text.stems_of(at)) >= enough
            for value in values(own.item)
            for text, at in self._lone.get(value, ())
        )

    @cached_property
    def _lone(self) -> dict[object, list[tuple[Statement, int]]]:
        """By value of a figure or date, the first sentences that have no other of its kind."""
        found: dict[object, list[tuple[Statement, int]]] = {}
        for text in self._close[:-1]:
            for value, at in text.lone():
                own = found.setdefault(value, [])
                if len(own) < _FEW:
                    own.append((text, at))
        return found

    def _rival(self, own: Place, least: float = _ALIKE) -> Place | None:
        """The place most like a claim's where another figure stands."""
        best = self._rivals.get(key := (own, least), own)
        if best is own:
            found = [
                (alike, place)
                for alike, place in self._places.near(own)
                if alike >= least and place.alone and _differ(own.item, place.item)
            ]
            best = self._rivals[key] = max(found, key=itemgetter(0), default=(0.0, None))[1]
        return best

    def _written(self, place: Place) -> str:
        text = self._close[place.text].text
        return text[place.item.start : place.item.end].rstrip(".")

    def _asked(self, item: Item) -> bool:
        """Whether the question has it."""
        if isinstance(item, Date):
            return self._query[1].covers(item)
        return self._query[0].look_up(item) is Match.FOUND

    @cached_property
    def _query(self) -> tuple[Figures, Calendar]:
        query = self._close[-1]
        return Figures(query.quantities), Calendar(query.dates)

    @cached_property
    def _places(self) -> Places:
        # The last is the question.
        texts = self._close[:-1]
        return Places(row for n, text in enumerate(texts) for row in text.rows(n))

    def other_name(self, said: Statement, name: Name) -> str | None:
        """The one name of the nearest sentence that the claim does not mention."""
        near = self._nearest(said, name)
        strange = [
            each.written
            for each in (near.names if near else ())
            if each.certain and said.mentions.lacks(each)
        ]
        return strange[0] if len(strange) == 1 else None

    @cached_property
    def _sentences(self) -> Sentences:
        # The last is the question.
        return Sentences(self._close[:-1])

    def _nearest(self, said: Statement, *without: Name) -> Statement | None:
        """The sentence that has most of what a claim says of its figures and dates, and half."""
        placed: tuple[Quantity | Date | Name, ...] = (*said.quantities, *said.dates, *without)
        spans = sorted((each.start, each.end) for each in placed)
        found = self._sentences.nearest(blank(said.text, spans))
        if found is None or found.share < _ALIKE:
            return None
        return read(self._close[found.text].text[found.start : found.end])

    @cached_property
    def _mentions(self) -> AllMentions:
        return AllMentions([text.mentions for text in self._wide])


def _differ(one: Item, two: Item) -> bool:
    """Whether two of a kind are not the same."""
    if isinstance(one, Date) or isinstance(two, Date):
        return isinstance(one, Date) and isinstance(two, Date) and _conflict(one, two)
    return Figures((two,)).look_up(one) is not Match.FOUND


def _conflict(one: Date, two: Date) -> bool:
    """Whether two dates cannot be the same day."""
    return bool(two.readings) and all(
        any(a != b for a, b in zip(mine, theirs, strict=True) if None not in (a, b))
        for mine in one.readings
        for theirs in two.readings
    )
