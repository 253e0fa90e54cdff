"""Rankings held against what is known to be relevant: how, and what came of it."""

from typing import Annotated, Final, Literal

from pydantic import Field, field_validator

from judge.records import Document, GateResult, Interval, Record

QueryStatus = Literal["measured", "no_gold", "no_relevant", "no_ranking"]
"""`no_gold`: gold is absent. `no_relevant`: gold names no relevant chunk. `no_ranking`: nothing was
ranked although a chunk is relevant."""
DEEPEST: Final = 10**9
"""Largest cut-off: longer rankings fit no memory."""
Cutoff = Annotated[int, Field(ge=1, le=DEEPEST)]


class RankRules(Record):
    """The rules of rank measures. All are part of the signature."""

    ks: Annotated[tuple[Cutoff, ...], Field(min_length=1)] = (1, 3, 5, 10, 20)
    """Cut-offs, 1 and up; kept ascending, each once. Lists for a person look at the last."""
    gain: Literal["linear", "exp2"] = "linear"
    """DCG's gain: the relevance itself, or 2^relevance - 1."""
    relevance_level: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Least relevance that counts as relevant; null: any above 0. As in trec_eval, DCG takes no
    notice of it; but a query without anything so relevant has status `no_relevant`."""
    gold_match: Literal["exact", "prefix"] | None = None
    """`prefix`: gold names documents, and a chunk matches the document whose id its own id begins
    with. Null: exact, but an error where no ranking holds any gold id, because the ids then
    differ."""
    no_relevant: Literal["skip", "zero"] = "skip"
    """A query with nothing relevant: in no mean, or 0 in each but ROC-AUC's."""
    no_ranking: Literal["zero", "skip"] = "zero"
    """A query with a relevant chunk but no ranking: 0 in each mean, or in none."""

    beta: float | None = Field(default=None, ge=0.01, le=100)
    """Also measure F-beta at each cut-off: recall counts that many times as much as precision."""

    @field_validator("ks")
    @classmethod
    def _ascending(cls, ks: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(set(ks)))


class _OfQuery(Record):
    """Something of one query."""

    qid: str
    """The id of the query."""
    query: str = ""
    """The text of the query, where it is known."""


class QueryRanks(_OfQuery):
    """The measures of one query."""

    status: QueryStatus
    """Whether it was measured, and why not."""
    ranked: int
    """Chunks ranked, each counted once."""
    relevant: int
    """Relevant chunks, ranked or not."""
    found: int
    """The number of relevant chunks that are ranked, at any rank."""
    measures: dict[str, float | None]
    """By name. Null where a measure is not defined, and where the query counts in no mean."""


MissGuess = Literal["no_shared_words", "split", "other_words"]
"""Why a relevant chunk may have been missed: it shares no word with the question; what is asked is
split between it and another relevant chunk; it has other words."""


class ShownChunk(Record):
    """A chunk to look at."""

    chunk_id: str
    """As it was ranked, or as gold names it."""
    rank: int | None
    """From 1; null where it is not ranked."""
    text: str = ""
    """The beginning of its text; empty where no sample has it."""


class WorstQuery(QueryRanks):
    """A query to look at: what stood on top, what was missed, and a guess why."""

    top: ShownChunk | None = None
    """The first irrelevant chunk above `missed`; null where there is none."""
    missed: ShownChunk | None = None
    """The most relevant chunk that is not among the first k; else the last chunk with an irrelevant
    one above it."""
    guess: MissGuess | None = None
    """Why `missed` was missed: a guess from words alone; null where no reason shows."""
    beside: str = ""
    """Id of the chunk that holds the rest."""


class MissedGold(_OfQuery):
    """A relevant chunk that is not among the first k."""

    chunk_id: str
    """As gold names it."""
    relevance: float
    """The grade, above 0."""
    rank: int | None
    """The rank beyond k, under `prefix` counted in documents; null where it is not ranked."""


class IrrelevantTop(_OfQuery):
    """The irrelevant chunks above the first relevant chunk of a query, within the first k."""

    first_relevant: int | None
    """Rank of the first relevant chunk; null where none is ranked."""
    chunk_ids: tuple[str, ...]
    """The irrelevant ones above it, best first."""


