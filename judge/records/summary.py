"""The totals of a run, and whether its numbers can be trusted."""

import operator
from typing import Final, Literal

from pydantic import Field

from judge.records.result import (
    ADDED,
    ContextStatus,
    CorrectnessStatus,
    QuadrantTable,
    RelevanceStatus,
    Status,
)
from judge.records.sample import Document, Record
from judge.records.sentence import CitationStatus, FlagName, SentenceKind, Support, UnscoredReason
from judge.signature import Signature

HALLUCINATING: Final = ("hallucination_rate", "hallucination_rate_strict")
ABSTAINING: Final = ("abstentions", "abstention_rate_answerable", "abstention_rate_unanswerable")
"""Rates of answers, of which there is nothing to pool."""
CITING: Final = ("coverage", "citation_validity", "citation_recall")
COMPARED: Final = ("f1", "precision", "recall")
OVERALL: Final = ("f1_overall", "recall_overall")
"""Correctness over all answerable questions."""
OF_CORRECTNESS: Final = {
    "correctness_overall": "f1_overall",
    "correctness_recall_overall": "recall_overall",
    "correctness": "f1",
    "correctness_precision": "precision",
    "correctness_recall": "recall",
    "correctness_with_fallback": "f1_with_fallback",
}
"""Scores of the comparison with references, and what they are called among its totals."""
RELEVANCE: Final = ("relevance_overall", "relevance")
CONTEXT: Final = ("context_recall", "context_precision")
ADDED_BY: Final = {
    **dict.fromkeys(OF_CORRECTNESS, "correctness"),
    **dict.fromkeys(RELEVANCE, "relevance"),
    **dict.fromkeys(CONTEXT, "context"),
}
"""For each score beside faithfulness, the setting that adds it."""
FIELDS: Final = {**OF_CORRECTNESS, "abstention_rate": "abstentions"}
"""Scores whose field has another name than the score, for compatibility with older runs."""
PUBLIC: Final = {field: name for name, field in FIELDS.items()}
"""The other way round."""
OFFLINE: Final = {
    "faithfulness": "looks_supported",
    "hallucination_rate": "looks_hallucinated",
    "f1_overall": "looks_correct_overall",
    "f1": "looks_correct",
    "context_recall": "looks_recalled",
    "context_precision": "looks_precise",
}
"""Names of scores that similarity made."""


class Interval(Record):
    """A 95 % interval and how it was made."""

    low: float
    """Lower limit."""
    high: float
    """Upper limit."""
    method: Literal["wilson_effective", "t"]
    """Wilson's over the effective number of answers, or t."""


class CorpusScore(Record):
    """One score over the run."""

    macro: float
    """Mean over the answers that have the score: the headline."""
    micro: float
    """Pooled over their sentences (for citation validity, over their citations)."""
    answers: int
    """The number of answers in the macro mean."""
    items: int
    """The number of sentences or citations in the micro mean."""
    interval: Interval
    """95 % interval of the macro mean; sampling error only, not the judge's."""


class CorpusBounds(Record):
    """A score with every failure counted against the answers, then for them."""

    low: float
    """Mean over answers with each failure counted 0; an unscored answer is 0."""
    high: float
    """Mean over answers with each failure counted 1; an unscored answer is 1."""
    answers: int
    """The number of scored and unscored answers."""
    low_interval: Interval
    """95 % interval of `low`: what `--strict-gate` compares where more is better."""
    high_interval: Interval
    """95 % interval of `high`: what `--strict-gate` compares where less is better."""


class GateResult(Record):
    """A gate of the run, and the value compared with it."""

    name: str
    """The score."""
    side: Literal["least", "most"]
    """Whether the bound is the least it may be, or the most."""
    bound: float
    """From 0 to 1."""
    value: float | None
    """The value compared with the bound; null, which passes no gate, where nothing was measured."""
    what: str
    """The kind of the value: the mean over answers, or a limit of its interval."""
    passed: bool
    """Whether it keeps to the bound, rounding errors aside."""


class JudgedTotals(Record):
    """The counts that all totals of a run have. A null score was measured on nothing, never 0.

    Claims are of answers, references (context) or both (correctness); for relevance, questions.
    """

    signatures: dict[str, int]
    """Answers by signature. More than one: the numbers are not comparable with each other."""
    flags: dict[FlagName, int]
    """Flags by name."""
    unscored: dict[UnscoredReason, int]
    """Claims without a verdict of the run's own judge, by reason."""
    unscored_share: float | None
    """The share of unscored claims among all claims."""
    untrusted: bool
    """True where `unscored_share` is over the limit and at least three claims are concerned."""


class ClaimTotals(JudgedTotals):
    """The counts of totals over claims."""

    claims: int
    """Claims that were to be judged."""
    sources: dict[str, int]
    """Verdicts by source, fallen back or not."""
    fallen_back: int
    """The number of claims with a fallback verdict."""


