"""Sentences and citations of an answer, the verdicts on them, and flags."""

import operator
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import Field

from judge.records.sample import Record


class SentenceKind(StrEnum):
    """The kind of a sentence. Only claims are judged; a doubtful sentence is a claim."""

    CLAIM = "claim"
    QUESTION = "question"
    HEADING = "heading"
    ABSTENTION = "abstention"
    PLEASANTRY = "pleasantry"
    META = "meta"
    CODE = "code"


class Sentence(Record):
    """A unit of the answer: `answer[start:end] == text`, always."""

    index: int
    """Position among the answer's sentences, from 0."""
    start: int
    """First character, into the answer."""
    end: int
    """One past the last character."""
    text: str
    """The exact characters, markers and all."""
    kind: SentenceKind = SentenceKind.CLAIM
    """The kind of the sentence."""


class CitationStatus(StrEnum):
    """The audit's status of a citation in a claim."""

    VALID = "valid"
    """The cited chunk supports the sentence, wholly or in part."""
    UNSUPPORTED = "unsupported"
    """The cited chunk exists and does not support the sentence."""
    DANGLING = "dangling"
    """No such chunk was retrieved."""
    UNJUDGED = "unjudged"
    """The chunk exists; the sentence has no verdict of the run's own judge."""


class Citation(Record):
    """One cited chunk. A listed citation has an empty span, at the end of its sentence."""

    sentence: int
    """Index of the sentence the marker belongs to."""
    marker: str
    """The marker as written, with brackets; for a listed citation its id, or the given value."""
    start: int
    """First character of the marker, into the answer."""
    end: int
    """One past its last character."""
    chunk_id: str | None
    """The chunk it resolves to; null where it dangles."""
    status: CitationStatus | None = None
    """Null until audited, and for good where the sentence is not a claim: listed, never counted."""
    suggested: str | None = None
    """For a citation that is not valid: a supporting chunk the sentence does not cite."""
    reason: str = ""
    """Why it is not valid, in the answer's language; empty for the others, and in older runs."""


class FlagName(StrEnum):
    """Something a person should look at. A flag never changes a verdict."""

    UNVERIFIED_QUOTE = "unverified_quote"
    """A `full` or `partial` whose quotes were not found in the chunks."""
    CONFLICTING_EVIDENCE = "conflicting_evidence"
    """One part of the evidence supports the sentence, another contradicts it."""
    UNJUDGED_EVIDENCE = "unjudged_evidence"
    """A `full` by one part of the evidence, while another part has no verdict."""
    FLIPPED = "flipped"
    """The judge gave different labels for other seeds or orders of the chunks."""
    CONFLICTING_GOLD = "conflicting_gold"
    """Gold evidence names no relevant chunk, but `gold_answer` claims something."""
    BESIDE_QUESTION = "beside_question"
    """The answer answers no part of the question, by a verdict on each."""
    NO_CHUNKS = "no_chunks"
    """The answer claims something and no chunk with text came with it: nothing can support it."""
    AMBIGUOUS_CHUNK_ID = "ambiguous_chunk_id"
    """Chunks of one id have different texts: a citation means them all."""
    CONFLICTING_CHUNKS = "conflicting_chunks"
    """Two chunks say the same with another amount: "5 days" and "10 days"."""
    UNJUDGED_TEXT = "unjudged_text"
    """Words of the answer are outside the given sentences and were not judged."""
    UNMATCHED_MARKER = "unmatched_marker"
    """A bracket looks like a citation, and matches no chunk id; from the 21st on, their count."""
    CITATIONS_CUT = "citations_cut"
    """Only the first 100,000 brackets or 50,000 citations of the answer were read."""
    INJECTION_SUSPECTED = "injection_suspected"
    """Question, answer or chunks read like orders to a judge, or hold a model's control tokens."""


class Flag(Record):
    """A flag, and its sentence."""

    name: FlagName
    """The kind of the flag."""
    sentence: int | None = None
    """Index of the sentence; null where it concerns the whole sample."""
    detail: str = ""
    """Ids of chunks, joined by `; `; a number of characters; or a marker of the answer."""


class Support(StrEnum):
    """How far the chunks support a sentence: TREC RAG's full/partial/no, "no" split in two."""

    FULL = "full"
    """Everything the sentence says follows from the chunks."""
    PARTIAL = "partial"
    """Part of the sentence follows from the chunks, and nothing is contradicted."""
    NONE = "none"
    """The chunks do not say it, whether or not it is true in the world."""
    CONTRADICTED = "contradicted"
    """The chunks say otherwise."""
    NO_CLAIM = "no_claim"
    """The sentence asserts nothing; left out of every score and counted."""


