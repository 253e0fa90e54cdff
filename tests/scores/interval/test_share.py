import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.scores.interval import Row, weighted_share, wilson


def rows(hits: str, weights: list[float] | None = None, clusters: str = "") -> list[Row]:
    """`hits` as 0 and 1, each row a unit of its own, in the cluster of its letter."""
    return [
        Row(hit == "1", (weights or [1.0] * len(hits))[k], k, clusters[k] if clusters else k)
        for k, hit in enumerate(hits)
    ]


def test_nothing_is_no_share() -> None:
    assert weighted_share([]) is None


def test_alone_and_alike_it_is_wilsons_over_one_row_less() -> None:
    found = weighted_share(rows("1110"))
    assert found is not None
    # K/(K - 1) · (3 · 1/16 + 9/16) / 16 = 1/16 = p(1 - p)/3
    assert found.size == pytest.approx(3)
    assert (found.low, found.high) == wilson(0.75, found.size)


def test_rows_that_go_together_tell_less() -> None:
    # Two answers of four sentences each, one all right and one all wrong: two observations.
    found = weighted_share(rows("11110000", clusters="aaaabbbb"))
    assert found is not None
    # v = 2/1 · (2² + 2²) / 8² = ¼, so that p(1 - p)/v = 1
    assert (found.value, found.size) == pytest.approx((0.5, 1))


def test_rows_that_balance_tell_no_more_than_there_are() -> None:
    found = weighted_share(rows("1010", clusters="aabb"))
    assert found is not None
    assert found.size == 2  # nothing varies between the two
    found = weighted_share(rows("10101010", clusters="aabbccdd"))
    assert found is not None
    assert found.size <= 8


def test_all_hits_tell_as_much_as_there_are_clusters() -> None:
    found = weighted_share(rows("111111", clusters="aaabbb"))
    assert found is not None
    assert (found.value, found.size) == (1, 2)


def test_two_labels_on_one_sentence_are_one_unit() -> None:
    twice = [
        Row(hit, 0.5, unit, unit) for unit, hit in enumerate([True, True, False]) for _ in "xy"
    ]
    once = [Row(hit, 1.0, unit, unit) for unit, hit in enumerate([True, True, False])]
    assert weighted_share(twice) == pytest.approx(weighted_share(once))


@given(
    st.lists(
        st.tuples(st.booleans(), st.floats(0.01, 100), st.integers(0, 5)), min_size=1, max_size=30
    )
)
def test_it_is_in_range_whatever_comes(given_rows: list[tuple[bool, float, int]]) -> None:
    found = weighted_share([Row(h, w, k, c) for k, (h, w, c) in enumerate(given_rows)])
    assert found is not None
    assert 0 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1
    assert 0 < found.size <= len(given_rows) + 1e-9
