"""The table of quadrants for printing: retrieved, faithful, correct, abstained, and the meaning."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from judge.messages import LANGUAGE, Messages
from judge.records import QuadrantCount, QuadrantTable, Summary
from judge.records.result import QuadrantWord
from judge.scores.correctness import BY, row_of
from judge.signature import Signature
from judge.text.visible import clip, counted, flat

IN_PART: Final = ("generation", "unknown")
"""Halves for which it matters that part of the evidence was missed."""
OPEN: Final = "open"
NOT_ASKED: Final = "not_asked"
_SAID: Final[dict[QuadrantWord, tuple[str, str]]] = {
    "retrieved": ("retrieved", "yes"),
    "missed": ("retrieved", "no"),
    "faithful": ("faithful", "yes"),
    "unfaithful": ("faithful", "no"),
    "unjudged": ("faithful", OPEN),
    "correct": ("correct", "yes"),
    "wrong": ("correct", "no"),
    "uncompared": ("correct", OPEN),
    "abstained": ("abstained", "yes"),
    "silent": ("abstained", "silent"),
    "beside": ("beside", "yes"),
    "answered": ("abstained", "no"),
}
"""Which column a word fills, and with what; what no word fills is not asked of the quadrant."""
_IMPLIED: Final[frozenset[QuadrantWord]] = frozenset({"answerable", "answered"})
"""Words that the other words of a quadrant imply."""
_LIMITS: Final = ("faithful", "correct", "gold")
"""Parts of a signature that are printed below the table."""
_NAMED: Final = 3
_LONGEST: Final = 40
"""Characters of a name from outside that is listed."""


class Note(NamedTuple):
    """A line below the table."""

    text: str
    """In the table's language."""
    weight: Literal["total", "aside", "plain", "caution"]
    """What kind of line it is."""


class CellTable:
    """The quadrants of a run in words."""

    def __init__(self, summary: Summary, found: QuadrantTable) -> None:
        self._found, self._offline = found, summary.by_similarity
        there = {word for cell in found.cells for word in cell.words}
        told = not there.isdisjoint({"correct", "wrong"})
        self._compared = told or summary.correctness is not None
        self.columns = ["retrieved", "faithful", *["correct"] * self._compared, "abstained"]
        """The columns of the table."""
        self.columns += ["beside"] * ("beside" in there)
        self._unfound = "answerable" in there and "retrieved" not in there

    def words(self, key: str, **values: object) -> str:
        """The words under a key of `say`."""
        return Messages.of("quadrants", "say")(key, **values)

    @property
    def title(self) -> str:
        """The title of the table."""
        found = self._found
        answers = f"{found.counted:,}"
        if LANGUAGE.get() == "en":
            answers = counted(found.counted, "answer")
        return self.words("title", counted=answers)

    def signs(self, cell: QuadrantCount) -> list[str]:
        """Return the text of each column: keys of `words`, `NOT_ASKED`, or an empty text."""
        said = dict(_SAID[word] for word in cell.words if word in _SAID)
        # The words of an unanswered quadrant do not say whether it is beside the question.
        unsaid = "" if "answered" in cell.words else NOT_ASKED
        return [said.get(name, unsaid if name == "beside" else NOT_ASKED) for name in self.columns]

    def share(self, cell: QuadrantCount) -> str:
        """Return the quadrant's share of the answers in the table."""
        return f"{100 * cell.answers / self._found.counted:.1f} %"

    def means(self, cell: QuadrantCount) -> str:
        """Return the meaning of a quadrant, with the first qids in it."""
        qids = _named(cell.qids, cell.answers)
        means = self.words("means", reading=reading(cell.words), qids=qids)
        if cell.partly and cell.half in IN_PART:
            means = self.words("partly", means=means, partly=f"{cell.partly:,}")
        return means

    def asked(self, words: Sequence[QuadrantWord]) -> str:
        """A quadrant as `judge show --cell` takes it: what goes without saying is left out."""
        implied = _IMPLIED if self._compared else _IMPLIED | {"uncompared"}
        return ",".join(word for word in words if word not in implied)

    def legend(self, not_asked: str) -> str:
        """Explain the marks that the columns contain."""
        shown = {sign for cell in self._found.cells for sign in self.signs(cell)}
        marks = {OPEN: (self.words(OPEN), "not_known"), NOT_ASKED: (not_asked, NOT_ASKED)}
        legend = (
            f"{mark} {self.words(key)}" for key_, (mark, key) in marks.items() if key_ in shown
        )
        return "  ".join(legend)

    def notes(self) -> Iterator[Note]:
        """Yield the totals, the limits and judge behind the table, and its gaps."""
        found = self._found
        halves = {half: f"{count:,}" for half, count in found.halves.items()}
        yield Note(self.words("total", **halves), "total")
        signatures = list(map(Signature.parse, found.signatures))
        key = "limits_compared" if self._compared else "limits"
        limits = [
            {name: made.part(name) or self.words(OPEN) for name in _LIMITS} for made in signatures
        ]
        for line in dict.fromkeys(self.words(key, **parts) for parts in limits):
            yield Note(line, "aside")
        if self._offline:
            yield Note(self.words("similarity"), "aside")
        if not self._compared:
            yield Note(self.words("uncompared"), "plain")
        if self._unfound:
            by_document = all(made.part("gold") == "prefix" for made in signatures)
            yield Note(self.words("unfound_prefix" if by_document else "unfound"), "caution")

    def left_out(self) -> Iterator[Note]:
        """Yield notes on answers in no quadrant, and on gold that names two things."""
        found = self._found
        if found.without_gold:
            yield Note(self.words("without_gold", answers=f"{found.without_gold:,}"), "aside")
        if found.conflicting:
            qids = _named(found.conflicting_qids, found.conflicting)
            said = self.words("conflicting", answers=f"{found.conflicting:,}", qids=qids)
            yield Note(said, "caution")
        made = found.signatures.items()
        if differing := sum(count for each, count in made if Signature.parse(each).part(BY)):
            yield Note(self.words("differing", answers=f"{differing:,}"), "caution")


def reading(words: Collection[QuadrantWord]) -> str:
    """Return the meaning of a quadrant."""
    row = row_of(words)
    return row.zh if LANGUAGE.get() == "zh" else row.en


def _named(qids: Sequence[str], answers: int) -> str:
    """Return the first qids on one line."""
    few = [clip(flat(qid), _LONGEST) for qid in qids[:_NAMED]]
    return ", ".join([*few, "…"] if answers > len(few) else few)
