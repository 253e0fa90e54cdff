"""The result of one answer: its scores, those that settings add, and its quadrant."""

import operator
from enum import StrEnum
from importlib import import_module
from typing import Final, Literal

from pydantic import Field, JsonValue

from judge.messages import Lang
from judge.records.exchange import Call
from judge.records.sample import Document, Record, Sample
from judge.records.sentence import (
    Citation,
    ClaimCounts,
    Flag,
    Outcome,
    SentenceResult,
    Support,
    Unscored,
    Verdict,
)

GOLD: Final = "gold_answer"
"""The chunk id of evidence from the reference."""
ANSWER: Final = "answer"
"""The chunk id of evidence from the answer."""


class CorrectnessStatus(StrEnum):
    """The status of a comparison; the first in this order that holds."""

    NO_REFERENCE = "no_reference"
    """The sample has no `gold_answer`, or a blank one."""
    ABSTAINED = "abstained"
    """The answer claims nothing and says that it cannot answer: it has no correctness."""
    NO_CLAIMS = "no_claims"
    """The reference asserts nothing: there is nothing to compare."""
    UNSCORED = "unscored"
    SCORED = "scored"
    """At least one claim has a verdict."""


class ComparedClaims(ClaimCounts):
    """The claims of one of the two, counted."""

    contradicted: int
    """Claims that the other text contradicts."""


class ComparedSentence(Record):
    """A claim of the answer, judged by the reference."""

    index: int
    """The index of the sentence in the answer."""
    outcome: Outcome
    """A verdict whose evidence is in the reference, or the reason for having none."""


class Correctness(Record):
    """The comparison of one answer with its reference; null where nothing was measured."""

    status: CorrectnessStatus
    """The status of the comparison."""
    precision: float | None
    """Mean weight of the answer's judged claims, the reference being the evidence; 0 to 1."""
    precision_bounds: tuple[float, float] | None
    """The same with every unscored claim counted 0, then 1."""
    recall: float | None
    """Mean weight of the reference's judged claims, the answer being the evidence; 0 to 1."""
    recall_bounds: tuple[float, float] | None
    """The same with every unscored claim counted 0, then 1."""
    f1: float | None
    """Harmonic mean of the two, 0 where both are. Null where one of them is and could change it:
    an answer that asserts nothing and covers nothing has 0."""
    f1_bounds: tuple[float, float] | None
    """F1 of the lower bounds, then of the upper ones."""
    f1_with_fallback: float | None
    """F1 with fallback verdicts counted in; null where no sentence fell back."""
    of_answer: ComparedClaims
    """The claims behind precision."""
    of_reference: ComparedClaims
    """The claims behind recall."""
    answer: tuple[ComparedSentence, ...]
    """The answer's claims, in order."""
    reference: tuple[SentenceResult, ...]
    """Every sentence of the reference, with offsets into it; evidence is of the answer."""
    answer_flags: tuple[Flag, ...] = ()
    """Flags of the answer's claims."""
    reference_flags: tuple[Flag, ...] = ()
    """Flags of the reference's claims, with indexes into the reference."""
    signature: str
    """How the numbers were made."""


class QuestionPart(Record):
    """A judge's verdict on one part of a question."""

    words: str
    """The words of the question that ask it, in its own characters."""
    answered: Support
    """`full`, `partial` or `none`: how far the answer answers it."""
    quotes: tuple[str, ...] = ()
    """The passages of the answer that do, as the judge gave them."""
    reason: str = ""
    """Empty for `full`; else what is left open, in a few words."""


class PartsVerdict(Verdict):
    """A verdict on a whole question, with at least one part, in the question's order."""

    parts: tuple[QuestionPart, ...]
    """Each thing that the question asks."""


class RelevanceStatus(StrEnum):
    """The status of answer relevance; the first in this order that holds."""

    NO_QUERY = "no_query"
    """The sample has no query, or one without letter and digit: nothing is measured."""
    ABSTAINED = "abstained"
    """The answer claims nothing and says that it cannot answer: it answers nothing."""
    EMPTY = "empty"
    """There is no answer, or a blank one: it answers nothing."""
    UNSCORED = "unscored"
    SCORED = "scored"
    """At least one part of the question has a verdict."""


