"""Advice on measures."""

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from judge.records import Document, Record
from judge.retrieval.records import DEEPEST

Task = Literal["qa", "passage"]
Cost = Literal["normal", "high"]
Scenario = Literal["sparse", "dense", "balanced", "imbalanced"]
Role = Literal["primary", "secondary", "supplementary"]

POOL: Final = 10
"""The depth of a reranker's candidates, as a multiple of the depth that is read."""
MOST_CHUNKS: Final = 10**15
"""To search: far above any corpus, and every ratio of it is still a number."""


class Wishes(Record):
    """The purpose of the measurement, which samples do not show."""

    missed_cost: Cost = "normal"
    """The cost of missing something relevant; only one of the two costs may be high."""
    noise_cost: Cost = "normal"
    """The cost of showing something irrelevant."""
    depth: Annotated[int, Field(ge=1, le=DEEPEST // POOL)] | None = None
    """The number of ranks that are read; null if unknown."""
    corpus_size: Annotated[int, Field(ge=1, le=MOST_CHUNKS)] | None = None
    """Chunks there are to search; null: irrelevant ones are counted in the rankings."""
    task: Task | None = None
    """The task whose published measures the numbers should be comparable with."""

    @model_validator(mode="after")
    def _one_high(self) -> Self:
        if self.missed_cost == self.noise_cost == "high":
            raise ValueError("missed_cost and noise_cost cannot both be high: which costs more?")
        return self


class Profile(Record):
    """What there is in some samples."""

    samples: int
    """The number of samples."""
    queries: int
    """The number of queries with something relevant; the medians are over these."""
    without_relevant: int
    """The number of queries whose gold says that nothing is relevant; they are in no median."""
    relevant: float | None
    """Relevant chunks a query, median: in gold_evidence, or else graded above 0. Null: none has."""
    irrelevant: float | None
    """Irrelevant ones a query, median, of the corpus or else of what is ranked. Null: not known."""
    counted: Literal["corpus", "ranking"] | None
    """Where irrelevant ones were counted."""
    differing: int = 0
    """Samples whose gold_evidence and relevance name different chunks: counted by the first."""
    longest: int
    """Chunks in the longest ranking, each counted once."""
    graded: bool | None
    """Whether one query has two different grades above 0; null without gold."""
    share: dict[str, float]
    """Share of the samples, 0 to 1, with `answer`, `gold_answer`, `gold`, `chunks`, `retrieved` (or
    chunks, whose order serves), `citations` in the answer; what is blank or empty is not there."""
    fitting: dict[str, int]
    """By family of measures: samples that have all that it needs."""

    @property
    def ratio(self) -> float | None:
        """Irrelevant ones for one relevant, of the medians; null where either is not known."""
        if self.relevant is None or self.irrelevant is None:
            return None
        return self.irrelevant / self.relevant


class AdvisedMeasure(Record):
    """A measure to take."""

    name: str
    """As `judge retrieval` prints it: `recall@20`."""
    role: Role
    """The importance of the measure."""
    why: str
    """In a sentence."""
    rule: str
    """The rule that advises it."""
    difference: bool = False
    """Whether it tells something only as the difference between two systems."""
    most: float | None = None
    """The highest value that the median query allows at this cut-off, where that is under 1."""


class AvoidedMeasure(Record):
    """A measure that misleads on such data, why, and the rule that warns of it."""

    name: str
    """As in the catalogue, such as `recall@k`; or of another tool: `accuracy@k`."""
    why: str
    """Why it misleads here."""
    rule: str
    """Name of the rule that says so."""


class FiredRule(Record):
    """A rule that decided something, and what it says."""

    rule: str
    """Name of the rule in the table."""
    why: str
    """The text of the rule."""


class FamilyAdvice(Record):
    """Whether a family of measures other than retrieval can be taken."""

    family: str
    """As in the catalogue."""
    fits: bool
    """Whether any sample has what it needs."""
    samples: int
    """The number of samples that have what it needs."""
    why: str
    """In a sentence."""
    measures: tuple[str, ...]
    """The measures of the family."""
    command: str
    """What takes them."""


class Advice(Document):
    """Which measures fit, which do not, and why."""

    profile: Profile
    """The profile of the samples."""
    wishes: Wishes
    """The user's wishes."""
    scenario: Scenario | None
    """Null where nothing is known to be relevant, or not how much is irrelevant."""
    measures: tuple[AdvisedMeasure, ...]
    """Measures of retrieval, primary first. Empty where no scenario is known."""
    avoided: tuple[AvoidedMeasure, ...]
    """Measures of retrieval to avoid; none of them is advised, at any cut-off."""
    fired: tuple[FiredRule, ...]
    """The rule of the scenario, then those that decided on a measure."""
    families: tuple[FamilyAdvice, ...]
    """The other families of the catalogue, in its order."""
    notes: tuple[str, ...]
    """What else to know."""
