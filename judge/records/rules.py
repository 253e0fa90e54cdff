"""The choices of the reader of a result, as opposed to those of the judge."""

import re
from typing import Literal

from judge.records.record import Record


class Rules(Record):
    """How citations are found and quotes are held to account."""

    prose_citations: bool = False
    """Also read "passage 2", "文档2" as citations."""
    citation_pattern: str | None = None
    """One more regular expression for citations; its first group (or all of it) is a chunk id."""
    require_quotes: bool = False
    """A `full` or `partial` without a verified quote becomes `Unscored(unverified)`."""
    faithful_from: float = 0.8
    """The least faithfulness of an answer that counts as faithful, 0 to 1."""
    correct_from: float = 0.8
    """The least part of its reference, 0 to 1, that an answer covers to count as correct."""
    gold_match: Literal["exact", "prefix"] = "exact"
    """Whether gold names chunks, or with `prefix` documents: a chunk's id is then a document's id
    and a character that is no letter or digit, or Chinese after other letters or the reverse."""


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a regular expression that a user wrote.

    Raises:
        ValueError: it is no regular expression, or one beyond what the engine takes.
    """
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"is no regular expression: {error}") from None
