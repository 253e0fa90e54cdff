import pytest

from judge.errors import InputError
from judge.records import Sample
from judge.retrieval.ranking import RankedQuery, sample_query
from judge.retrieval.records import RankRules

PREFIX = RankRules(gold_match="prefix")


def query(sample: Sample, rules: RankRules | None = None) -> RankedQuery:
    return sample_query(sample, rules or RankRules())


def test_gold_is_what_either_field_says_and_each_its_own_where_they_differ() -> None:
    grades = {"b": 0.5, "c": 3, "d": 0, "e": -1}
    both = query(Sample(qid="q", gold_evidence=("a", "b"), relevance=grades))
    assert (both.relevance, both.gold) == ({"b": 0.5, "c": 3}, {"a": 1, "b": 0.5})
    assert both.conflicting
    # They name the same; or one of them says nothing.
    for evidence, graded, relevance in (
        (("c", "b"), grades, {"b": 0.5, "c": 3}),
        ((), grades, {"b": 0.5, "c": 3}),
        (("a",), {}, {"a": 1}),
        (("a",), {"d": 0}, {"a": 1}),
    ):
        same = query(Sample(qid="q", gold_evidence=evidence, relevance=graded))
        assert (same.relevance, same.gold, same.conflicting) == (relevance, relevance, False)
    one: list[tuple[dict[str, object], dict[str, float] | None]] = [
        ({"gold_evidence": ("a",)}, {"a": 1}),
        ({"relevance": {"a": 0.25}}, {"a": 0.25}),
        ({}, None),
        ({"gold_evidence": ()}, {}),
        ({"relevance": {"a": 0}}, {}),
        ({"relevance": {}}, {}),
    ]
    for fields, gold in one:
        assert query(Sample(qid="q", **fields)).gold == gold


def test_gold_that_contradicts_itself() -> None:
    for grade in (0, -1):
        both = Sample(qid="问", gold_evidence=("b", "a"), relevance={"a": grade, "b": 1})
        with pytest.raises(InputError, match=rf"'a' of query '问' is graded {grade}") as caught:
            query(both)
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
