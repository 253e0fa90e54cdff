import math

from judge.retrieval.ordering import Order
from judge.retrieval.query import RankedQuery
from judge.retrieval.relevant import Relevant

QUERIES = (
    RankedQuery("given", {"a": 0, "b": 1, "c": 2}, {"c": 1.0, "x": 0.5, "a": 3.0}),
    RankedQuery("nobody said", {"a": 0}, None),
    RankedQuery("scored", {"a": 0, "b": 1}, {"a": 2.0}, scores=[0.25, 0.5]),
    RankedQuery("not ranked", {}, {"a": 1.0}),
)


def test_each_relevant_chunk_has_an_entry() -> None:
    found = Relevant(QUERIES, Order(QUERIES))

    assert found.names == ["c", "x", "a", "a", "a"]
    assert found.rows.tolist() == [0, 0, 0, 2, 3]
    assert found.grades.tolist() == [1.0, 0.5, 3.0, 2.0, 1.0]
    assert found.ranks.tolist() == [3, math.inf, 1, 2, math.inf]


def test_they_stand_where_they_rank() -> None:
    found = Relevant(QUERIES, Order(QUERIES))

    assert found.by_rank().tolist() == [[3, 0, 1], [0, 0, 0], [0, 2, 0], [0, 0, 0]]
    assert found.falling().tolist() == [[3, 1, 0.5], [0, 0, 0], [2, 0, 0], [1, 0, 0]]


def test_there_may_be_none() -> None:
    queries = (RankedQuery("q", {}, None),)
    found = Relevant(queries, Order(queries))

    assert found.names == []
    assert found.by_rank().tolist() == [[0]]
    assert found.falling().tolist() == [[0]]
