"""The rules of rank measures, and the reports of what they measured."""

from typing import Annotated, Final, Literal

from pydantic import Field, field_validator

from judge.records import Document, GateResult, Interval, Record

QueryStatus = Literal["measured", "no_gold", "no_relevant", "no_ranking"]
"""Whether a query was measured, or lacks gold, a relevant chunk, or a ranking."""
DEEPEST: Final = 10**9
"""The largest cut-off: a longer ranking fits no memory."""
Cutoff = Annotated[int, Field(ge=1, le=DEEPEST)]


class RankRules(Record):
    """The rules of rank measures. All are part of the signature."""

    ks: Annotated[tuple[Cutoff, ...], Field(min_length=1)] = (1, 3, 5, 10, 20)
    """The cut-offs, 1 or more, in ascending order. WorstQueries for people use the last."""
    gain: Literal["linear", "exp2"] = "linear"
    """The gain of DCG: the relevance, or 2^relevance - 1."""
    relevance_level: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """The lowest relevance of a relevant chunk; null for any above 0. As in trec_eval, nDCG ignores
    it; but a query without a relevant chunk by this rule has status `no_relevant`."""
    gold_match: Literal["exact", "prefix"] | None = None
    """What gold names: chunks (`exact`), or documents (`prefix`), whose id is the beginning of the
    chunk's id. Null is `exact`, but an error if no ranking contains any gold id."""
    no_ranking: Literal["zero", "skip"] = "zero"
    """Whether a query with a relevant chunk but no ranking counts 0 in each mean, or in none."""

    @field_validator("ks")
    @classmethod
    def _ascending(cls, ks: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(set(ks)))


class QueryRanks(Record):
    """The measures of one query."""

    qid: str
    """The id of the query."""
    query: str = ""
    """The text of the query, where it is known."""
    status: QueryStatus
    """Whether the query was measured, or why not."""
    ranked: int
    """The number of different chunks that are ranked."""
    relevant: int
    """The number of relevant chunks, ranked or not."""
    found: int
    """The number of relevant chunks that are ranked, at any rank."""
    measures: dict[str, float | None]
    """The measures by name. Null if the query counts in no mean."""


MissGuess = Literal["no_shared_words", "other_words"]
"""Whether a missed chunk shares no word with the question, or uses other words."""


class ShownChunk(Record):
    """A chunk to look at."""

    chunk_id: str
    """The id by which it was ranked, or by which gold names it."""
    rank: int | None
    """The rank, from 1; null if it is not ranked."""
    text: str = ""
    """The beginning of its text; empty if no sample has it."""


class WorstQuery(QueryRanks):
    """A query to read: what was on top, what was missed, and a guess why."""

    top: ShownChunk | None = None
    """The first irrelevant chunk above `missed`, if any."""
    missed: ShownChunk | None = None
    """The most relevant chunk not among the first k, else the last below an irrelevant one."""
    guess: MissGuess | None = None
    """A guess from words alone why `missed` was missed, if any."""


class RankingReport(Record):
    """Rank measures of a whole file. A null mean was measured on nothing; it is never 0."""

    schema_: Literal[4] = Field(default=4, alias="schema")
    """Version of this layout."""
    signature: str
    """How the numbers were made; numbers with equal signatures are comparable."""
    queries: int
    """The number of all queries."""
    averaged: int
    """Queries in the means."""
    statuses: dict[QueryStatus, int]
    """Queries by status, zeros included."""
    mean: dict[str, float | None]
    """Means over the averaged queries."""
    ceiling: dict[str, float] = Field(default_factory=dict)
    """The highest mean that any ranking could give of recall@k, by min(R, k) / R, and precision@k,
    by min(R, k) / k, with R relevant chunks."""
    interval: dict[str, Interval | None]
    """95 % interval of each mean."""
    listed: dict[QueryStatus, tuple[str, ...]]
    """The first qids of every status but `measured`."""
    repeated: int
    """Queries whose ranking names a chunk twice; it was counted once, at its first place."""
    conflicts: int = 0
    """Queries whose `gold_evidence` and `relevance` name different chunks."""
    conflicting: tuple[str, ...] = ()
    """The first qids of the queries in `conflicts`."""
    missed_total: int
    """Relevant chunks of the averaged queries that are not among the first k."""
    relevant_total: int
    """Relevant chunks of the averaged queries."""
    worst: tuple[WorstQuery, ...] = ()
    """Queries with the lowest average precision."""
    gates: tuple[GateResult, ...] = ()
    """The gates of the command that made the report, in its order."""
    warnings: tuple[str, ...] = ()
    """Warnings about these numbers."""


class MeasureDifference(Record):
    """A measure of one run less that of the first, over the queries that both have."""

    queries: int
    """The number of queries that both runs have."""
    first: float
    """The first run's mean over these queries."""
    difference: float
    """The mean over these queries of this run's value minus the first run's."""
    interval: Interval | None
    """95 % interval of the difference; null where fewer than six queries differ."""
    p: float
    """Two-sided p of a paired t test; at least 2^(1 - k) where k queries differ."""
    gain: float | None
    """`difference` ÷ `first`; null if `first` is 0."""
    higher: int
    """Queries with a higher value in this run."""
    lower: int
    """Queries with a lower value in this run."""


Mismatch = Literal["only_here", "only_first", "gold_differs"]
"""Queries that one run lacks, or with unequal numbers of relevant chunks."""


class ComparedRun(Record):
    """One run beside the first."""

    name: str
    """The name of the run."""
    report: RankingReport
    """The report over all its queries."""
    differences: dict[str, MeasureDifference | None] = Field(default_factory=dict)
    """By measure; null where no query of both has it. Empty for the first run."""
    mismatches: dict[Mismatch, int] = Field(default_factory=dict)
    """The number of queries that do not match the first run's, by the kinds that occur."""
    listed: dict[Mismatch, tuple[str, ...]] = Field(default_factory=dict)
    """The first qids of each kind."""


class RunsReport(Document):
    """Rank measures of several runs over the same queries."""

    test: Literal["paired_t"] = "paired_t"
    """Where the intervals and p come from."""
    rejected: int = 0
    """Lines that were no samples, and were left out."""
    runs: tuple[ComparedRun, ...]
    """The runs in the order of the command; the others are compared with the first."""
