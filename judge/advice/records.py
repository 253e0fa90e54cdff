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
"""What a reranker chooses from, in depths that are read."""
MOST_CHUNKS: Final = 10**15
"""To search: far above any corpus, and every ratio of it is still a number."""


class Wishes(Record):
    """What the numbers are for: what samples do not tell."""

    missed_cost: Cost = "normal"
    """What it costs not to find something relevant; one of the two costs may be high."""
    noise_cost: Cost = "normal"
    """What it costs to be shown something irrelevant."""
    depth: Annotated[int, Field(ge=1, le=DEEPEST // POOL)] | None = None
    """Only so many of the ranking are read; null: nobody said."""
    corpus_size: Annotated[int, Field(ge=1, le=MOST_CHUNKS)] | None = None
    """Chunks there are to search; null: irrelevant ones are counted in the rankings."""
    task: Task | None = None
    """What the system is for, where its measures should compare with published ones."""

    @model_validator(mode="after")
    def _one_high(self) -> Self:
        if self.missed_cost == self.noise_cost == "high":
            raise ValueError("missed_cost and noise_cost cannot both be high: which costs more?")
        return self


class Profile(Record):
    """What there is in some samples."""

    samples: int
    """How many."""
    queries: int
    """Those with something relevant: the medians are over them."""
    without_relevant: int
    """Those whose gold says that nothing is relevant; in no median."""
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
    """Whether two different grades above 0 stand in one query; null without gold."""
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
    """How much hangs on it."""
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
    """What it says."""


class FamilyAdvice(Record):
    """Whether a family of measures other than retrieval can be taken."""

    family: str
    """As in the catalogue."""
    fits: bool
    """Whether any sample has what it needs."""
    samples: int
    """How many have."""
    why: str
    """In a sentence."""
    measures: tuple[str, ...]
    """Its measures."""
    command: str
    """What takes them."""


class Advice(Document):
    """Which measures fit, which do not, and why."""

    profile: Profile
    """What the samples hold."""
    wishes: Wishes
    """What the user said."""
    scenario: Scenario | None
    """Null where nothing is known to be relevant, or not how much is irrelevant."""
    measures: tuple[AdvisedMeasure, ...]
    """Of retrieval, primary first. Empty where no scenario is known."""
    avoided: tuple[AvoidedMeasure, ...]
    """Of retrieval; none of them is advised, at any cut-off."""
    fired: tuple[FiredRule, ...]
    """The rule of the scenario, then those that decided on a measure."""
    families: tuple[FamilyAdvice, ...]
    """The other families of the catalogue, in its order."""
    notes: tuple[str, ...]
    """What else to know."""
