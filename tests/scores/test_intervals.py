import math
import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from judge.records import Interval
from judge.scores.intervals import (
    REPLICATES,
    Row,
    StreamedMeans,
    difference,
    poisson_weights,
    weighted_share,
    wilson,
)

NORMAL = 1.959964
SHARES = st.tuples(*[st.floats(0, 1)] * 3).map(sorted)


def test_wilson_agrees_with_published_values() -> None:
    rows = [
        # Newcombe (1998), Statistics in Medicine 17, 857-872, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ]
    for successes, n, low, high in rows:
        assert wilson(successes / n, n) == pytest.approx((low, high), abs=5e-5)
        mirrored = wilson(1 - successes / n, n)
        assert mirrored == pytest.approx((1 - high, 1 - low), abs=5e-5)
    for mean, size in ((0.5, 0), (-0.1, 5), (1.1, 5), (math.nan, 5)):
        with pytest.raises(ValueError, match="wilson needs"):
            wilson(mean, size)


@settings(deadline=None)
@given(st.integers(1, 10_000), st.data())
def test_wilson_is_statsmodels_s(n: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, n))
    reference = proportion_confint(successes, n, alpha=0.05, method="wilson")
    assert wilson(successes / n, n) == pytest.approx(reference, abs=1e-9)


def test_a_difference_by_its_source_and_by_hand() -> None:
    # Newcombe (1998), Statistics in Medicine 17, 873-890, table II: 56/70 - 48/80, method 10.
    found = difference(56 / 70, wilson(56 / 70, 70), 48 / 80, wilson(48 / 80, 80))
    assert found == pytest.approx((0.0524, 0.3339), abs=5e-5)
    # Reach below .3 and above .4 (3-4-5); the other way .0 and .0.
    assert difference(0.5, (0.2, 0.5), 0.1, (0.1, 0.5)) == pytest.approx((-0.1, 0.4))
    # A limit on the wrong side counts as the mean.
    assert difference(0.5, (0.6, 0.4), 0.25, (0.3, 0.2)) == pytest.approx((0.25, 0.25))


@settings(deadline=None)
@given(SHARES, SHARES)
def test_a_difference_the_other_way_round_is_mirrored(one: list[float], two: list[float]) -> None:
    low, high = difference(one[1], (one[0], one[2]), two[1], (two[0], two[2]))
    assert low <= one[1] - two[1] <= high
    mirrored = difference(two[1], (two[0], two[2]), one[1], (one[0], one[2]))
    assert mirrored == pytest.approx((-high, -low))


def rows(hits: str, clusters: str = "") -> list[Row]:
    """`hits` as 0 and 1, each row a unit of its own, in the cluster of its letter."""
    return [Row(hit == "1", 1.0, k, clusters[k] if clusters else k) for k, hit in enumerate(hits)]


def test_a_weighted_share_by_hand() -> None:
    table = [
        # K/(K - 1) · (3 · 1/16 + 9/16) / 16 = 1/16 = p(1 - p)/3
        (rows("1110"), 0.75, 3),
        # One cluster all right and one all wrong: v = 2/1 · (2² + 2²) / 8² = ¼ = p(1 - p).
        (rows("11110000", "aaaabbbb"), 0.5, 1),
        # Nothing varies between the two: no more units than there are.
        (rows("1010", "aabb"), 0.5, 2),
        # All are hits: as much as there are clusters.
        (rows("111111", "aaabbb"), 1, 2),
        # Two labels on one sentence are one unit.
        ([Row(u < 2, 0.5, u, u) for u in range(3) for _ in "xy"], 2 / 3, 2),
    ]
    for observed, value, size in table:
        found = weighted_share(observed)
        assert found is not None
        assert (found.value, found.size) == pytest.approx((value, size))
        assert (found.low, found.high) == wilson(found.value, found.size)
    assert weighted_share([]) is None


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.booleans(), st.floats(0.01, 100), st.integers(0, 5)), min_size=1, max_size=30
    )
)
def test_a_weighted_share_is_in_range(given_rows: list[tuple[bool, float, int]]) -> None:
    found = weighted_share([Row(h, w, k, c) for k, (h, w, c) in enumerate(given_rows)])
    assert found is not None
    assert 0 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1
    assert 0 < found.size <= len(given_rows) + 1e-9


def test_weights_are_poisson_and_depend_on_seed_and_key_alone() -> None:
    weights = poisson_weights(0, [f"q{i}" for i in range(200)])
    assert (weights[:, 0] == 1).all()
    draws = weights[:, 1:]
    assert draws.shape == (200, REPLICATES)
    # 200 000 draws: the mean's standard error is .0022, the variance's about .0039.
    assert (draws.mean(), draws.var()) == pytest.approx((1, 1), abs=0.02)
    for k in range(4):
        assert (draws == k).mean() == pytest.approx(math.exp(-1) / math.factorial(k), abs=0.005)
    first, again, other = poisson_weights(7, ["问题", "问题", "问题2"])
    assert (first == again).all()
    assert (first != other).any()
    assert (first != poisson_weights(8, ["问题"])).any()


Values = Sequence[float | None]