SUPPORT_WEIGHT: Final[Mapping[Support, float]] = {
    Support.FULL: 1.0,
    Support.PARTIAL: 0.5,
    Support.NONE: 0.0,
    Support.CONTRADICTED: 0.0,
}
"""The weight of a label in faithfulness. `no_claim` has no weight: it is not part of the mean."""

SUPPORTED: Final = frozenset({Support.FULL, Support.PARTIAL})
"""The labels that rest on evidence."""


class Evidence(Record):
    """A passage of a chunk that supports or contradicts a sentence."""

    chunk_id: str
    """The chunk that the judge says the passage is from."""
    quote: str
    """The passage as the judge gave it."""
    start: int | None = None
    """First character into the chunk's text as given; null while not found there."""
    end: int | None = None
    """One past the last character."""
    verified: bool = False
    """True once code, not a model, has found the quote in the chunk."""


class UnscoredReason(StrEnum):
    """Why a sentence has no verdict."""

    TIMEOUT = "timeout"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    CONNECTION = "connection"
    REFUSED = "refused"
    CONTENT_FILTER = "content_filter"
    TRUNCATED = "truncated"
    MALFORMED = "malformed"
    MISSING = "missing"
    UNVERIFIED = "unverified"
    BUDGET = "budget"
    UNDECIDED = "undecided"
    """Words alone cannot tell. This is no failure of the judge: `--max-unscored`, exit code 3 and
    "untrusted" leave it out."""


class Unscored(Record):
    """No verdict. A value, not an error: kept, counted by reason, never averaged."""

    type: Literal["unscored"] = "unscored"
    """Tag among outcomes."""
    reason: UnscoredReason
    """The kind of failure, or `undecided`."""
    detail: str = ""
    """What happened, in one line, without secrets."""
    score: float | None = Field(default=None, exclude_if=lambda score: score is None)
    """P(supported), 0 to 1, of an undecided sentence; left out otherwise."""


class Verdict(Record):
    """One judge's answer on one sentence."""

    type: Literal["verdict"] = "verdict"
    """Tag among outcomes."""
    support: Support
    """The label."""
    evidence: tuple[Evidence, ...] = ()
    """The passages the label rests on."""
    supporting: tuple[str, ...] = ()
    """Ids of the chunks that alone support all or part of the sentence. From the prompt
    faithfulness-v2 on, also of the chunks that give a fact which the sentence combines."""
    cited_support: Support | None = None
    """Support given only the chunks the sentence cites; null where it cites none."""
    reason: str = ""
    """Empty for `full`; else a few words in the answer's language."""
    score: float | None = None
    """P(supported), 0 to 1, of similarity or an NLI model; null for a language model's."""
    source: Literal["llm", "nli", "similarity"]
    """What kind of judge made it."""
    signature: str
    """How the verdict was made. Verdicts with equal signatures are comparable."""
    fallback_from: Unscored | None = None
    """The failure of the first judge; this verdict replaces it."""
    askings: tuple[Support | UnscoredReason, ...] = Field(default=(), exclude_if=operator.not_)
    """The label or failure of each request, in order, where the judge was asked more than once."""

    @property
    def backed(self) -> bool:
        """Whether code found at least one quote in its chunk."""
        return any(evidence.verified for evidence in self.evidence)


class Excluded(Record):
    """Not judged, because the sentence is no claim; its `kind` says what it is."""

    type: Literal["excluded"] = "excluded"
    """Tag among outcomes."""


JudgeOutcome = Verdict | Unscored
"""The outcome of a sentence that a judge was asked about."""

Outcome = Annotated[Verdict | Unscored | Excluded, Field(discriminator="type")]
"""The outcome of any sentence in a result."""


def failure_of(outcome: Outcome | None) -> Unscored | None:
    """Return the failure of the run's own judge; None where it gave a verdict or was not asked."""
    failure = outcome.fallback_from if isinstance(outcome, Verdict) else outcome
    return failure if isinstance(failure, Unscored) else None


class ClaimCounts(Record):
    """The claims of a text, counted."""

    claims: int
    """Claim sentences."""
    judged: int
    """Claims with a verdict of the run's own judge, `no_claim` left out: the denominator."""
    unscored: int
    """Claims without such a verdict, those a fallback answered included."""
    no_claim: int
    """Claims the judge found to assert nothing."""


class SentenceResult(Sentence):
    """A sentence and its outcome."""

    outcome: Outcome
    """A verdict, the reason for having none, or `excluded`."""
