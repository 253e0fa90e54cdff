"""Rankings: what was ranked for each query, out of samples and TREC files, and in which order."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt

from judge.errors import InputError
from judge.records import Chunk, Sample
from judge.retrieval.records import RankRules
from judge.scores.quadrants import Documents
from judge.text.visible import clip, counted

Grades = Mapping[str, float]
"""Relevance by id; what is not there, or not above 0, is not relevant."""
Block = tuple[str, Sequence[str], Sequence[float]]
"""One query of a run: qid, document ids, and their scores, in any order."""
Places = npt.NDArray[np.intp]

_SHOWN: Final = 60
_LONGEST: Final = 200
_UNGRADED: Final = 1.0
"""Relevance of what gold names and nobody graded."""
_MOST: Final = {"linear": 1e100, "exp2": 300.0}
"""Relevance: from a good deal more, sums of gains are no longer numbers."""


@dataclass(frozen=True, slots=True)
class RankedQuery:
    """What a ranking of one query is measured by."""

    qid: str
    """Unique within a file."""
    ids: Mapping[str, int]
    """What was ranked, each once, and its place from 0: its rank, or where there are scores the
    place of its score."""
    relevance: Grades | None
    """Relevance of what is relevant, above 0 each; None where nobody said."""
    scores: Sequence[float] | None = None
    """By place, where the retriever gave them: then they order the ranking."""
    repeated: bool = False
    """Whether the ranking named something twice; it counts once, at the first place."""
    named: bool = False
    """Whether the ranking holds an id that gold names, graded 0 or more."""
    query: str = ""
    """Its text, where it is known."""
    chunks: Sequence[Chunk] = ()
    """What was ranked, chunk by chunk, best first, each once; a text that is not known is empty.
    Without any text there are none."""
    unranked: Sequence[Chunk] = ()
    """The sample's other chunks."""
    evidence: Grades | None = None
    """Of what `gold_evidence` names, where `relevance` has other chunks above 0: then the measures
    of what is relevant or not go by it, and those of grades by `relevance`."""

    @property
    def gold(self) -> Grades | None:
        """What is relevant, by name."""
        return self.relevance if self.evidence is None else self.evidence


def sample_queries(samples: Iterable[Sample], rules: RankRules) -> Iterator[RankedQuery]:
    """The query of each sample; errors as of `sample_query`."""
    return (sample_query(sample, rules) for sample in samples)


def sample_query(sample: Sample, rules: RankRules) -> RankedQuery:
    """The query of a sample: `retrieved` is the ranking, or else the order of `chunks`.

    Raises:
        InputError: `gold_evidence` names what `relevance` says is not relevant.
    """
    chunks = {chunk.chunk_id: chunk for chunk in reversed(sample.chunks)}
    ids = sample.retrieved
    if ids is None:
        ids = tuple(chunk.chunk_id for chunk in sample.chunks)
    names = dict.fromkeys(ids) if chunks else ()  # without texts there is nothing to show
    texts = [chunks.get(name) or Chunk(chunk_id=name, text="") for name in names]
    relevance, evidence = _gold(sample, rules)
    named = None if relevance is None else {**relevance, **(evidence or {})}
    places, relevant, scores, repeated, known = _matched(ids, None, named, rules)
    if evidence is not None and relevant and relevance:
        relevant = {name: grade for name, grade in relevant.items() if name in relevance}
    return RankedQuery(
        sample.qid,
        places,
        relevant,
        scores,
        repeated,
        known,
        query=sample.query,
        chunks=texts,
        unranked=[chunk for name, chunk in chunks.items() if name not in names],
        evidence=evidence,
    )


def run_queries(
    qrels: Mapping[str, Grades], rankings: Iterable[Block], rules: RankRules
) -> Iterator[RankedQuery]:
    """The queries of a run, then those of the qrels for which it ranks nothing.

    Raises:
        ValueError: a ranking has not as many scores as ids, or a query has two rankings.
    """
    ranked = set()
    for qid, docs, scores in rankings:
        if qid in ranked:
            raise ValueError(f"query {qid!r} has two rankings; give each query's as one")
        ranked.add(qid)
        if len(docs) != len(scores):
            given = f"{counted(len(docs), 'id')} and {counted(len(scores), 'score')}"
            raise ValueError(f"query {qid!r} has {given}")
        yield RankedQuery(qid, *_matched(docs, scores, qrels.get(qid), rules))
    for qid, relevance in qrels.items():
        if qid not in ranked:
            yield RankedQuery(qid, *_matched((), None, relevance, rules))


def check_gold(sample: Sample, rules: RankRules) -> None:
    """Refuse gold that cannot be measured by.

    Raises:
        InputError: it contradicts itself, or a grade is too large for the gain.
    """
    for name, grade in (_gold(sample, rules)[0] or {}).items():
        if problem := too_much(grade, rules):
            raise InputError(f"the grade of {name!r} is {problem}", field="relevance")


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


def too_much(grade: float, rules: RankRules) -> str:
    """What is wrong with a grade that gains of this kind cannot be summed over; else nothing."""
    most = _MOST[rules.gain]
    if grade <= most:
        return ""
    way = ", or pass --gain linear" if rules.gain != "linear" else ""
    return f"{grade:g}, over {most:g} and too much for gain {rules.gain!r}; mend it{way}"


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


