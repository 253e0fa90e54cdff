import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.errors import InputError
from judge.records import Chunk, Sample
from judge.retrieval.ranking import (
    Order,
    RankedQuery,
    Relevant,
    run_queries,
    sample_queries,
    too_much,
)
from judge.retrieval.records import RankRules

PREFIX = RankRules(gold_match="prefix")


def query(sample: Sample, rules: RankRules | None = None) -> RankedQuery:
    (found,) = sample_queries([sample], rules or RankRules())
    return found


def chunk(name: str, text: str = "") -> Chunk:
    return Chunk(chunk_id=name, text=text)


def test_the_ranking_is_retrieved_or_else_the_chunks() -> None:
    chunks = (chunk("b", "B"), chunk("a", "A"), chunk("b", "later"))
    found = query(Sample(qid="q", query="问", chunks=chunks))
    assert (found.qid, found.query, dict(found.ids)) == ("q", "问", {"b": 0, "a": 1})
    assert found.repeated
    assert found.chunks == [chunk("b", "B"), chunk("a", "A")]
    other = query(Sample(qid="q", chunks=chunks, retrieved=("x", "a", "x")))
    assert dict(other.ids) == {"x": 0, "a": 1}
    assert other.chunks == [chunk("x"), chunk("a", "A")]
    assert query(Sample(qid="q", retrieved=("x",))).chunks == []
    none = query(Sample(qid="q", chunks=chunks, retrieved=()))
    assert (dict(none.ids), none.chunks, none.repeated) == ({}, [], False)


def test_gold_is_what_either_field_says() -> None:
    both = Sample(qid="q", gold_evidence=("a", "b"), relevance={"b": 0.5, "c": 3, "d": 0, "e": -1})
    assert query(both).relevance == {"a": 1, "b": 0.5, "c": 3}
    assert query(Sample(qid="q", gold_evidence=("a",))).relevance == {"a": 1}
    assert query(Sample(qid="q", relevance={"a": 0.25})).relevance == {"a": 0.25}
    assert query(Sample(qid="q")).relevance is None
    assert query(Sample(qid="q", gold_evidence=())).relevance == {}
    assert query(Sample(qid="q", relevance={"a": 0})).relevance == {}
    assert query(Sample(qid="q", relevance={})).relevance == {}


@pytest.mark.parametrize("grade", [0, -1])
def test_gold_that_contradicts_itself(grade: float) -> None:
    sample = Sample(qid="问", gold_evidence=("b", "a"), relevance={"a": grade, "b": 1})
    with pytest.raises(InputError, match=rf"'a' of query '问' is graded {grade}") as caught:
        query(sample)
    assert caught.value.field == "relevance"


def test_chunks_of_documents_count_once_at_their_first_place() -> None:
    ids = ("x", "docA#2", "docAB#1", "docA_7", "docB")
    sample = Sample(qid="q", retrieved=ids, relevance={"docA": 2, "docB": 1, "docC": 0})
    found = query(sample, PREFIX)
    assert dict(found.ids) == {"x": 0, "docA": 1, "docAB#1": 2, "docB": 3}
    assert found.relevance == {"docA": 2, "docB": 1}
    # What stood twice is a chunk of the document, and no repetition in the ranking.
    assert not found.repeated
    assert query(Sample(qid="q", retrieved=("a", "a")), PREFIX).repeated


def test_gold_may_name_chunks_and_documents() -> None:
    sample = Sample(qid="q", retrieved=("a#1", "a#2", "b#1"), gold_evidence=("a", "a#2", "b#1"))
    assert dict(query(sample, PREFIX).ids) == {"a": 0, "a#2": 1, "b#1": 2}


def runs(
    qrels: dict[str, dict[str, float]],
    *blocks: tuple[str, list[str], list[float]],
    rules: RankRules | None = None,
) -> list[RankedQuery]:
    return list(run_queries(qrels, blocks, rules or RankRules()))


def test_queries_of_a_run_and_those_it_lacks() -> None:
    qrels = {"q1": {"a": 1.0, "b": 0.0}, "没有": {"a": 1.0}, "none": {"a": 0.0}}
    found = runs(qrels, ("q2", ["a"], [1.0]), ("q1", ["b", "a"], [1.0, 2.0]))
    assert [query.qid for query in found] == ["q2", "q1", "没有", "none"]
    assert [query.relevance for query in found] == [None, {"a": 1}, {"a": 1}, {}]
    assert [list(query.ids) for query in found] == [["a"], ["b", "a"], [], []]
    assert [query.scores for query in found] == [[1], [1, 2], None, None]


def test_of_what_a_run_ranks_twice_the_better_score_counts() -> None:
    (found,) = runs({"q": {"a": 1.0}}, ("q", ["a", "b", "a", "c"], [1.0, 2.0, 3.0, 0.5]))
    assert found.repeated
    assert found.scores is not None
    places = {name: found.scores[place] for name, place in found.ids.items()}
    assert places == {"a": 3, "b": 2, "c": 0.5}


