"""The parts of an answer: sentences and citations, and flags on them."""

from enum import StrEnum

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
    """One cited chunk. `[1, 2]` and `[1-2]` are two citations that share a marker.

    A listed citation has no marker in the text: its span is empty, at the end of its sentence.
    """

    sentence: int
    """Index of the sentence the marker belongs to."""
    marker: str
    """The marker as written, with brackets. For a listed citation the id of its chunk, or the given
    value where there is no such chunk."""
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
    """A `full` by part of the evidence, while another part has no verdict.

    `supporting` may lack a chunk, and what contradicts the sentence may be unseen.
    """
    FLIPPED = "flipped"
    """Asked again, by another seed or with the chunks in another order, the judge said otherwise.
    """
    CONFLICTING_GOLD = "conflicting_gold"
    """Gold evidence names no relevant chunk, but `gold_answer` claims something.

    The sample is at fault, not the answer, and it is in no quadrant.
    """
    ALTERNATIVES = "alternatives"
    """Held against a reference, a claim offers what the reference says as one of several answers.

    It is correct only as far as the reference supports all of it.
    """
    BESIDE_QUESTION = "beside_question"
    """The answer answers no part of the question, by a verdict on each."""
    NO_CHUNKS = "no_chunks"
    """The answer claims something and no chunk with text came with it: nothing can support it."""
    AMBIGUOUS_CHUNK_ID = "ambiguous_chunk_id"
    """Chunks of one id have different texts: a citation means them all."""
    UNJUDGED_TEXT = "unjudged_text"
    """Words of the answer are outside the given sentences and were not judged."""
    INJECTION_SUSPECTED = "injection_suspected"
    """Question, answer or chunks read like orders to a judge, or hold a model's control tokens."""


class Flag(Record):
    """A flag, and the sentence it hangs on."""

    name: FlagName
    """Which."""
    sentence: int | None = None
    """Index of the sentence; null where it concerns the whole sample."""
    detail: str = ""
    """For chunks their ids, joined by `; `. For words that were not judged the number of
    characters."""
