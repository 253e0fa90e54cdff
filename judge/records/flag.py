"""What a person should look at."""

from enum import StrEnum

from judge.records.record import Record


class FlagName(StrEnum):
    """Something a person should look at. A flag never changes a verdict."""

    UNVERIFIED_QUOTE = "unverified_quote"
    """A `full` or `partial` whose quotes were not found in the chunks."""
    CONFLICTING_EVIDENCE = "conflicting_evidence"
    """One part of the evidence supports the sentence, another contradicts it."""
    CONFLICTING_GOLD = "conflicting_gold"
    """Gold evidence names no relevant chunk, and `gold_answer` claims something all the same.

    The sample is at fault, not the answer; it stands in no cell.
    """
    INJECTION_SUSPECTED = "injection_suspected"
    """Question, answer or chunks read like orders to a judge."""
    MISMATCH_NUMBER = "mismatch:number"
    """A `full` whose evidence lacks a number of the sentence, and no rounding explains it.

    Never looked at: ordinals and fractions in words, `twice`, numbers of versions, `one`, a mere
    number below 13 unless the evidence counts the same thing, and a value within the rounding of
    one that stands there. Only a `full` is; a `partial` is not.
    """
    MISMATCH_DATE = "mismatch:date"
    """A `full` whose evidence lacks a date of the sentence, or gives one that does not hold it."""
    MISMATCH_UNIT = "mismatch:unit"
    """A `full` whose evidence gives a number of the sentence with another unit."""
    MISMATCH_NAME = "mismatch:name"
    """A `full` with a name that neither the chunks of its evidence nor the question mention.

    Never looked at: Chinese names of people and companies, and a single word at the start of a
    sentence unless answer or chunks have it amid one with a capital, and never without.
    """


class Flag(Record):
    """A flag, and the sentence it hangs on."""

    name: FlagName
    """Which."""
    sentence: int | None = None
    """Index of the sentence; null where it concerns the whole sample."""
    detail: str = ""
    """For a mismatch, what is missing, in the sentence's own characters; several joined by `; `."""