class RankingReport(Record):
    """Rank measures of a whole file. A null mean was measured on nothing; it is never 0."""

    schema_: Literal[3] = Field(default=3, alias="schema")
    """Version of this layout."""
    signature: str
    """How the numbers were made; equal signatures mean comparable numbers."""
    queries: int
    """All queries, whatever became of them."""
    averaged: int
    """Queries in the means."""
    statuses: dict[QueryStatus, int]
    """Queries by status, zeros included."""
    mean: dict[str, float | None]
    """Means over the averaged queries for which the measure is defined."""
    ceiling: dict[str, float] = Field(default_factory=dict)
    """The highest mean that any ranking could give of recall@k, by min(R, k) / R, and precision@k,
    by min(R, k) / k, with R relevant chunks."""
    interval: dict[str, Interval | None]
    """95 % interval of each mean. Null for a DCG where it would be Wilson's, which ends at 1."""
    defined: dict[str, int]
    """The number of queries in each mean."""
    listed: dict[QueryStatus, tuple[str, ...]]
    """The first qids of every status but `measured`."""
    repeated: int
    """Queries whose ranking names a chunk twice; it was counted once, at its first place."""
    conflicts: int = 0
    """Queries whose `gold_evidence` and `relevance` above 0 name different chunks: DCG and nDCG go
    by `relevance` there, all other measures by `gold_evidence`."""
    conflicting: tuple[str, ...] = ()
    """The first qids of these queries."""
    missed_total: int
    """Relevant chunks of the averaged queries that are not among the first k."""
    relevant_total: int
    """Relevant chunks of the averaged queries."""
    topped_total: int
    """Averaged queries with something irrelevant on top."""
    worst: tuple[WorstQuery, ...] = ()
    """Queries with the lowest average precision."""
    missed: tuple[MissedGold, ...] = ()
    """Relevant chunks missed: the most relevant first, then those that are not ranked at all."""
    topped: tuple[IrrelevantTop, ...] = ()
    """Queries with something irrelevant on top, the most of it first."""
    gates: tuple[GateResult, ...] = ()
    """The gates of the command that made the report, in its order."""
    notes: tuple[str, ...] = ()
    """Notes on measures whose names mean something else in other tools."""
    warnings: tuple[str, ...] = ()
    """Warnings about these numbers."""


class MeasureDifference(Record):
    """A measure of one run less that of the first, over the queries that both have."""

    queries: int
    """The number of these queries."""
    first: float
    """The first run's mean over them."""
    difference: float
    """Mean over them of this run's value less the first's."""
    interval: Interval | None
    """95 % interval of the difference; null where fewer than six queries differ."""
    p: float
    """Two-sided p of a paired t test; at least 2^(1 - k) where k queries differ."""
    gain: float | None
    """`difference` ÷ `first`; null where that is 0."""
    higher: int
    """Queries for which this run's value is above the first's."""
    lower: int
    """Queries for which it is below."""


Mismatch = Literal["only_here", "only_first", "query_differs", "gold_differs"]
"""Why queries of two runs do not match: only this run has the qid, only the first run has it, the
texts differ, or the numbers of relevant chunks differ. Differences leave out the first two."""


class ComparedRun(Record):
    """One run beside the first."""

    name: str
    """The name of the run."""
    report: RankingReport
    """The report over all its queries."""
    differences: dict[str, MeasureDifference | None] = Field(default_factory=dict)
    """By measure; null where no query of both has it. Empty for the first run."""
    mismatches: dict[Mismatch, int] = Field(default_factory=dict)
    """The number of queries that do not match the first run's, by kind; kinds without any are left
    out."""
    listed: dict[Mismatch, tuple[str, ...]] = Field(default_factory=dict)
    """The first qids of each kind."""


class RunsReport(Document):
    """Rank measures of several runs over the same queries."""

    test: Literal["paired_t"] = "paired_t"
    """Where the intervals and p come from."""
    rejected: int = 0
    """Lines that were no samples, and were left out."""
    runs: tuple[ComparedRun, ...]
    """In the order in which they were given; the first is what the others are held against."""