def test_of_a_document_the_best_chunk_counts() -> None:
    block = ("q", ["a#1", "b#1", "a#2"], [1.0, 2.0, 3.0])
    (found,) = runs({"q": {"a": 1.0}}, block, rules=PREFIX)
    assert found.scores is not None
    places = {name: found.scores[place] for name, place in found.ids.items()}
    assert places == {"a": 3, "b#1": 2}


def ranked(names: list[str], scores: list[float] | None = None) -> RankedQuery:
    return RankedQuery("q", {name: place for place, name in enumerate(names)}, None, scores)


def test_without_scores_it_is_as_given() -> None:
    order = Order([ranked(["b", "a"]), ranked([])])
    assert (order.ids(0), order.ids(1)) == (["b", "a"], [])
    assert (order.width, order.lengths.tolist(), order.scores) == (2, [2, 0], None)
    assert order.ranks(np.array([0, 0]), np.array([1, 0])).tolist() == [1, 0]


def test_by_score_and_then_by_id_both_falling() -> None:
    order = Order([ranked(["d9", "d10", "文", "z"], [0.5, 0.5, 0.5, 0.75])])
    # By bytes, as trec_eval compares: a digit is below a letter, and Chinese above them all.
    assert order.ids(0) == ["z", "文", "d9", "d10"]
    assert order.ranks(np.zeros(4, dtype=int), np.arange(4)).tolist() == [2, 3, 1, 0]
    assert order.scores is not None
    assert order.scores[0].tolist() == [0.75, 0.5, 0.5, 0.5]


def test_queries_with_and_without_scores_side_by_side() -> None:
    order = Order([ranked(["b", "a"], [1, 1]), ranked(["b", "a", "c"]), ranked([], [])])
    assert [order.ids(row) for row in range(3)] == [["b", "a"], ["b", "a", "c"], []]
    assert order.scores is not None
    falling = order.scores[1].tolist()
    assert falling == sorted(falling, reverse=True)
    assert len(set(falling)) == 3


SCORED = st.lists(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=3),
        st.sampled_from([0.0, -0.0, 1.0, 1.00000001, -1.0, 0.1, math.inf, -math.inf, 1e39]),
        max_size=8,
    ),
    min_size=1,
    max_size=5,
)


@settings(deadline=None)
@given(SCORED)
def test_as_one_by_one_in_single_precision(queries: list[dict[str, float]]) -> None:
    order = Order([ranked(list(scores), list(scores.values())) for scores in queries])
    with np.errstate(over="ignore"):
        single = [{n: float(np.float32(s)) for n, s in scores.items()} for scores in queries]
    for row, scores in enumerate(single):
        keys = sorted(((s, name.encode()) for name, s in scores.items()), reverse=True)
        expected = [name.decode() for _, name in keys]
        assert order.ids(row) == expected
        for name, place in ranked(list(scores)).ids.items():
            assert order.ranks(np.array([row]), np.array([place])) == expected.index(name)


def test_each_relevant_chunk_has_an_entry_where_it_ranks() -> None:
    queries = (
        RankedQuery("given", {"a": 0, "b": 1, "c": 2}, {"c": 1.0, "x": 0.5, "a": 3.0}),
        RankedQuery("nobody said", {"a": 0}, None),
        RankedQuery("scored", {"a": 0, "b": 1}, {"a": 2.0}, scores=[0.25, 0.5]),
        RankedQuery("not ranked", {}, {"a": 1.0}),
    )
    found = Relevant(queries, Order(queries))
    assert found.names == ["c", "x", "a", "a", "a"]
    assert found.rows.tolist() == [0, 0, 0, 2, 3]
    assert found.grades.tolist() == [1.0, 0.5, 3.0, 2.0, 1.0]
    assert found.ranks.tolist() == [3, math.inf, 1, 2, math.inf]
    assert found.by_rank().tolist() == [[3, 0, 1], [0, 0, 0], [0, 2, 0], [0, 0, 0]]
    assert found.falling().tolist() == [[3, 1, 0.5], [0, 0, 0], [2, 0, 0], [1, 0, 0]]
    none = (RankedQuery("q", {}, None),)
    assert Relevant(none, Order(none)).falling().tolist() == [[0]]


def test_grades_up_to_the_most_that_a_gain_takes() -> None:
    linear, exp2 = RankRules(), RankRules(gain="exp2")
    for most, rules in ((1e100, linear), (300.0, exp2)):
        assert too_much(most, rules) == ""
        assert f"over {most:g} and too much" in too_much(math.nextafter(most, math.inf), rules)
    assert "--gain linear" in too_much(301.0, exp2)
    assert "--gain" not in too_much(1e101, linear)
