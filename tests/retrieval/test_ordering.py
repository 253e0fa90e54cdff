import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from judge.retrieval.ordering import Order
from judge.retrieval.query import RankedQuery


def query(names: list[str], scores: list[float] | None = None) -> RankedQuery:
    return RankedQuery("q", {name: place for place, name in enumerate(names)}, None, scores)


def test_without_scores_it_is_as_given() -> None:
    order = Order([query(["b", "a"]), query([])])
    assert (order.ids(0), order.ids(1)) == (["b", "a"], [])
    assert (order.width, order.lengths.tolist(), order.scores) == (2, [2, 0], None)
    assert order.ranks(np.array([0, 0]), np.array([1, 0])).tolist() == [1, 0]


def test_by_score_and_then_by_id_both_falling() -> None:
    order = Order([query(["d9", "d10", "文", "z"], [0.5, 0.5, 0.5, 0.75])])
    # By bytes, as trec_eval compares: a digit is below a letter, and Chinese above them all.
    assert order.ids(0) == ["z", "文", "d9", "d10"]
    assert order.ranks(np.zeros(4, dtype=int), np.arange(4)).tolist() == [2, 3, 1, 0]
    assert order.scores is not None
    assert order.scores[0].tolist() == [0.75, 0.5, 0.5, 0.5]


def test_ids_beyond_the_basic_plane_stand_by_code_point() -> None:
    assert Order([query(["\uffee", "\U00020000"], [1, 1])]).ids(0) == ["\U00020000", "\uffee"]


def test_scores_equal_in_single_precision_are_tied() -> None:
    scores = [1.00000001, 1.0, 16777217.0, 16777216.0, 1e-60, 0.0, -0.0]
    order = Order([query(["a", "b", "c", "d", "e", "f", "g"], scores)])
    assert order.ids(0) == ["d", "c", "b", "a", "g", "f", "e"]


def test_infinite_and_huge_scores() -> None:
    scores = [-math.inf, math.inf, 1e300, 0.0, -1e300]
    order = Order([query(["low", "top", "huge", "zero", "least"], scores), query(["a"])])
    # Beyond single precision all is infinite, and tied.
    assert order.ids(0) == ["top", "huge", "zero", "low", "least"]
    assert order.ids(1) == ["a"]


def test_queries_with_and_without_scores_side_by_side() -> None:
    order = Order([query(["b", "a"], [1, 1]), query(["b", "a", "c"]), query([], [])])
    assert [order.ids(row) for row in range(3)] == [["b", "a"], ["b", "a", "c"], []]
    assert order.scores is not None
    falling = order.scores[1].tolist()
    assert falling == sorted(falling, reverse=True)
    assert len(set(falling)) == 3


QUERIES = st.lists(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=3),
        st.sampled_from([0.0, 1.0, -1.0, 0.1, math.inf, -math.inf, 1e39]),
        max_size=8,
    ),
    min_size=1,
    max_size=5,
)


@given(QUERIES)
def test_as_one_by_one_in_single_precision(queries: list[dict[str, float]]) -> None:
    order = Order([query(list(scores), list(scores.values())) for scores in queries])
    with np.errstate(over="ignore"):
        single = [{n: float(np.float32(s)) for n, s in scores.items()} for scores in queries]
    for row, scores in enumerate(single):
        keys = sorted(((s, name.encode()) for name, s in scores.items()), reverse=True)
        expected = [name.decode() for _, name in keys]
        assert order.ids(row) == expected
        for name, place in query(list(scores)).ids.items():
            assert order.ranks(np.array([row]), np.array([place])) == expected.index(name)
