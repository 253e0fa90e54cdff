"""Which answers and sentences of a run are to be listed."""

from collections.abc import Collection
from typing import Final, NamedTuple

from judge.records import (
    CitationStatus,
    FlagName,
    SampleResult,
    Status,
    Support,
)
from judge.records.result import QuadrantWord
from judge.scores.answer import support_of

_UNSCORED: Final = "unscored"
SUPPORTS: Final = (*(each.value for each in Support), _UNSCORED)
"""Labels of sentences, and what has none of the run's own judge."""
STATUSES: Final = (*(each.value for each in Status), *(each.value for each in CitationStatus))
"""Statuses of answers and of citations; no name is both."""
FLAGS: Final = tuple(each.value for each in FlagName)


class Filter(NamedTuple):
    """The filters of a list; all of them must hold."""

    support: str | None = None
    """One of `SUPPORTS`."""
    flag: str | None = None
    """One of `FLAGS`."""
    status: str | None = None
    """One of `STATUSES`."""
    cell: Collection[QuadrantWord] = ()
    """Words of the answer's quadrant."""

    @property
    def cited(self) -> Collection[CitationStatus]:
        """The status of citations that is asked for, if one is."""
        return [each for each in CitationStatus if each.value == self.status]

    def indexes(self, result: SampleResult) -> list[int] | None:
        """The sentences of an answer that are meant; None where the answer is, as a whole."""
        cell = result.cell.words if result.cell else ()
        of_answer = self.status is not None and not self.cited
        if (of_answer and result.status != self.status) or not set(self.cell).issubset(cell):
            return []
        meant: list[set[int]] = []
        if self.support is not None:
            meant.append({s.index for s in result.sentences if support_of(s) == self.support})
        if self.flag is not None:
            compared = result.correctness.answer_flags if result.correctness else ()
            # The other flags of a comparison are of the reference, not of the chunks.
            offers = (flag for flag in compared if flag.name is FlagName.ALTERNATIVES)
            flags = (*result.flags, *offers)
            borne = {flag.sentence for flag in flags if flag.name == self.flag}
            if None not in borne:  # what concerns the whole answer concerns each sentence
                meant.append({index for index in borne if index is not None})
        if self.cited:
            meant.append({c.sentence for c in result.citations if c.status in self.cited})
        return sorted(set.intersection(*meant)) if meant else None
