"""Queries with their rankings, out of samples and out of TREC files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from judge.errors import InputError
from judge.records import Chunk, Sample
from judge.retrieval.query import Grades, RankedQuery, too_much
from judge.retrieval.records import RankRules
from judge.scores.quadrants import Documents

_UNGRADED: Final = 1.0
"""Relevance of what gold names and nobody graded."""


def sample_queries(samples: Iterable[Sample], rules: RankRules) -> Iterator[RankedQuery]:
    """The query of each sample: `retrieved` is the ranking, or else the order of `chunks`.

    Relevant is what `relevance` grades above 0 and what `gold_evidence` names, with relevance 1
    where it has no grade.

    Raises:
        InputError: `gold_evidence` names what `relevance` says is not relevant.
    """
    for sample in samples:
        chunks = {chunk.chunk_id: chunk for chunk in reversed(sample.chunks)}
        ids = sample.retrieved
        if ids is None:
            ids = tuple(chunk.chunk_id for chunk in sample.chunks)
        names = dict.fromkeys(ids) if chunks else ()  # without texts there is nothing to show
        texts = [chunks.get(name) or Chunk(chunk_id=name, text="") for name in names]
        matched = _matched(ids, None, _relevance(sample), rules)
        yield RankedQuery(sample.qid, *matched, query=sample.query, chunks=texts)


def run_queries(
    qrels: Mapping[str, Grades],
    rankings: Iterable[tuple[str, Sequence[str], Sequence[float]]],
    rules: RankRules,
) -> Iterator[RankedQuery]:
    """The queries of a run, then those of the qrels for which it ranks nothing.

    Args:
        qrels: relevance by document id by qid.
        rankings: qid, document ids, their scores; in any order, each qid once.
        rules: how gold is matched.

    Raises:
        ValueError: a ranking has not as many scores as ids, or a query has two.
    """
    ranked = set()
    for qid, docs, scores in rankings:
        if qid in ranked:
            raise ValueError(f"query {qid!r} has two rankings; give each query's as one")
        ranked.add(qid)
        if len(docs) != len(scores):
            raise ValueError(f"query {qid!r} has {len(docs)} ids and {len(scores)} scores")
        yield RankedQuery(qid, *_matched(docs, scores, qrels.get(qid), rules))
    for qid, relevance in qrels.items():
        if qid not in ranked:
            yield RankedQuery(qid, *_matched((), None, relevance, rules))


def check_gold(sample: Sample, rules: RankRules) -> None:
    """Refuse gold that cannot be measured by.

    Raises:
        InputError: it contradicts itself, or a grade is too large for the gain.
    """
    for name, grade in (_relevance(sample) or {}).items():
        if problem := too_much(grade, rules):
            raise InputError(f"the grade of {name!r} is {problem}", field="relevance")


def _relevance(sample: Sample) -> Grades | None:
    if sample.gold_evidence is None:
        return sample.relevance
    graded = sample.relevance or {}
    for name in sample.gold_evidence:
        if graded.get(name, _UNGRADED) <= 0:
            message = f"{name!r} of query {sample.qid!r} is graded {graded[name]:g}, and "
            message += "gold_evidence names it; take it out of one of them"
            raise InputError(message, field="relevance")
    return {**dict.fromkeys(sample.gold_evidence, _UNGRADED), **graded}


def _matched(
    ids: Sequence[str], scores: Sequence[float] | None, grades: Grades | None, rules: RankRules
) -> tuple[dict[str, int], Grades | None, Sequence[float] | None, bool, bool]:
    """The first fields of a `RankedQuery` but its qid."""
    relevant = grades and {name: grade for name, grade in grades.items() if grade > 0}
    places = {name: place for place, name in enumerate(ids)}
    repeated = len(places) < len(ids)
    if grades and rules.gold_match == "prefix":
        documents = Documents(grades)
        ids = [documents.of(name) for name in ids]
    elif not repeated:
        return places, relevant, scores, repeated, _is_named(places, grades)
    places = {}
    # Best first, so that of what stands twice the better place is taken.
    for place in _descending(scores) if scores else range(len(ids)):
        places.setdefault(ids[place], place)
    kept = None if scores is None else [scores[place] for place in places.values()]
    places = {name: place for place, name in enumerate(places)}
    return places, relevant, kept, repeated, _is_named(places, grades)


def _is_named(places: dict[str, int], grades: Grades | None) -> bool:
    return grades is not None and not places.keys().isdisjoint(grades)


def _descending(scores: Sequence[float]) -> list[int]:
    return sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