class CorrectnessTotals(ClaimTotals):
    """Correctness over a run. All bounds count all failures 0, then 1."""

    statuses: dict[CorrectnessStatus, int]
    """Answers by status, zeros included."""
    f1_overall: CorpusScore | None = None
    """F1 over all questions whose reference claims something: who abstains or claims nothing has 0
    there. Pooled: of pooled precision and recall, over the claims of both."""
    f1_overall_bounds: CorpusBounds | None = None
    """The bounds of `f1_overall`."""
    recall_overall: CorpusScore | None = None
    """Recall over the same answers, pooled over the references' claims."""
    recall_overall_bounds: CorpusBounds | None = None
    """The bounds of `recall_overall`."""
    f1: CorpusScore | None
    """F1 over the answers that have precision and recall; pooled as `f1_overall`."""
    f1_bounds: CorpusBounds | None
    """The bounds of `f1`."""
    precision: CorpusScore | None
    """Mean weight of the answers' claims, the references being the evidence."""
    precision_bounds: CorpusBounds | None
    """The bounds of `precision`."""
    recall: CorpusScore | None
    """Mean weight of the references' claims, the answers being the evidence."""
    recall_bounds: CorpusBounds | None
    """The bounds of `recall`."""
    f1_with_fallback: CorpusScore | None
    """Fallback verdicts counted in; null where nothing fell back."""
    answer_supports: dict[Support, int]
    """Verdicts of the run's own judge on the answers' claims, by label."""
    reference_supports: dict[Support, int]
    """Verdicts of the run's own judge on the references' claims, by label."""


class RelevanceTotals(JudgedTotals):
    """Answer relevance over a run. All bounds count all failures 0, then 1."""

    statuses: dict[RelevanceStatus, int]
    """Answers by status, zeros included."""
    relevance_overall: CorpusScore | None
    """Answer relevance over all answers with a query: who abstains or says nothing has 0 there,
    unless gold says that the question has no answer. Pooled over parts; such an answer is one."""
    relevance_overall_bounds: CorpusBounds | None
    """The bounds of `relevance_overall`."""
    relevance: CorpusScore | None
    """The same over the answers that were judged; pooled over the parts of their questions."""
    relevance_bounds: CorpusBounds | None
    """The bounds of `relevance`."""
    parts: int
    """Parts of questions with a verdict."""
    supports: dict[Support, int]
    """The verdicts on parts by label."""
    asked: int
    """Questions that the judge was asked about."""


class ContextTotals(ClaimTotals):
    """Context scores over a run."""

    statuses: dict[ContextStatus, int]
    """Answers by status, zeros included."""
    context_recall: CorpusScore | None
    """Mean weight of the references' claims, the chunks being the evidence; pooled over claims."""
    context_recall_bounds: CorpusBounds | None
    """The same with all failures counted 0, then 1."""
    context_precision: CorpusScore | None
    """Average precision of the ranked chunks; there is nothing to pool."""
    context_precision_bounds: CorpusBounds | None
    """The least and the most that it can be, whichever chunks support the unscored claims."""
    supports: dict[Support, int]
    """Verdicts of the run's own judge on the references' claims, by label."""


class RepeatTotals(Record):
    """The sentences that were asked again, those without a verdict left out."""

    asked_again: int
    """The number of sentences asked again."""
    compared: int
    """Sentences with a second verdict; a failed repeat says nothing about the judge."""
    flipped: int
    """The number of sentences whose verdicts differ."""
    flip_rate: float | None
    """`flipped` of `compared`."""
    changed: int
    """The number of sentences whose first label the majority overruled."""
    failed: dict[UnscoredReason, int]
    """Repeats that brought no verdict, by reason."""


class Spent(Record):
    """What calls to models took."""

    calls: int
    """Questions put to a model, answered or not."""
    retries: int
    """Attempts at them that failed and were made again."""
    cache_hits: int
    """Calls answered from the cache instead."""
    prompt_tokens: int
    """Tokens in, over the calls sent."""
    reply_tokens: int
    """Tokens out, over the calls sent."""
    cost: float | None = None
    """The cost of the tokens by the configured prices; null without prices."""

    def since(self, earlier: "Spent") -> "Spent":
        """Return what was taken beyond what earlier sessions took."""
        return Spent(
            calls=self.calls - earlier.calls,
            retries=self.retries - earlier.retries,
            cache_hits=self.cache_hits - earlier.cache_hits,
            prompt_tokens=self.prompt_tokens - earlier.prompt_tokens,
            reply_tokens=self.reply_tokens - earlier.reply_tokens,
            cost=None if self.cost is None else self.cost - (earlier.cost or 0),
        )