class AnswerRelevance(Record):
    """How far one answer answers its question. Null means that nothing was measured."""

    status: RelevanceStatus
    """The status of answer relevance."""
    score: float | None
    """Mean weight of the parts with a verdict: full 1, partial ½, none 0."""
    bounds: tuple[float, float] | None
    """The same with everything unscored counted 0, then 1."""
    parts: tuple[SentenceResult, ...] = ()
    """The parts as the judge named them, with offsets into the query; evidence is of the answer."""
    failure: Unscored | None = None
    """The reason why the judge named no parts; null where it did, or was not asked."""
    flags: tuple[Flag, ...] = ()
    """Flags of the parts, with their indexes."""
    signature: str
    """How the numbers were made."""

    @property
    def failures(self) -> tuple[Unscored, ...]:
        """Why the question, or single parts of it, have no verdict."""
        parts = (part.outcome for part in self.parts)
        failed = tuple(outcome for outcome in parts if isinstance(outcome, Unscored))
        return failed if self.failure is None else (self.failure, *failed)


class ContextStatus(StrEnum):
    """The status of context scores, by the claims of the reference; the first that holds."""

    NO_REFERENCE = "no_reference"
    NO_CLAIMS = "no_claims"
    UNSCORED = "unscored"
    SCORED = "scored"


class ContextScores(Record):
    """How well the chunks support the reference of one answer. Null: nothing was measured."""

    status: ContextStatus
    """The status of both scores."""
    recall: float | None
    """Mean weight of the reference's judged claims, the chunks being the evidence; 0 to 1."""
    recall_bounds: tuple[float, float] | None
    """The same with every unscored claim counted 0, then 1."""
    precision: float | None
    """Average precision of the ranked chunks; those that support the reference are relevant."""
    precision_bounds: tuple[float, float] | None
    """The least and the most that it can be, whichever chunks support the unscored claims."""
    of_reference: ClaimCounts
    """The claims of the reference."""
    reference: tuple[SentenceResult, ...]
    """Every sentence of the reference, with offsets into it; evidence is of the chunks."""
    flags: tuple[Flag, ...] = ()
    """Flags of the reference's claims, with indexes into the reference."""
    signature: str
    """How the numbers were made."""


ADDED: Final = {
    "correctness": "correctness",
    "relevance": "answer_relevance",
    "context": "context",
}
"""The settings that add scores to faithfulness, and the fields of results and totals for these."""

Half = Literal["neither", "retrieval", "generation", "unknown"]
QuadrantWord = Literal[
    "answerable",
    "unanswerable",
    "retrieved",
    "missed",
    "answered",
    "abstained",
    "faithful",
    "unfaithful",
    "unjudged",
    "correct",
    "wrong",
    "uncompared",
]

_Known = dict[bool | None, QuadrantWord]
_FAITHFUL: Final[_Known] = {True: "faithful", False: "unfaithful", None: "unjudged"}
_CORRECT: Final[_Known] = {True: "correct", False: "wrong", None: "uncompared"}


class Quadrant(Record):
    """The quadrant of one answer. Null means unknown or not applicable."""

    answerable: bool
    """Whether gold names a chunk that holds the answer, or else the reference claims something."""
    retrieved: bool | None
    """Whether the generator saw at least one chunk that gold names; gold may list alternatives.
    Without gold evidence: whether the chunks support enough of the reference. Null where the
    question has no answer."""
    abstained: bool
    """Whether the answer claims nothing."""
    faithful: bool | None
    """Whether it keeps to its chunks; null where nothing was judged, or failures leave it open."""
    correct: bool | None
    """Whether it agrees with its reference; null where it was not compared, or that is open."""
    signature: str
    """How the answer was put here, such as `cells:4|faithful:0.8|correct:0.8|gold:exact`."""

    @property
    def words(self) -> tuple[QuadrantWord, ...]:
        """The quadrant in words, as `judge show --cell` takes them."""
        words: list[QuadrantWord] = ["answerable" if self.answerable else "unanswerable"]
        if self.answerable:
            words.append("retrieved" if self.retrieved else "missed")
        if self.abstained:
            return (*words, "abstained")
        words += ["answered", _FAITHFUL[self.faithful]]
        if self.answerable:
            words.append(_CORRECT[self.correct])
        return tuple(words)


