"""Rankings of samples and of TREC runs, and what is relevant for each query."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np

from judge.errors import InputError
from judge.records import Chunk, Sample
from judge.retrieval.records import RankRules
from judge.scores.correctness import Documents
from judge.text.visible import clip, counted

Grades = Mapping[str, float]
"""Relevance by id; what is not there, or not above 0, is not relevant."""
Block = tuple[str, Sequence[str], Sequence[float]]
"""One query of a run: qid, document ids, and their scores, in any order."""

_SHOWN: Final = 60
_LONGEST: Final = 200
_UNGRADED: Final = 1.0
"""Relevance of a chunk that `gold_evidence` names and `relevance` does not grade."""
_MAX_GRADES: Final = {"linear": 1e100, "exp2": 300.0}
"""Largest grade by gain. Sums of the gains of much larger grades overflow."""


@dataclass(frozen=True, slots=True)
class RankedQuery:
    """The ranking and the gold of one query."""

    qid: str
    """Unique within a file."""
    ids: Mapping[str, int]
    """The rank, from 0, of each chunk that was ranked, best first."""
    relevance: Grades | None
    """Relevance of the relevant chunks, each above 0; None where gold says nothing."""
    tied: Sequence[float] | None = None
    """The falling scores by rank, where some are equal; None where no two are."""
    repeated: bool = False
    """Whether the ranking named something twice; it counts once, at the first place."""
    named: bool = False
    """Whether the ranking holds an id that gold names, graded 0 or more."""
    query: str = ""
    """The text of the query, where it is known."""
    chunks: Sequence[Chunk] = ()
    """The ranked chunks, best first, each once; an unknown text is empty. Without any text the list
    is empty."""
    unranked: Sequence[Chunk] = ()
    """The sample's other chunks."""
    evidence: Grades | None = None
    """The grades of `gold_evidence`, where `relevance` grades other chunks above 0. Binary measures
    then use it, and graded measures use `relevance`."""

    @property
    def gold(self) -> Grades | None:
        """The grades that binary measures use."""
        return self.relevance if self.evidence is None else self.evidence


def sample_query(sample: Sample, rules: RankRules) -> RankedQuery:
    """The query of a sample: `retrieved` is the ranking, or else the order of `chunks`.

    Raises:
        InputError: `gold_evidence` names what `relevance` says is not relevant.
    """
    chunks = {chunk.chunk_id: chunk for chunk in reversed(sample.chunks)}
    ids = sample.retrieved
    if ids is None:
        ids = tuple(chunk.chunk_id for chunk in sample.chunks)
    names = dict.fromkeys(ids) if chunks else ()  # Without texts there is nothing to show.
    texts = [chunks.get(name) or Chunk(chunk_id=name, text="") for name in names]
    relevance, evidence = _gold(sample, rules)
    grades = None if relevance is None else {**relevance, **(evidence or {})}
    matched = dict.fromkeys(_matched(ids, grades, rules))
    ranks = {name: rank for rank, name in enumerate(matched)}
    relevant = _relevant(sample.qid, grades, rules)
    if evidence is not None and relevant and relevance:
        relevant = {name: grade for name, grade in relevant.items() if name in relevance}
    return RankedQuery(
        sample.qid,
        ranks,
        relevant,
        repeated=len(set(ids)) < len(ids),
        named=not ranks.keys().isdisjoint(grades or ()),
        query=sample.query,
        chunks=texts,
        unranked=[chunk for name, chunk in chunks.items() if name not in names],
        evidence=evidence,
    )


def run_queries(
    qrels: Mapping[str, Grades], rankings: Iterable[Block], rules: RankRules
) -> Iterator[RankedQuery]:
    """The queries of a run, then those of the qrels for which it ranks nothing.

    A run is ordered by score, equal scores by id, both descending, whatever ranks it states. So
    does trec_eval, which holds scores in single precision, where more of them are equal, and
    compares ids by their bytes: for UTF-8 that is the order of code points (D54). Where a ranking
    names a chunk twice, the better score counts.

    Raises:
        ValueError: a ranking has not as many scores as ids, or a query has two rankings.
        InputError: a score is NaN.
    """
    ranked = set()
    for qid, docs, scores in rankings:
        if qid in ranked:
            raise ValueError(f"query {qid!r} has two rankings; give each query's as one")
        ranked.add(qid)
        if len(docs) != len(scores):
            given = f"{counted(len(docs), 'id')} and {counted(len(scores), 'score')}"
            raise ValueError(f"query {qid!r} has {given}")
        yield _run_query(qid, docs, scores, qrels.get(qid), rules)
    for qid, relevance in qrels.items():
        if qid not in ranked:
            yield _run_query(qid, (), (), relevance, rules)


