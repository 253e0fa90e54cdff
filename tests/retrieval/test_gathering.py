import pytest

from judge.errors import InputError
from judge.records import Chunk, Sample
from judge.retrieval.gathering import run_queries, sample_queries
from judge.retrieval.query import RankedQuery
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
