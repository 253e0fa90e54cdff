"""The outcome of a sentence: a verdict, or the reason for having none."""

import operator
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import Field

from judge.records.sample import Record
from judge.records.sentence import Sentence


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


class Unscored(Record):
    """No verdict. A value, not an error: kept, counted by reason, never averaged."""

    type: Literal["unscored"] = "unscored"
    """Tag among outcomes."""
    reason: UnscoredReason
    """Which failure."""
    detail: str = ""
    """What happened, in one line, without secrets."""


class Verdict(Record):
    """One judge's answer on one sentence."""

    type: Literal["verdict"] = "verdict"
    """Tag among outcomes."""
    support: Support
    """The label."""
    evidence: tuple[Evidence, ...] = ()
    """The passages the label rests on."""
    supporting: tuple[str, ...] = ()
    """Ids of the chunks that alone support all or part of the sentence; by a prompt from
    faithfulness-v2 on also of those that give a fact it is put together from."""
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
    """Where the judge was asked again, the label or failure of each request, the first request
    first; the majority gave `support`. Left out where it was asked once."""

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
    """Why the run's own judge gave no verdict; None where it gave one, or was not asked."""
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
    """A sentence and what became of it."""

    outcome: Outcome
    """A verdict, the reason for having none, or `excluded`."""
