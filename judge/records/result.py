"""The result of judging one answer."""

import operator
from enum import StrEnum
from importlib import import_module

from pydantic import Field, JsonValue

from judge.messages import Lang
from judge.records.correctness import Correctness
from judge.records.exchange import Call
from judge.records.quadrant import Quadrant
from judge.records.relevance import AnswerRelevance
from judge.records.sample import Document, Sample
from judge.records.sentence import Citation, Flag
from judge.records.verdict import ClaimCounts, SentenceResult


class Status(StrEnum):
    """The status of an answer; the first in this order that holds."""

    ABSTAINED = "abstained"
    """No claims, and it says that it cannot answer."""
    NO_CLAIMS = "no_claims"
    """Nothing to judge."""
    UNSCORED = "unscored"
    """Claims, and not one verdict."""
    SCORED = "scored"
    """At least one verdict on a claim."""


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
    """TREC RAG's measures of support by name (`judge.scores.support`); left out without citations.
    """
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
    cell: Quadrant | None = None
    """The quadrant in the table of retrieval and generation; null without gold evidence."""
    flags: tuple[Flag, ...] = ()
    """Flags for a reviewer."""
    calls: tuple[Call, ...] = ()
    """The calls that were made."""
    signature: str
    """How the numbers were made."""
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    """The sample's, untouched."""

    def explain(self, sample: Sample | None = None, *, lang: Lang = "en") -> str:
        """Return the text that `judge show` prints of an answer.

        Args:
            sample: what was judged; without it the question is left out, and quotes stand without
                what surrounds them.
            lang: `en` or `zh`; reasons keep the answer's.

        Raises:
            ConfigError: the sample is another's, or there is no such language.
        """
        # The printing modules import the records, so that they are imported here only when called.
        text: str = import_module("judge.cli.render.answer").text_of(self, sample, lang)
        return text

    def _repr_html_(self) -> str:
        """For a notebook, in the answer's language: its sentences, and what each rests on."""
        page: str = import_module("judge.pages.notebook").answer(self)
        return page
