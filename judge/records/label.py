"""What a person says."""

from judge.records.record import Record
from judge.records.verdict import Support


class Label(Record):
    """A person's answer on one sentence; never called a verdict."""

    review_id: str
    """The row of the sheet that bears it."""
    qid: str
    """Whose answer."""
    sentence: int
    """Index of the sentence."""
    support: Support | None = None
    """The label on the judge's own scale; null where the person answered yes or no only."""
    supported: bool
    """Whether the chunks fully support it."""
    reviewer: str = ""
    """Who said so, by whatever name they go."""
    note: str = ""
    """What they added."""
