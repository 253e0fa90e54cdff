"""Which half of the pipeline is broken: retrieved, faithful, correct, abstained."""

from typing import Final, Literal

from judge.records.sample import Record

Half = Literal["neither", "retrieval", "generation", "unknown"]
QuadrantWord = Literal[
    "answerable",
    "unanswerable",
    "retrieved",
    "missed",
    "answered",
    "abstained",
    "silent",
    "faithful",
    "unfaithful",
    "unjudged",
    "correct",
    "wrong",
    "uncompared",
    "beside",
]

_Known = dict[bool | None, QuadrantWord]
_FAITHFUL: Final[_Known] = {True: "faithful", False: "unfaithful", None: "unjudged"}
_CORRECT: Final[_Known] = {True: "correct", False: "wrong", None: "uncompared"}


class Quadrant(Record):
    """The quadrant of one answer. Null means unknown or not applicable."""

    answerable: bool
    """Whether gold names a chunk that holds the answer."""
    retrieved: bool | None
    """Whether the generator saw at least one chunk that gold names; gold may list alternatives.
    Null where gold names none."""
    partly: bool = False
    """Whether it saw some that gold names, and others not."""
    abstained: bool
    """Whether the answer claims nothing and says that it cannot answer."""
    silent: bool = False
    """Whether it claims nothing at all, such as a question asked back, and is not known to be
    correct all the same, as code may be."""
    faithful: bool | None
    """Whether it keeps to its chunks; null where it abstained or is silent, nothing in it was to be
    judged, or failures leave it open."""
    correct: bool | None
    """Whether it agrees with its reference; null where it abstained, should have, is silent, was
    not compared, or failures leave it open."""
    beside: bool = False
    """Whether it is known to answer no part of the question, whatever else is true of it."""
    signature: str
    """How the answer was put here, such as `cells:3|faithful:0.8|correct:0.8|gold:exact`."""

    @property
    def words(self) -> tuple[QuadrantWord, ...]:
        """The quadrant in words, as `judge show --cell` takes them.

        `answerable` or `unanswerable`; of an answerable question `retrieved` or `missed`;
        `abstained`, `silent` or `answered`; of an answered one `faithful`, `unfaithful` or
        `unjudged`, and where it is answerable `correct`, `wrong` or `uncompared`; `beside` last.
        """
        words: list[QuadrantWord] = ["answerable" if self.answerable else "unanswerable"]
        if self.answerable:
            words.append("retrieved" if self.retrieved else "missed")
        if self.abstained or self.silent:
            return (*words, "abstained" if self.abstained else "silent")
        words += ["answered", _FAITHFUL[self.faithful]]
        if self.answerable:
            words.append(_CORRECT[self.correct])
        return (*words, "beside") if self.beside else tuple(words)


class QuadrantCount(Record):
    """The answers of one quadrant."""

    words: tuple[QuadrantWord, ...]
    """The words of the quadrant, as in `Quadrant.words`."""
    half: Half
    """The half of the pipeline that failed there."""
    answers: int
    """The number of its answers."""
    partly: int = 0
    """Answers whose generator saw some, but not all, of the chunks that gold names."""
    qids: tuple[str, ...]
    """The first of them, in input order."""


class QuadrantTable(Record):
    """The table of a run: every quadrant that holds an answer."""

    cells: tuple[QuadrantCount, ...]
    """In the order of the table in `judge/data/quadrants.toml`."""
    halves: dict[Half, int]
    """Answers by what is broken, zeros included."""
    counted: int
    """Answers in the table; it may be empty."""
    without_gold: int
    """Answers left out because they have no gold evidence."""
    conflicting: int
    """Answers left out because gold contradicts itself: no chunk holds what its reference says."""
    conflicting_qids: tuple[str, ...]
    """The first of them, in input order."""
    signatures: dict[str, int]
    """Answers in the table by signature. More than one: they were not put there alike."""
