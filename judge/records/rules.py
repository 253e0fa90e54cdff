"""The choices of the reader of a result, as opposed to those of the judge."""

from judge.records.record import Record


class Rules(Record):
    """How citations are found and quotes are held to account."""

    prose_citations: bool = False
    """Also read "passage 2", "文档2" as citations."""
    citation_pattern: str | None = None
    """One more regular expression for citations; its first group (or all of it) is a chunk id."""
    require_quotes: bool = False
    """A `full` or `partial` without a verified quote becomes `Unscored(unverified)`."""
