import random
from collections.abc import Iterable

import pytest

from judge.records import Sample
from judge.retrieval.gathering import sample_queries
from judge.retrieval.measuring import Batch, batches
from judge.retrieval.records import QueryRanks, RankRules


def drawn(queries: int, longest: int) -> list[Sample]:
    rng = random.Random("batches")  # noqa: S311  no secret
    samples = []
    for number in range(queries):
        ids = tuple(f"c{i}" for i in range(rng.randint(0, longest)))
        grades = {f"c{rng.randint(0, longest * 2)}": rng.choice((0.0, 1.0, 2.5)) for _ in range(3)}
        samples.append(Sample(qid=str(number), retrieved=ids, relevance=grades))
    return samples


def made(samples: Iterable[Sample], rules: RankRules) -> list[Batch]:
    return list(batches(sample_queries(samples, rules), rules))


def rows(found: Iterable[Batch]) -> list[QueryRanks]:
    return [batch.row(row) for batch in found for row in range(len(batch.queries))]


def test_what_is_measured_together_is_measured_as_alone() -> None:
    rules = RankRules(ks=(1, 5, 100), relevance_level=2, no_relevant="zero")
    samples = drawn(60, 30)
    together = made(samples, rules)
    assert len(together) == 1
    alone = [row for sample in samples for row in rows(made([sample], rules))]
    for one, other in zip(rows(together), alone, strict=True):
        assert one.model_copy(update={"measures": {}}) == other.model_copy(update={"measures": {}})
        for name, value in one.measures.items():
            assert value == pytest.approx(other.measures[name], abs=1e-12), name


def test_long_rankings_and_many_queries_come_in_several_batches() -> None:
    rules = RankRules(ks=(1,))
    # A matrix is as wide as the longest ranking, and some fifty rows of that are all it holds.
    long = Sample(qid="long", retrieved=tuple(map(str, range(20_000))), gold_evidence=("7",))
    found = made([*drawn(5, 3), long, *drawn(900, 3)], rules)
    sizes = [len(batch.queries) for batch in found]
    assert sum(sizes) == 906
    assert 1 <= sizes[0] <= 53
    assert any(query.qid == "long" for query in found[0].queries)
    many = made(drawn(5000, 2), rules)
    assert sum(len(batch.queries) for batch in many) == 5000
    assert len(many) > 1
    assert [ranks.qid for ranks in rows(many[:2])][-1] == str(
        len(many[0].queries) + len(many[1].queries) - 1
    )


def test_nothing_gives_no_batch() -> None:
    assert made([], RankRules()) == []


def test_each_query_has_its_status() -> None:
    samples = [
        Sample(qid="a", retrieved=("x",), relevance={"x": 2.0}),
        Sample(qid="b", retrieved=("x",), relevance={"x": 1.0}),
        Sample(qid="c", relevance={"x": 2.0}),
        Sample(qid="d", relevance={"x": 1.0}),
        Sample(qid="e", retrieved=("x",)),
        Sample(qid="f"),
    ]
    (batch,) = made(samples, RankRules(relevance_level=2))
    assert batch.statuses == [
        "measured",
        "no_relevant",
        "no_ranking",
        "no_relevant",
        "no_gold",
        "no_gold",
    ]
    assert batch.averaged.tolist() == [True, False, True, False, False, False]
    assert batch.relevant.tolist() == [1, 0, 1, 0, 0, 0]


def test_what_does_not_reach_the_level_is_not_found() -> None:
    grades = {"a": 1.0, "b": 2.0, "c": 0.5, "x": 2.0}
    sample = Sample(qid="q", retrieved=("a", "b", "c", "d"), relevance=grades)
    for level, found, relevant in ((None, 3, 4), (1, 2, 3), (2, 1, 2)):
        (batch,) = made([sample], RankRules(relevance_level=level))
        row = batch.row(0)
        assert (row.ranked, row.found, row.relevant) == (4, found, relevant)


def test_a_pool_of_one_kind_has_no_area() -> None:
    (batch,) = made([Sample(qid="q", retrieved=("a",), gold_evidence=("a",))], RankRules())
    row = batch.row(0)
    assert row.measures["roc_auc"] is None
    assert row.measures["ap"] == 1


def test_what_counts_as_zero_is_zero_in_every_measure() -> None:
    sample = Sample(qid="q", retrieved=("a", "b"), relevance={"a": 1.0})
    (batch,) = made([sample], RankRules(relevance_level=2, no_relevant="zero"))
    measures = batch.row(0).measures
    assert set(measures.values()) <= {0.0, None}
    assert measures["ndcg@1"] == 0
