"""Figures, dates, units and names of a `full` that its evidence does not have."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final, NamedTuple

from judge.records import (
    Flag,
    FlagName,
    JudgeOutcome,
    JudgeRequest,
    Support,
    Verdict,
)
from judge.text.claims import claims
from judge.text.dates import Date, covers, dates
from judge.text.mentions import Mentions
from judge.text.names import Name, names
from judge.text.numbers import MEASURES
from judge.text.quantities import Quantity, quantities
from judge.text.rounding import Match, look_up
from judge.text.windows import segments
from judge.text.words import LIGHT, blank_markup, stems, weight

_COUNT: Final = 13
"""Below that a number in words may be the answer's own count of what a passage lists."""
_MOST: Final = 200
"""So many figures, dates or names of one sentence are looked up: more are a table, and a square."""
_REACH: Final = 30
_WORDS: Final = 2


def mismatches(request: JudgeRequest, outcomes: Mapping[int, JudgeOutcome]) -> tuple[Flag, ...]:
    """Flag every `full` with something its evidence lacks, whoever judged it; no verdict changes.

    Figures, dates and units must stand in a sentence that a found quote touches, or in the
    question; names anywhere in a chunk that is quoted or said to support, or in the question.
    Where no quote was found, the chunks said to support are the evidence; where there are none
    either, nothing can be compared.

    Args:
        request: what the judge was asked.
        outcomes: by sentence index, their quotes looked up.

    Returns:
        At most one flag of each name a sentence, in the order of the sentences.
    """
    full = {
        index: outcome
        for index, outcome in sorted(outcomes.items())
        if isinstance(outcome, Verdict) and outcome.support is Support.FULL
    }
    said = {i: _Said(blank_markup(text)) for i, text in claims(request, tuple(full)).items()}
    proper = {
        part for each in said.values() for name in each.names if name.certain for part in name.parts
    }
    shelf = _Shelf(request)
    return tuple(
        Flag(name=name, sentence=index, detail="; ".join(dict.fromkeys(missing)))
        for index, verdict in full.items()
        if (grounds := shelf.grounds(verdict)) is not None
        for name, missing in _compare(said[index], grounds, proper)
        if missing
    )


class _Said:
    """What a text says that can be compared, each kind found when it is asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def dates(self) -> list[Date]:
        return dates(self.text)

    @cached_property
    def quantities(self) -> list[Quantity]:
        return quantities(self.text, self.dates)

    @cached_property
    def names(self) -> list[Name]:
        return names(self.text, self.dates)

    @cached_property
    def mentions(self) -> Mentions:
        return Mentions(self.text)


class _Grounds(NamedTuple):
    """What a verdict rests on, the question included."""

    close: tuple[_Said, ...]
    """The sentences that its quotes touch."""
    wide: tuple[_Said, ...]
    """The chunks they stand in, and those said to support."""


class _Shelf:
    """The question and the chunks, each read at most once."""

    def __init__(self, request: JudgeRequest) -> None:
        self._query = _Said(request.query)
        self._texts: dict[str, list[str]] = {}
        for chunk in request.chunks:
            self._texts.setdefault(chunk.chunk_id, []).append(chunk.text)
        self._read: dict[str, _Said] = {}
        self._cuts: dict[str, list[tuple[int, int]]] = {}

    def grounds(self, verdict: Verdict) -> _Grounds | None:
        """What the sentence is compared with; None where there is nothing."""
        held = [text for chunk in verdict.supporting for text in self._texts.get(chunk, ())]
        quoted = [
            (text, evidence.start, evidence.end)
            for evidence in verdict.evidence
            if evidence.verified and evidence.start is not None and evidence.end is not None
            for text in self._texts.get(evidence.chunk_id, ())
            if text[evidence.start : evidence.end] == evidence.quote
        ]
        close = [self._around(*quote) for quote in quoted] or held
        if not close:
            return None
        wide = [*(text for text, _, _ in quoted), *held]
        return _Grounds((*self._say(close), self._query), (*self._say(wide), self._query))

    def _around(self, text: str, start: int, end: int) -> str:
        """A quote of a few words, made up to whole sentences."""
        if text not in self._cuts:
            self._cuts[text] = segments(text)
        touched = [
            edge for cut in self._cuts[text] if cut[0] < end and cut[1] > start for edge in cut
        ]
        return text[min(start, *touched) : max(end, *touched)] if touched else text[start:end]

    def _say(self, texts: list[str]) -> Iterator[_Said]:
        for text in dict.fromkeys(texts):
            if text not in self._read:
                self._read[text] = _Said(text)
            yield self._read[text]


def _compare(
    said: _Said, grounds: _Grounds, proper: set[str]
) -> Iterator[tuple[FlagName, list[str]]]:
    held = (
        each for each in said.quantities[:_MOST] if each.certain and _is_figure(each, said, grounds)
    )
    numbers = [(each, _find(each, grounds)) for each in held]
    for name, fault in (
        (FlagName.MISMATCH_NUMBER, Match.MISSING),
        (FlagName.MISMATCH_UNIT, Match.OTHER_UNIT),
    ):
        yield name, [said.text[q.start : q.end] for q, match in numbers if match is fault]
    lost = [date for date in said.dates[:_MOST] if date.certain and not _dated(date, grounds)]
    yield FlagName.MISMATCH_DATE, [said.text[date.start : date.end].rstrip(".") for date in lost]
    # A capital at the start of a sentence tells nothing, unless the word is a name elsewhere in the
    # answer; `Celsius` is part of a quantity.
    yield (
        FlagName.MISMATCH_NAME,
        [
            name.written
            for name in said.names[:_MOST]
            if (name.certain or proper.issuperset(name.parts))
            and not any(each.start < name.start < each.end for each in said.quantities[:_MOST])
            and frozenset.intersection(*(text.mentions.missing(name) for text in grounds.wide))
        ],
    )


def _is_figure(quantity: Quantity, said: _Said, grounds: _Grounds) -> bool:
    """Whether a passage can be expected to give a number.

    An answer says `three reasons` of what a passage merely lists. A small number in words is held
    against the evidence only if that counts the same thing: `three men` where it says `two men`.
    """
    value, unit = quantity.readings[0]
    if not quantity.spelled or value >= _COUNT or unit is not None:
        return True
    things = _things(said.text, quantity)
    return any(
        things & _things(text.text, other) for text in grounds.close for other in text.quantities
    )


def _things(text: str, quantity: Quantity) -> frozenset[str]:
    """Stems of the words behind a number that say what it counts."""
    behind = stems(text[quantity.end : quantity.end + _REACH])
    told = [stem for stem in behind if weight(stem) > LIGHT and stem not in MEASURES]
    return frozenset(told[:_WORDS])


def _find(quantity: Quantity, grounds: _Grounds) -> Match:
    match = look_up(quantity, (other for text in grounds.close for other in text.quantities))
    if match is not Match.MISSING:
        return match
    # Four digits alone are read as a year, and may be a number: `2021 visitors`.
    value = quantity.readings[0].value
    days = (day for text in grounds.close for date in text.dates for day in date.readings)
    return Match.FOUND if any(day.years == (value, value) for day in days) else match


def _dated(date: Date, grounds: _Grounds) -> bool:
    if covers([other for text in grounds.close for other in text.dates], date):
        return True
    years, *rest = date.readings[0]
    if years is None or years[0] != years[1] or any(part is not None for part in rest):
        return False
    given = (other for text in grounds.close for other in text.quantities)
    return any(reading.value == years[0] for other in given for reading in other.readings)
