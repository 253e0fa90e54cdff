"""Queries chosen for a gold set: spread over their texts, each of a stratum with the same chance.

The queries are ordered so that like ones stand together, and every N/n-th is taken from a random
start on: the sample covers what is asked, and its means estimate those of all queries.

Source: systematic sampling from an ordered list, W. G. Madow and L. H. Madow (1944), Ann. Math.
Stat. 15, 1-24.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from judge.backends.hook import uniform
from judge.review.census import Size
from judge.review.question import parts_of
from judge.review.strata import allocate


class Asked(NamedTuple):
    """A query that may be chosen."""

    qid: str
    text: str
    stratum: str = ""


class Chosen(NamedTuple):
    """What was chosen of a stratum."""

    stratum: str
    qids: tuple[str, ...]
    queries: int
    """How many it has."""


def choose(queries: Sequence[Asked], size: int, seed: int) -> list[Chosen]:
    """So many queries: of each stratum in proportion to its queries, and five where it has them."""
    strata: defaultdict[str, list[Asked]] = defaultdict(list)
    for query in queries:
        strata[query.stratum].append(query)
    sizes = [Size(len(group), float(len(group)), 1.0) for group in strata.values()]
    shares = allocate(sizes, size)
    return [
        Chosen(name, tuple(query.qid for query in spread(group, share, seed)), len(group))
        for (name, group), share in zip(strata.items(), shares, strict=True)
    ]


def spread(queries: Sequence[Asked], count: int, seed: int) -> list[Asked]:
    """So many of the queries, spread over their texts; each has the same chance."""
    if count >= len(queries):
        return list(queries)
    if count <= 0:
        return []
    step = len(queries) / count
    ordered = _ordered(queries, step, seed)
    start = uniform(seed, "gold", queries[0].stratum)
    return [ordered[min(int((start + place) * step), len(ordered) - 1)] for place in range(count)]


def _ordered(queries: Sequence[Asked], least: float, seed: int) -> list[Asked]:
    """The queries, so that like ones stand together: halved again and again between two unlike."""
    vectors = {query.qid: _vector(query.text) for query in queries}
    # A random order first, so that among equals none is preferred.
    waiting = [sorted(queries, key=lambda query: uniform(seed, "gold order", query.qid))]
    ordered: list[Asked] = []
    while waiting:
        group = waiting.pop()
        if len(group) <= max(1.0, least):
            ordered += group
            continue
        one = min(group, key=lambda query: _cosine(vectors[query.qid], vectors[group[0].qid]))
        near = {query.qid: _cosine(vectors[query.qid], vectors[one.qid]) for query in group}
        other = vectors[min(group, key=lambda query: near[query.qid]).qid]
        group.sort(key=lambda query: _cosine(vectors[query.qid], other) - near[query.qid])
        middle = len(group) // 2
        waiting += [group[middle:], group[:middle]]
    return ordered


def _vector(text: str) -> Mapping[str, float]:
    parts = parts_of(text)
    length = math.sqrt(math.fsum(weight * weight for weight in parts.values()))
    return {part: weight / length for part, weight in parts.items()}


def _cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    # Exact, for the order of a set is not that of another process.
    return math.fsum(one[part] * other[part] for part in one.keys() & other.keys())
