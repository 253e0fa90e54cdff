"""How a run is made: the rules its results are read by, and what `run.json` says."""

import hashlib
from typing import Literal

from pydantic import JsonValue

from judge.records.sample import Document, Record
from judge.records.summary import Spent


class Rules(Record):
    """The rules for citations, quotes and the table of quadrants."""

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
    """Whether gold names chunks, or documents whose ids begin those of their chunks."""

    @property
    def parts(self) -> tuple[str, ...]:
        """Parts of a signature: of the rules that touch verdicts those that are not the usual."""
        parts = ["cites:prose"] if self.prose_citations else []
        if self.citation_pattern is not None:
            digest = hashlib.sha256(self.citation_pattern.encode()).hexdigest()
            parts.append(f"cites:{digest[:8]}")
        return (*parts, "quotes:required") if self.require_quotes else tuple(parts)


class RunInput(Record):
    """The file that was scored."""

    path: str
    """The path of the file; `input` of the run folder for standard input."""
    sha256: str
    """Hash of its bytes."""
    samples: int
    """The number of answers scored: all in the file, unless `drawn_from` is set."""
    rejected: int = 0
    """The number of bad lines left out; they are in `rejected.jsonl`."""
    crashed: int = 0
    """The number of answers set aside in `rejected.jsonl` because each crashed a cluster worker."""
    drawn_from: int | None = None
    """The number of answers in the file where only some were drawn; null where all are scored."""


class RunRecord(Document):
    """How a run was made, so that it can be identified, resumed and repeated."""

    signature: str
    """How every number of the run is made, those of the next three aside."""
    correctness: str | None = None
    """How those of correctness are made; null where it was not asked for."""
    answer_relevance: str | None = None
    """How those of answer relevance are made; null where it was not asked for."""
    context: str | None = None
    """How those of context are made; null where they were not asked for."""
    config: dict[str, JsonValue]
    """All settings, without secrets."""
    versions: dict[str, str]
    """Versions of Python, of this package, and of the libraries that affect a number."""
    input: RunInput
    """The file that was scored."""
    started: str
    """ISO 8601, UTC."""
    finished: str | None = None
    """ISO 8601, UTC; null while the run is not whole."""
    seconds: float | None = None
    """Wall time of the session that finished the run."""
    resumed: int = 0
    """The number of answers that this session found already scored."""
    earlier: Spent | None = None
    """What earlier sessions spent on those answers; null where this session scored all."""
