import dataclasses

import pytest

from judge.retrieval.query import RankedQuery


def test_a_query_is_what_it_was_made_of() -> None:
    query = RankedQuery("q", {"a": 0, "b": 1}, {"b": 2.0})
    assert (query.scores, query.repeated, query.query, query.chunks) == (None, False, "", ())
    assert query == RankedQuery("q", {"a": 0, "b": 1}, {"b": 2.0})
    with pytest.raises(dataclasses.FrozenInstanceError):
        query.qid = "r"  # type: ignore[misc]
