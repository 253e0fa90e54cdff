"""A citation marker and what it is worth."""

from enum import StrEnum

from judge.records.record import Record


class CitationStatus(StrEnum):
    """What an audit says of one citation that stands in a claim."""

    VALID = "valid"
    """The cited chunk supports the sentence, wholly or in part."""
    UNSUPPORTED = "unsupported"
    """The cited chunk exists and does not support the sentence."""
    DANGLING = "dangling"
    """No such chunk was retrieved."""
    UNJUDGED = "unjudged"
    """The chunk exists; the sentence has no verdict of the run's own judge."""


class Citation(Record):
    """One cited chunk. `[1, 2]` and `[1-2]` are two citations that share a marker."""

    sentence: int
    """Index of the sentence the marker belongs to."""
    marker: str
    """The marker as written, brackets included."""
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