class Summary(Spent, ClaimTotals, Document):
    """Corpus totals, and what all calls took. Bounds count all failures 0, then 1."""

    answers: int
    """All answers."""
    drawn_from: int | None = None
    """The number of answers in the input where only some were drawn; null where all were scored."""
    statuses: dict[Status, int]
    """Answers by status, zeros included."""
    abstention_rate: float | None
    """Share of answers with status `abstained`."""
    abstentions: CorpusScore | None = None
    """The same with its interval."""
    abstention_rate_answerable: CorpusScore | None = None
    """The share of abstentions among questions that gold evidence or the reference answers."""
    abstention_rate_unanswerable: CorpusScore | None = None
    """The share of abstentions among questions without an answer in gold; more is better."""
    kinds: dict[SentenceKind, int]
    """Sentences by kind."""
    judged: int
    """Claims with a verdict of the run's own judge, `no_claim` left out."""
    supports: dict[Support, int]
    """Verdicts of the run's own judge by label, `no_claim` included."""
    faithfulness: CorpusScore | None = None
    """Mean weight of the judged claims."""
    faithfulness_bounds: CorpusBounds | None
    """The bounds of `faithfulness`."""
    faithfulness_strict: CorpusScore | None = None
    """Share of `full`."""
    faithfulness_strict_bounds: CorpusBounds | None
    """The bounds of `faithfulness_strict`."""
    faithfulness_with_fallback: CorpusScore | None = None
    """Fallback verdicts counted in; null where nothing fell back."""
    faithfulness_with_fallback_bounds: CorpusBounds | None = None
    """The bounds of `faithfulness_with_fallback`; null where nothing fell back."""
    hallucination_rate: CorpusScore | None = None
    """Share of the answers with a claim `none` or `contradicted`, where no failure hides that."""
    hallucination_rate_bounds: CorpusBounds | None = None
    """The bounds of `hallucination_rate`."""
    hallucination_rate_strict: CorpusScore | None = None
    """The same where any is `partial`, too."""
    hallucination_rate_strict_bounds: CorpusBounds | None = None
    """The bounds of `hallucination_rate_strict`."""
    contradiction_rate: CorpusScore | None = None
    """Share of `contradicted`."""
    contradiction_rate_bounds: CorpusBounds | None = None
    """The bounds of `contradiction_rate`."""
    coverage: CorpusScore | None = None
    """Share of claims with a citation that resolves."""
    citation_validity: CorpusScore | None = None
    """Share of valid among the judged citations."""
    citation_validity_bounds: CorpusBounds | None
    """Citation validity with unjudged citations invalid, then valid."""
    citation_recall: CorpusScore | None = None
    """Share of judged claims whose own citations support them fully."""
    citation_recall_bounds: CorpusBounds | None
    """The bounds of `citation_recall`."""
    citation_support: dict[str, CorpusScore] = Field(default_factory=dict, exclude_if=operator.not_)
    """TREC RAG's measures of support by name, over all answers, one without citations counting 0;
    pooled over sentences. Left out where no answer cites."""
    citation_support_bounds: dict[str, CorpusBounds] = Field(
        default_factory=dict, exclude_if=operator.not_
    )
    """The same with all that is not known counted least, then most."""
    correctness: CorrectnessTotals | None = None
    """How the answers agree with their references; null where that was not asked for."""
    answer_relevance: RelevanceTotals | None = None
    """How far the answers answer their questions; null where that was not asked for."""
    context: ContextTotals | None = None
    """How well the chunks support the references; null where that was not asked for."""
    repeats: RepeatTotals | None = None
    """What came of asking again (`repeat`); null where that was not asked for."""
    breakdown: QuadrantTable | None = None
    """Retrieved, faithful, correct, abstained; null where no sample has gold evidence."""
    citations: dict[CitationStatus, int]
    """Citations in claims, by status."""
    models: dict[str, int]
    """Calls that were answered, now or when they were stored, by the model the server named."""
    seconds: float
    """Time spent waiting for those calls, added up."""
    over_budget: bool = False
    """Whether a budget left claims unscored (`untrusted` ignores these) or unrepeated."""
    gates: tuple[GateResult, ...] = ()
    """The gates of the command that made the run, in its order."""

    @property
    def added(self) -> dict[str, CorrectnessTotals | RelevanceTotals | ContextTotals]:
        """The totals that were asked for beside faithfulness, by their settings in `ADDED`."""
        found = {setting: getattr(self, field) for setting, field in ADDED.items()}
        return {setting: totals for setting, totals in found.items() if totals is not None}

    @property
    def by_similarity(self) -> bool:
        """Whether similarity is the run's own judge, and not what stood in for another."""
        if self.sources:
            return set(self.sources) == {"similarity"} and not self.fallen_back
        return all(Signature.parse(made).source == "similarity" for made in self.signatures)
