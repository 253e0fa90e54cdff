import dataclasses
import math

import pytest

from judge.retrieval.query import RankedQuery, too_much
from judge.retrieval.records import RankRules


def test_a_query_is_what_it_was_made_of() -> None:
    query = RankedQuery("q", {"a": 0, "b": 1}, {"b": 2.0})
    assert (query.scores, query.repeated, query.query, query.chunks) == (None, False, "", ())
    assert query == RankedQuery("q", {"a": 0, "b": 1}, {"b": 2.0})
    with pytest.raises(dataclasses.FrozenInstanceError):
        query.qid = "r"  # type: ignore[misc]


def test_grades_up_to_the_most_that_a_gain_takes() -> None:
    linear, exp2 = RankRules(), RankRules(gain="exp2")
    for most, rules in ((1e100, linear), (300.0, exp2)):
        assert too_much(most, rules) == ""
        assert f"over {most:g} and too much" in too_much(math.nextafter(most, math.inf), rules)
    assert too_much(301.0, linear) == ""
    assert "--gain linear" in too_much(301.0, exp2)
    assert "--gain" not in too_much(1e101, linear)