def streamed(values: Values) -> StreamedMeans:
    """One value, `x`, of each of many answers."""
    means = StreamedMeans("x", 0)
    for number, value in enumerate(values):
        means.add(f"q{number}", {"x": value})
    return means


def test_a_missing_value_is_in_no_mean() -> None:
    means = StreamedMeans("abc", 0)
    answers: list[dict[str, float | None]] = [{"a": 1.0}, {"a": None}, {"b": None, "a": 0.5}]
    for number, values in enumerate(answers):
        means.add(f"q{number}", values)
    assert (means.mean("a"), means.count("a"), means.names) == (0.75, 2, ("a", "b", "c"))
    for name in "bc":
        assert (means.mean(name), means.count(name), means.interval(name)) == (None, 0, None)
    low, high = wilson(0.75, 2)
    assert means.interval("a") == Interval(low=low, high=high, method="wilson")


@pytest.mark.parametrize(
    ("values", "mean", "method"),
    [
        ([i % 2 for i in range(49)], 24 / 49, "wilson"),
        ([i % 2 for i in range(50)], 1 / 2, "poisson_bootstrap"),
        ([1.0] * 500, 1, "wilson"),
        ([0.1] * 500, 0.1, "wilson"),
        # Behind so many without a value that they are counted apart.
        ([*[None] * 3000, *[0.25] * 60], 0.25, "wilson"),
    ],
)
def test_under_fifty_answers_or_without_variance_it_is_wilsons(
    values: Values, mean: float, method: str
) -> None:
    means = streamed(values)
    interval = means.interval("x")
    assert interval is not None
    assert (means.mean("x"), interval.method) == (mean, method)
    if method == "wilson":
        assert (interval.low, interval.high) == wilson(mean, means.count("x"))


def test_on_many_values_the_bootstrap_is_near_the_normal_approximation() -> None:
    draw = random.Random(5)  # noqa: S311  no secret
    values = [draw.choice([0.0, 0.25, 0.5, 1.0, 1.0, 1.0]) for _ in range(2000)]
    interval = streamed(values).interval("x")
    assert interval is not None
    reach = NORMAL * float(np.std(values)) / math.sqrt(len(values))
    mean = float(np.mean(values))
    # The ends of a percentile interval from 1 000 replicates scatter by about 4 % of the reach;
    # three times that is allowed.
    assert interval.low == pytest.approx(mean - reach, abs=0.12 * reach)
    assert interval.high == pytest.approx(mean + reach, abs=0.12 * reach)


def test_the_mean_of_values_that_no_float_adds_up_is_the_nearest() -> None:
    values = [0.1, 0.7, 1 / 3] * 1000
    assert streamed(values).mean("x") == math.fsum(values) / 3000


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 2**32), st.lists(st.integers(0, 2100), max_size=6))
def test_parts_merge_in_any_order_into_exactly_the_whole(seed: int, cuts: list[int]) -> None:
    draw = random.Random(seed)  # noqa: S311  no secret
    keys = [f"q{i}" for i in range(2100)]  # more than are counted together
    table = np.array([[draw.random(), i % 3, 1 / (i + 1), np.nan] for i in range(len(keys))])
    table[60:, 2] = np.nan
    whole = StreamedMeans("abcd", 3)
    whole.add_rows(keys, table)
    order = draw.sample(range(len(keys)), len(keys))
    merged = StreamedMeans("abcd", 3)
    ends = [*sorted(cuts), len(order)]
    parts = [order[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    for part in draw.sample(parts, len(parts)):
        one = StreamedMeans("abcd", 3)
        for at in part:
            row = [None if math.isnan(value) else value for value in table[at]]
            one.add(keys[at], dict(zip("abcd", row, strict=True)))
        merged.merge(one)
    for name in "abcd":
        assert merged.count(name) == whole.count(name)
        assert merged.mean(name) == whole.mean(name)
        assert merged.interval(name) == whole.interval(name)


def test_values_of_any_size_are_averaged_and_merge() -> None:
    values = [0.1, 1e100, 3.0, 2.0**300, 199.0, 201.0] * 20
    whole, first, second = (StreamedMeans("ab", 3) for _ in range(3))
    for number, value in enumerate(values):
        for means in (whole, first if number % 2 else second):
            means.add(f"q{number}", {"a": value, "b": number / 120})
    first.merge(second)
    plain = sum(values) / len(values)
    for found in (whole, first):
        assert found.mean("a") == pytest.approx(plain)
        limits = found.interval("a")
        assert limits is not None
        assert limits.low < plain < limits.high
        # What stands beside it is as exact as ever.
        assert found.mean("b") == sum(range(120)) / 120 / 120
    assert first.interval("b") == whole.interval("b")


def test_only_like_merges_with_like() -> None:
    for other in (StreamedMeans("a", 2), StreamedMeans("ab", 1)):
        with pytest.raises(ValueError, match="equal seed and names"):
            StreamedMeans("a", 1).merge(other)


def test_no_rows_are_no_answers() -> None:
    means = StreamedMeans("ab", 0)
    means.add_rows([], np.zeros((0, 2)))
    assert (means.count("a"), means.mean("b")) == (0, None)