def _run_query(
    qid: str, docs: Sequence[str], scores: Sequence[float], grades: Grades | None, rules: RankRules
) -> RankedQuery:
    if any(map(math.isnan, scores)):
        raise InputError(f"a score of query {qid!r} is no number; mend it")
    best: dict[str, float] = {}
    for name, score in zip(_matched(docs, grades, rules), scores, strict=True):
        best[name] = max(score, best.get(name, -math.inf))
    # A score beyond the range of single precision becomes infinite.
    with np.errstate(over="ignore"):
        single = np.array(list(best.values()), dtype=np.float32)
    order = sorted(zip(single.tolist(), best, strict=True), reverse=True)
    ranks = {name: rank for rank, (_, name) in enumerate(order)}
    falling = [score for score, _ in order]
    return RankedQuery(
        qid,
        ranks,
        _relevant(qid, grades, rules),
        tied=falling if len(set(falling)) < len(falling) else None,
        repeated=len(set(docs)) < len(docs),
        named=not ranks.keys().isdisjoint(grades or ()),
    )


def check_gold(sample: Sample, rules: RankRules) -> None:
    """Refuse gold that cannot be measured by.

    Raises:
        InputError: it contradicts itself, or a grade is too large for the gain.
    """
    _relevant(sample.qid, _gold(sample, rules)[0], rules)


def check_key(sample: Sample, by: str) -> None:
    """Refuse, with InputError, a sample that the key `by` gives no text or number."""
    if by not in sample.metadata:
        others = ", ".join(sample.metadata) or "none"
        message = f"is missing, and --by names it; the other keys here: {others}"
        raise InputError(clip(message, _LONGEST), field=by)
    value = sample.metadata[by]
    if not isinstance(value, str | int | float) or not str(value).strip():
        shown = clip(repr(value), _SHOWN)
        raise InputError(f"is {shown}; --by takes a text or a number", field=by)


def _gold(sample: Sample, rules: RankRules) -> tuple[Grades | None, Grades | None]:
    """What `relevance` grades, or else `gold_evidence` names; and evidence where they differ.

    What gold names has its grade, or 1. An empty `gold_evidence` beside grades says nothing. The
    two do not differ where evidence names just what `relevance_level` makes relevant.
    """
    graded = sample.relevance or {}
    if sample.gold_evidence is None:
        return sample.relevance, None
    for name in sample.gold_evidence:
        if graded.get(name, _UNGRADED) <= 0:
            message = f"{name!r} of query {sample.qid!r} is graded {graded[name]:g}, and "
            message += "gold_evidence names it; take it out of one of them"
            raise InputError(message, field="relevance")
    evidence = {name: graded.get(name, _UNGRADED) for name in sample.gold_evidence}
    relevant = {name for name, grade in graded.items() if grade > 0}
    counted = {name for name in relevant if graded[name] >= (rules.relevance_level or 0.0)}
    if not relevant or not evidence or evidence.keys() in (relevant, counted):
        return {**graded, **evidence}, None
    return graded, evidence


def _matched(ids: Sequence[str], grades: Grades | None, rules: RankRules) -> Sequence[str]:
    """The name that gold uses for each chunk: under `prefix` its document's id, if gold has it."""
    if not grades or rules.gold_match != "prefix":
        return ids
    documents = Documents(grades)
    return [documents.of(name) for name in ids]


def _relevant(qid: str, grades: Grades | None, rules: RankRules) -> Grades | None:
    """Return the grades above 0; InputError for one whose gain is too large to be summed."""
    relevant = grades and {name: grade for name, grade in grades.items() if grade > 0}
    most = _MAX_GRADES[rules.gain]
    for name, grade in (relevant or {}).items():
        if grade > most:
            way = "" if rules.gain == "linear" else ", or pass --gain linear"
            what = f"{grade:g}, over {most:g} and too much for gain {rules.gain!r}"
            message = f"the grade of {name!r} for query {qid!r} is {what}; mend it{way}"
            raise InputError(message, field="relevance")
    return relevant


class Relevant:
    """All relevant chunks of some queries: one entry a chunk, and the rank that it has.

    `rows` say to which query an entry belongs; `ranks` count from 1, infinite for a chunk that is
    not ranked.

    Args:
        queries: side by side.
        graded: what is relevant for each of them.
        width: of the longest ranking, at least 1.
    """

    def __init__(
        self, queries: Sequence[RankedQuery], graded: Sequence[Grades], width: int
    ) -> None:
        counts = np.array([len(each) for each in graded], dtype=np.intp)
        self.names = list(chain.from_iterable(graded))
        self.rows = np.repeat(np.arange(len(queries)), counts)
        grades = chain.from_iterable(each.values() for each in graded)
        self.grades = np.fromiter(grades, dtype=np.float64)
        ranks = np.array(
            [q.ids.get(name, -1) for q, each in zip(queries, graded, strict=True) for name in each],
            dtype=np.intp,
        )
        found = ranks >= 0
        self.ranks = np.where(found, ranks + 1.0, np.inf)
        self.by_rank = np.zeros((len(queries), width))
        """The relevance at each rank: shape (queries, longest ranking)."""
        self.by_rank[self.rows[found], ranks[found]] = self.grades[found]
        self.falling = np.zeros((len(queries), max(1, int(counts.max()))))
        """Each query's relevances as the ideal ranking has them, the largest first, then 0."""
        begin = np.repeat(np.cumsum(counts) - counts, counts)
        self.falling[self.rows, np.arange(len(self.rows)) - begin] = self.grades
        self.falling[:, ::-1].sort(axis=1)
