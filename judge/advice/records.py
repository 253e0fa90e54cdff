"""Advice on measures."""

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from judge.records import Document, Record
from judge.retrieval.records import DEEPEST

Cost = Literal["normal", "high"]
Scenario = Literal["sparse", "dense", "balanced", "imbalanced"]
Role = Literal["primary", "secondary", "supplementary"]

POOL: Final = 10
"""The number of a reranker's candidates, as a multiple of the ranks that are read."""
MOST_CHUNKS: Final = 10**15
"""The largest size of a corpus: far above any real one, and still a number in every ratio."""


class Wishes(Record):
    """The purpose of the measurement, which samples do not show."""

    missed_cost: Cost = "normal"
    """The cost of missing something relevant; only one of the two costs may be high."""
    noise_cost: Cost = "normal"
    """The cost of showing something irrelevant."""
    depth: Annotated[int, Field(ge=1, le=DEEPEST // POOL)] | None = None
    """The number of ranks that are read; null if unknown."""
    corpus_size: Annotated[int, Field(ge=1, le=MOST_CHUNKS)] | None = None
    """The number of chunks to search; if null, irrelevant ones are counted in the rankings."""

    @model_validator(mode="after")
    def _one_high(self) -> Self:
        if self.missed_cost == self.noise_cost == "high":
            raise ValueError("missed_cost and noise_cost cannot both be high: which costs more?")
        return self


class Profile(Record):
    """Counts of what some samples contain."""

    samples: int
    """The number of samples."""
    queries: int
    """The number of queries with something relevant; the medians are over these."""
    without_relevant: int
    """The number of queries whose gold says that nothing is relevant; they are in no median."""
    relevant: float | None
    """The median of the relevant chunks of a query; null if no query has any."""
    irrelevant: float | None
    """The median of the irrelevant chunks of a query; null if unknown."""
    counted: Literal["corpus", "ranking"] | None
    """Where the irrelevant chunks were counted."""
    longest: int
    """The number of different chunks in the longest ranking."""
    graded: bool | None
    """Whether a query has two different grades above 0; null without gold."""
    share: dict[str, float]
    """The share of samples, 0 to 1, with a nonempty `query`, `answer`, `gold_answer`, `gold`,
    `chunks`, `retrieved` (or `chunks`), and `citations` in the answer."""
    fitting: dict[str, int]
    """The number of samples that have everything a family of measures needs, by family."""

    @property
    def ratio(self) -> float | None:
        """The irrelevant chunks for each relevant one, by the medians; null if unknown."""
        if self.relevant is None or self.irrelevant is None:
            return None
        return self.irrelevant / self.relevant


class AdvisedMeasure(Record):
    """A measure to use."""

    name: str
    """The name that `judge retrieval` prints: `recall@20`."""
    role: Role
    """The importance of the measure."""
    why: str
    """The reason."""
    rule: str
    """The rule that advises it."""


class AvoidedMeasure(Record):
    """A measure that misleads on such data."""

    name: str
    """The name, such as `recall@k`, or `accuracy@k` of other tools."""
    why: str
    """Why it misleads here."""
    rule: str
    """The name of the rule that says so."""


class FiredRule(Record):
    """A rule that decided something, and what it says."""

    rule: str
    """The name of the rule in the table."""
    why: str
    """The text of the rule."""


class FamilyAdvice(Record):
    """Whether a family of measures other than retrieval fits the samples."""

    family: str
    """The name of the family."""
    fits: bool
    """Whether any sample has what it needs."""
    samples: int
    """The number of samples that have what it needs."""
    why: str
    """The reason."""
    measures: tuple[str, ...]
    """The measures of the family."""
    command: str
    """The command that computes them."""


class Advice(Document):
    """The measures that fit, those that do not, and the reasons."""

    profile: Profile
    """The profile of the samples."""
    wishes: Wishes
    """The user's wishes."""
    scenario: Scenario | None
    """The scenario; null if the numbers of relevant and irrelevant chunks do not determine it."""
    measures: tuple[AdvisedMeasure, ...]
    """The measures of retrieval to use, primary first; empty without a scenario."""
    avoided: tuple[AvoidedMeasure, ...]
    """The measures of retrieval to avoid, at any cut-off."""
    fired: tuple[FiredRule, ...]
    """The rule of the scenario, then those that decided on a measure."""
    families: tuple[FamilyAdvice, ...]
    """The other families."""
    notes: tuple[str, ...]
    """More notes."""
