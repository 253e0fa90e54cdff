import math
from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from judge.review.allocation import FLOOR, Size, allocate, merge, needed

Z = 1.959963984540054
SIZES = st.builds(
    Size,
    st.integers(0, 40) | st.integers(0, 10_000),
    st.sampled_from([0.01, 1.0, 5.0, 300.0]),
    st.sampled_from([0.0, 0.2, 0.45, 1.0]),
)


def size(units: int, spread: float = 0.3) -> Size:
    return Size(units, float(units), spread)


def test_units_to_draw_by_hand() -> None:
    table: list[tuple[list[Size], int, list[int]]] = [
        # Neyman: 900 · .2 : 100 · .4 = 180 : 40 = 9 : 2.
        ([size(900, 0.2), size(100, 0.4)], 110, [90, 20]),
        # 600 · .1 : 300 · .2 : 100 · .6 are alike.
        ([size(600, 0.1), size(300, 0.2), size(100, 0.6)], 60, [20, 20, 20]),
        # 900 : 100 : 300 of 130 would be 90, 10 and 30; the first has ten, the rest is shared.
        ([Size(10, 900, 0.3), Size(100, 100, 0.3), Size(500, 300, 0.3)], 130, [10, 30, 90]),
        # The floor comes out of the others.
        ([size(990), size(10)], 60, [55, 5]),
        ([size(990), size(10), size(4)], 60, [51, 5, 4]),
        # A small draw is shared alike first.
        ([size(990), size(10), size(10)], 9, [3, 3, 3]),
        # The heavy one gives way, for the floor of the others is promised.
        ([Size(8, 1000, 1), Size(100, 1, 1), Size(100, 1, 1)], 10, [4, 3, 3]),
        ([], 7, []),
        ([Size(0, 0, 0.3)], 7, [0]),
    ]
    for sizes, total, drawn in table:
        assert allocate(sizes, total) == drawn
    assert allocate([size(990), size(10)], 60, floor=0) == [59, 1]
    # Largest remainders first: 10 · (.44, .33, .23) = 4.4, 3.3, 2.3.
    assert allocate([size(440), size(330), size(230)], 10, floor=0) == [5, 3, 2]


@settings(deadline=None)
@given(st.lists(SIZES, max_size=6), st.integers(0, 300))
@example([Size(20, 20, 0.2), Size(8, 2.4, 0.45), Size(5, 0.5, 0.2), Size(20, 2, 0.45)], 34)
def test_all_is_handed_out_between_floor_and_what_there_is(sizes: list[Size], total: int) -> None:
    drawn = allocate(sizes, total)
    there = sum(size.units for size in sizes)
    total = min(total, there)
    assert len(drawn) == len(sizes)
    assert sum(drawn) == total
    for n, size in zip(drawn, sizes, strict=True):
        assert min(FLOOR, size.units, total // len(sizes)) <= n <= size.units


@settings(deadline=None)
@given(st.lists(SIZES, min_size=2, max_size=6), st.integers(10, 300))
def test_who_meets_no_bound_is_drawn_like_weight_times_spread(
    sizes: list[Size], total: int
) -> None:
    drawn = allocate(sizes, total)
    free = [
        (n, size.weight * size.spread)
        for n, size in zip(drawn, sizes, strict=True)
        if FLOOR < n < size.units and size.weight * size.spread
    ]
    for (n, pull), (other, its) in combinations(free, 2):
        # Both are whole numbers, each less than one from its share.
        assert abs(n * its - other * pull) <= (pull + its) * (1 + 1e-9)


def test_a_stratum_that_is_too_small_joins_the_smaller_neighbour() -> None:
    sizes = {"a": size(50), "b": size(4), "c": size(9), "d": size(100)}
    groups = merge(sizes)
    assert [group.names for group in groups] == [("a",), ("b", "c"), ("d",)]
    assert groups[1].size == pytest.approx((13, 13, 0.3))
    # Spreads are averaged by weight.
    (group,) = merge({"a": Size(3, 30, 0.2), "b": Size(3, 10, 0.4)})
    assert group.size == pytest.approx((6, 40, 0.25))
    # Empty strata are no neighbours.
    empty = merge({"a": size(3), "b": size(0), "c": size(9)})
    assert [group.names for group in empty] == [("a", "c")]
    assert merge({"a": size(0)}) == merge({}) == []
    # A small draw has few strata.
    sizes = {name: size(units) for name, units in zip("abcd", (30, 20, 10, 40), strict=True)}
    table = {20: "a b c d", 19: "a bc d", 9: "abcd", 1: "abcd"}
    for total, names in table.items():
        assert ["".join(group.names) for group in merge(sizes, total)] == names.split()


@settings(deadline=None)
@given(st.lists(SIZES, max_size=6), st.integers(1, 100) | st.none())
def test_merged_strata_hold_all_in_order_and_can_give_the_floor(
    sizes: list[Size], total: int | None
) -> None:
    groups = merge(dict(enumerate(sizes)), total)
    names = [name for group in groups for name in group.names]
    assert names == [k for k, size in enumerate(sizes) if size.units]
    assert sum(group.size.units for group in groups) == sum(size.units for size in sizes)
    assert sum(group.size.weight for group in groups) == pytest.approx(
        sum(sizes[k].weight for k in names)
    )
    for group in groups:
        assert group.size.units >= FLOOR or len(groups) == 1
    if total is not None and groups:
        assert len(groups) <= max(1, total // FLOOR)
        drawn = allocate([group.size for group in groups], total)
        least = min(FLOOR, total, sum(size.units for size in sizes))
        assert all(n >= least for n in drawn)


def error(sizes: Sequence[Size], drawn: Sequence[int]) -> float:
    """Sum of W² s² (1/n - 1/N), under the root."""
    whole = sum(size.weight for size in sizes)
    return math.sqrt(
        sum(
            (size.weight / whole * size.spread) ** 2 * (1 / n - 1 / size.units)
            if n
            else math.inf * (size.weight > 0)
            for size, n in zip(sizes, drawn, strict=True)
            if size.units
        )
    )


def test_labels_needed_by_hand() -> None:
    # n0 = (1.96 · .45 / .05)² = 311.2, and 311.2 / (1 + 311.2 / 1000) = 237.3.
    assert needed([size(1000, 0.45)], 0.05) == 238
    # Without an end of the population it is n0.
    assert needed([size(10**9, 0.45)], 0.05) == 312


@settings(deadline=None)
@given(
    st.lists(st.builds(size, st.integers(1, 2000), st.sampled_from([0.2, 0.45])), min_size=1),
    st.floats(0.01, 0.3),
)
def test_what_is_needed_reaches_and_one_less_does_not(sizes: list[Size], reach: float) -> None:
    n = needed(sizes, reach)
    assert Z * error(sizes, allocate(sizes, n)) <= reach + 1e-9
    if n > 1:
        assert Z * error(sizes, allocate(sizes, n - 1)) > reach - 1e-9


def test_all_are_needed_where_nothing_may_be_off() -> None:
    assert needed([size(40), size(3)], 0.0) == 43
    assert needed([size(40), size(3)], 1.0) <= 2