def _matched(
    ids: Sequence[str], scores: Sequence[float] | None, grades: Grades | None, rules: RankRules
) -> tuple[dict[str, int], Grades | None, Sequence[float] | None, bool, bool]:
    """The fields of a `RankedQuery` from `ids` to `named`."""
    relevant = grades and {name: grade for name, grade in grades.items() if grade > 0}
    places = {name: place for place, name in enumerate(ids)}
    repeated = len(places) < len(ids)
    by_document = bool(grades) and rules.gold_match == "prefix"
    if repeated or by_document:
        if by_document:
            documents = Documents(grades or ())
            ids = [documents.of(name) for name in ids]
        order: Iterable[int] = range(len(ids))
        if scores:  # best first, so that of what stands twice the better place is taken
            order = sorted(order, key=scores.__getitem__, reverse=True)
        first: dict[str, int] = {}
        for place in order:
            first.setdefault(ids[place], place)
        scores = None if scores is None else [scores[place] for place in first.values()]
        places = {name: place for place, name in enumerate(first)}
    named = grades is not None and not places.keys().isdisjoint(grades)
    return places, relevant, scores, repeated, named


class Order:
    """Which of a query's ids stands at which rank, for one query or more side by side.

    A run is ordered by score, equal scores by id, both descending, whatever ranks it states. So
    does trec_eval, which holds scores in single precision, where more of them are equal, and
    compares ids by their bytes: for UTF-8 that is the order of code points (D54).

    Raises:
        InputError: a score is NaN.
    """

    def __init__(self, queries: Sequence[RankedQuery]) -> None:
        self._queries = queries
        self._ranks: Places | None = None
        self.lengths: Places = np.array([len(query.ids) for query in queries])
        self.width = max(1, int(self.lengths.max()))
        """Of the longest ranking, at least 1."""
        self.scores: npt.NDArray[np.float64] | None = None
        """Falling with the rank; None where no two scores of a query are equal."""
        if any(query.scores is not None for query in queries):
            self._sort()

    def ranks(self, rows: Places, places: Places) -> Places:
        """Ranks, from 0, of what was given at these places of these rows."""
        return places if self._ranks is None else self._ranks[rows, places]

    def ids(self, row: int) -> list[str]:
        """What was ranked, best first."""
        given = self._queries[row].ids
        if self._ranks is None:
            return list(given)
        ranks = self._ranks[row].tolist()
        return sorted(given, key=lambda name: ranks[given[name]])

    def _sort(self) -> None:
        queries = self._queries
        given = [range(0, -len(q.ids), -1) if q.scores is None else q.scores for q in queries]
        scores = np.full((len(queries), self.width), -np.inf, dtype=np.float32)
        there = np.arange(self.width) < self.lengths[:, None]
        # Beyond the largest number of single precision lies infinity, and no error.
        with np.errstate(over="ignore"):
            scores[there] = np.fromiter(chain.from_iterable(given), dtype=np.float32)
        for row in np.flatnonzero(np.isnan(scores).any(axis=1))[:1].tolist():
            raise InputError(f"a score of query {queries[row].qid!r} is no number; mend it")
        order = np.argsort(-scores, axis=1, kind="stable")
        falling = np.take_along_axis(scores, order, axis=1)
        tied = (falling[:, 1:] == falling[:, :-1]) & there[:, 1:]
        for row in np.flatnonzero(tied.any(axis=1)).tolist():
            own = scores[row].tolist()
            keys = sorted(((own[i], name, i) for name, i in queries[row].ids.items()), reverse=True)
            order[row, : len(keys)] = [place for _, _, place in keys]
        self._ranks = np.empty_like(order)
        np.put_along_axis(self._ranks, order, np.arange(self.width)[None, :], axis=1)
        if tied.any():
            self.scores = falling.astype(np.float64)


class Relevant:
    """Every chunk that is `graded`, above 0, query by query: one entry a chunk, and where it ranks.

    `rows` say of which query each is; `ranks` count from 1, infinite for what is not ranked.
    """

    def __init__(
        self, queries: Sequence[RankedQuery], graded: Sequence[Grades], order: Order
    ) -> None:
        counts = np.array([len(each) for each in graded], dtype=np.intp)
        self.names = list(chain.from_iterable(graded))
        self.rows = np.repeat(np.arange(len(queries)), counts)
        grades = chain.from_iterable(each.values() for each in graded)
        self.grades = np.fromiter(grades, dtype=np.float64)
        places = np.array(
            [q.ids.get(name, -1) for q, each in zip(queries, graded, strict=True) for name in each],
            dtype=np.intp,
        )
        found = places >= 0
        ranks = order.ranks(self.rows[found], places[found])
        self.ranks = np.full(len(self.names), np.inf)
        self.ranks[found] = ranks + 1
        self.by_rank = np.zeros((len(queries), order.width))
        """The relevance of what stands at each rank: shape (queries, longest ranking)."""
        self.by_rank[self.rows[found], ranks] = self.grades[found]
        self.falling = np.zeros((len(queries), max(1, int(counts.max()))))
        """What an ideal ranking would show: each query's relevances, the largest first, then 0."""
        begin = np.repeat(np.cumsum(counts) - counts, counts)
        self.falling[self.rows, np.arange(len(self.rows)) - begin] = self.grades
        self.falling[:, ::-1].sort(axis=1)
