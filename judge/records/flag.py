"""What a person should look at."""

from enum import StrEnum

from judge.records.record import Record


class FlagName(StrEnum):
    """Something a person should look at. A flag never changes a verdict."""

    UNVERIFIED_QUOTE = "unverified_quote"
    """A `full` or `partial` whose quotes were not found in the chunks."""
    CONFLICTING_EVIDENCE = "conflicting_evidence"
    """One part of the evidence supports the sentence, another contradicts it."""
    INJECTION_SUSPECTED = "injection_suspected"
    """Question, answer or chunks read like orders to a judge."""


class Flag(Record):
    """A flag, and the sentence it hangs on."""

    name: FlagName
    """Which."""
    sentence: int | None = None
    """Index of the sentence; null where it concerns the whole sample."""
