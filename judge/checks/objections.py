"""Objections: what code finds against a `full`, whoever judged it."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from judge.checks.contradictions import contradiction
from judge.checks.mismatch import Shelf, differences
from judge.records import Flag, FlagName, JudgeOutcome, JudgeRequest, Support

_FIGURES: Final = (FlagName.MISMATCH_NUMBER, FlagName.MISMATCH_UNIT)
_COMMA: Final = re.compile(r",(?<=\d,)(?=\d)")
_CUT: Final = re.compile(r"(?:,(?<=\d,)[ ]?|([.])(?<=\d\.)[ ])(?=\d)")
_DIGITS: Final = re.compile(r"\d{2,}(?:\.\d+)?|\d\.\d+")
EDITION: Final = "5"
"""Bumped with every change that objects to another sentence, one of a word list too."""


class Objection(NamedTuple):
    """Words of a `full` that its evidence does not bear out."""

    name: FlagName
    sentence: int
    """Its index in the answer."""
    said: str
    instead: str | None
    """What the evidence says in their place; None where it merely lacks them."""

    @property
    def support(self) -> Support:
        """What code makes of the sentence where no language model judged it.

        A name that the evidence merely lacks may stand in a heading that nobody handed in.
        """
        if self.instead is not None:
            return Support.CONTRADICTED
        return Support.FULL if self.name is FlagName.MISMATCH_NAME else Support.NONE


def objections(
    request: JudgeRequest, outcomes: Mapping[int, JudgeOutcome], shelf: Shelf | None = None
) -> dict[int, list[Objection]]:
    """What speaks against each `full`, by sentence; the first is the weightiest."""
    found: dict[int, list[Objection]] = {}
    shelf = shelf or Shelf(request)
    lacking = [Objection(*each) for each in differences(request, outcomes, shelf)]
    if any(each.name in _FIGURES for each in lacking):
        texts = [
            (_CUT.sub(r"\1", chunk.text), _COMMA.sub("", chunk.text)) for chunk in request.chunks
        ]
        lacking = [
            each
            for each in lacking
            if each.name not in _FIGURES or not any(_cut(each.said, *text) for text in texts)
        ]
    for each in (*_contradictions(shelf, outcomes), *lacking):
        found.setdefault(each.sentence, []).append(each)
    order = (Support.CONTRADICTED, Support.NONE, Support.FULL)
    for own in found.values():
        own.sort(key=lambda each: order.index(each.support))
    return found


def _cut(said: str, joined: str, plain: str) -> bool:
    """Whether a text has a figure only in pieces: `3, 800`, where it was cut into words."""
    digits = _DIGITS.search(_COMMA.sub("", said))
    return digits is not None and digits[0] in joined and digits[0] not in plain


def flags(found: Mapping[int, list[Objection]]) -> tuple[Flag, ...]:
    """The objections as flags, at most one of each name a sentence."""
    details: dict[tuple[int, FlagName], dict[str, None]] = {}
    for own in found.values():
        for each in own:
            details.setdefault((each.sentence, each.name), {})[each.said] = None
    return tuple(
        Flag(name=name, sentence=index, detail="; ".join(said))
        for (index, name), said in details.items()
    )


def _contradictions(shelf: Shelf, outcomes: Mapping[int, JudgeOutcome]) -> Iterator[Objection]:
    for index, outcome in shelf.unrepeated(outcomes):
        claim, quotes = shelf.bare(index), [each.quote for each in outcome.evidence]
        # What is said as near elsewhere may bear it out.
        if contradiction(claim, quotes) and (found := contradiction(claim, shelf.texts)):
            yield Objection(FlagName.CONTRADICTION_SUSPECTED, index, found.said, found.instead)
