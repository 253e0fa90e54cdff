"""The ranking and the gold of each query, from samples or from TREC's qrels and runs."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from judge.errors import InputError
from judge.records import Sample
from judge.retrieval.records import RankRules
from judge.scores.correctness import Documents, differs

Grades = Mapping[str, float]
"""Relevance by id; an id that is absent, or graded 0 or less, is not relevant."""

_UNGRADED: Final = 1.0
"""The relevance of a chunk that `gold_evidence` names and `relevance` does not grade."""
_MAX_GRADES: Final = {"linear": 1e100, "exp2": 300.0}
"""The largest grade by gain. Sums of the gains of much larger grades overflow."""


@dataclass(frozen=True, slots=True)
class RankedQuery:
    """The ranking and the gold of one query."""

    qid: str
    """Unique within a file."""
    ids: Mapping[str, int]
    """The rank, from 0, of each chunk that was ranked, best first."""
    gold: Grades | None
    """The grades of the relevant chunks, which all measures but nDCG use; None without gold."""
    relevance: Grades
    """The grades above 0, which nDCG uses, whatever the least grade of a relevant chunk."""
    conflicting: bool = False
    """Whether `gold_evidence` and `relevance` name different chunks; `gold` is the former then."""
    repeated: bool = False
    """Whether the ranking contained a chunk twice; it counts once, at the first place."""
    has_gold_id: bool = False
    """Whether the ranking contains an id that gold names, graded 0 or more."""
    query: str = ""
    """The text of the query, if known."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """The texts of chunks by id, ranked or not, as far as they are known."""


def sample_query(sample: Sample, rules: RankRules) -> RankedQuery:
    """Return the query of a sample; raise InputError if its gold contradicts itself."""
    ids = sample.retrieved
    if ids is None:
        ids = tuple(chunk.chunk_id for chunk in sample.chunks)
    grades, evidence = _gold(sample, rules)
    gold = grades if evidence is None else evidence
    names = {**(grades or {}), **(evidence or {})}
    ranks = {name: rank for rank, name in enumerate(dict.fromkeys(_matched(ids, names, rules)))}
    return RankedQuery(
        sample.qid,
        ranks,
        None if gold is None else _at_level(gold, rules),
        _graded(sample.qid, grades, rules),
        conflicting=evidence is not None,
        repeated=len(set(ids)) < len(ids),
        has_gold_id=not ranks.keys().isdisjoint(names),
        query=sample.query,
        texts={chunk.chunk_id: chunk.text for chunk in reversed(sample.chunks)},
    )


def run_queries(
    qrels: Mapping[str, Grades], run: Mapping[str, Mapping[str, float]], rules: RankRules
) -> Iterator[RankedQuery]:
    """Yield the queries of a run, then those of the qrels for which it ranks nothing.

    A run is ordered by score, equal scores by id, both descending. So does trec_eval, which holds
    scores in single precision, where more of them are equal, and compares ids by their bytes; for
    UTF-8 that is the order of code points (D54). `qrels` is relevance by document id by qid.
    """
    for qid, scores in run.items():
        yield _run_query(qid, scores, qrels.get(qid), rules)
    for qid, grades in qrels.items():
        if qid not in run:
            yield _run_query(qid, {}, grades, rules)


def _run_query(
    qid: str, scores: Mapping[str, float], grades: Grades | None, rules: RankRules
) -> RankedQuery:
    if any(map(math.isnan, scores.values())):
        raise InputError(f"a score of query {qid!r} is no number; mend it")
    best: dict[str, float] = {}
    for name, score in zip(_matched([*scores], grades, rules), scores.values(), strict=True):
        best[name] = max(score, best.get(name, -math.inf))
    # A score beyond the range of single precision becomes infinite.
    with np.errstate(over="ignore"):
        single = np.array(list(best.values()), dtype=np.float32)
    order = sorted(zip(single.tolist(), best, strict=True), reverse=True)
    ranks = {name: rank for rank, (_, name) in enumerate(order)}
    return RankedQuery(
        qid,
        ranks,
        None if grades is None else _at_level(grades, rules),
        _graded(qid, grades, rules),
        has_gold_id=not ranks.keys().isdisjoint(grades or ()),
    )


def check_gold(sample: Sample, rules: RankRules) -> None:
    """Raise InputError if gold contradicts itself, or a grade is too large for the gain."""
    _graded(sample.qid, _gold(sample, rules)[0], rules)


def _gold(sample: Sample, rules: RankRules) -> tuple[Grades | None, Grades | None]:
    """Return the grades of a sample, and those of `gold_evidence` if it names other chunks.

    A chunk that `gold_evidence` names has its grade, or 1. An empty `gold_evidence` beside grades
    is ignored. The two do not differ if `gold_evidence` names just what `relevance_level` makes
    relevant.
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
    if not differs(sample) or evidence.keys() == _at_level(graded, rules).keys():
        return {**graded, **evidence}, None
    return graded, evidence


def _matched(ids: Sequence[str], grades: Grades | None, rules: RankRules) -> Sequence[str]:
    """Return the name that gold uses for each chunk: under `prefix` that of its document."""
    if not grades or rules.gold_match != "prefix":
        return ids
    documents = Documents(grades)
    return [documents.of(name) for name in ids]


def _at_level(grades: Grades, rules: RankRules) -> Grades:
    """Return the grades of the relevant chunks."""
    least = rules.relevance_level or 0.0
    return {name: grade for name, grade in grades.items() if grade > 0 and grade >= least}


def _graded(qid: str, grades: Grades | None, rules: RankRules) -> Grades:
    """Return the grades above 0; raise InputError if one is too large for the gain."""
    most = _MAX_GRADES[rules.gain]
    graded = {name: grade for name, grade in (grades or {}).items() if grade > 0}
    for name, grade in graded.items():
        if grade > most:
            way = "" if rules.gain == "linear" else ", or pass --gain linear"
            what = f"{grade:g}, over {most:g} and too much for gain {rules.gain!r}"
            message = f"the grade of {name!r} for query {qid!r} is {what}; mend it{way}"
            raise InputError(message, field="relevance")
    return graded