class QuadrantCount(Record):
    """The answers of one quadrant."""

    words: tuple[QuadrantWord, ...]
    """The words of the quadrant, as in `Quadrant.words`."""
    half: Half
    """The half of the pipeline that failed there."""
    answers: int
    """The number of its answers."""


class QuadrantTable(Record):
    """The table of a run: every quadrant that holds an answer."""

    cells: tuple[QuadrantCount, ...]
    """In the order of the table in `judge/data/quadrants.toml`."""
    halves: dict[Half, int]
    """Answers by what is broken, zeros included."""
    counted: int
    """Answers in the table; it may be empty."""
    without_gold: int
    """Answers left out because they have no gold evidence, nor a context recall in its place."""
    conflicting: int
    """Answers left out because gold contradicts itself: no chunk holds what its reference says."""
    signatures: dict[str, int]
    """Answers in the table by signature. More than one: they were not put there alike."""


class Status(StrEnum):
    """The status of an answer; the first that holds. An abstaining answer claims nothing."""

    ABSTAINED = "abstained"
    NO_CLAIMS = "no_claims"
    UNSCORED = "unscored"
    SCORED = "scored"


class Scores(ClaimCounts):
    """The numbers of one answer. Null means that there was nothing to measure; it is never 0."""

    faithfulness: float | None
    """Mean weight over the judged, 0 to 1."""
    faithfulness_strict: float | None
    """Share of `full` among the judged."""
    faithfulness_bounds: tuple[float, float] | None
    """Faithfulness with every unscored claim counted 0, then 1."""
    faithfulness_with_fallback: float | None
    """Faithfulness with fallback verdicts counted in; null where no sentence fell back."""
    contradiction_rate: float | None
    """Share of `contradicted` among the judged."""
    coverage: float | None
    """Claims with at least one citation that resolves, over claims."""
    citation_validity: float | None
    """valid / (valid + unsupported + dangling)."""
    citation_validity_bounds: tuple[float, float] | None
    """The same with every unjudged citation counted invalid, then valid."""
    citation_recall: float | None
    """Claims with `cited_support` full, over the judged."""
    citation_support: dict[str, float] = Field(default_factory=dict, exclude_if=operator.not_)
    """TREC RAG's measures of support by name; left out without citations."""
    unsupported: tuple[int, ...]
    """Indexes of the sentences with `none`, `contradicted` or `partial`, fallen back or not."""


class SampleResult(Document):
    """One line of `results.jsonl`."""

    qid: str
    """The qid of the sample."""
    status: Status
    """The status of the answer."""
    scores: Scores
    """The scores of the answer."""
    sentences: tuple[SentenceResult, ...]
    """Every sentence, excluded ones too."""
    citations: tuple[Citation, ...]
    """Every citation, in text order."""
    correctness: Correctness | None = None
    """The agreement with the reference; null where it was not asked for."""
    answer_relevance: AnswerRelevance | None = None
    """How far it answers the question; null where that was not asked for."""
    context: ContextScores | None = None
    """How well the chunks support the reference; null where that was not asked for."""
    cell: Quadrant | None = None
    """The quadrant of the answer; null without gold evidence and context recall."""
    flags: tuple[Flag, ...] = ()
    """Flags for a reviewer."""
    calls: tuple[Call, ...] = ()
    """The calls that were made."""
    signature: str
    """How the numbers were made."""
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    """The sample's, untouched."""

    @property
    def added(self) -> dict[str, Correctness | AnswerRelevance | ContextScores]:
        """The scores that were asked for beside faithfulness, by their settings in `ADDED`."""
        found = {setting: getattr(self, field) for setting, field in ADDED.items()}
        return {setting: scores for setting, scores in found.items() if scores is not None}

    def explain(self, sample: Sample | None = None, *, lang: Lang = "en") -> str:
        """Return the text that `judge show` prints; a sample adds question and quotes' context."""
        # The printing modules import the records, so that they are imported here only when called.
        text: str = import_module("judge.cli.render.answers").text_of(self, sample, lang)
        return text
