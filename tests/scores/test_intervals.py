import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from judge.scores.intervals import (
    Observation,
    StreamedMeans,
    holm,
    mean_limits,
    paired,
    share_limits,
    t95,
    t_tails,
    weighted_share,
    wilson,
)
from tests.bench.intervals import coverage


@given(st.integers(1, 10_000), st.data())
def test_wilson_is_statsmodels_s(n: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, n))
    reference = proportion_confint(successes, n, alpha=0.05, method="wilson")
    assert wilson(successes / n, n) == pytest.approx(reference, abs=1e-9)


def rows(hits: str, clusters: str = "") -> list[Observation]:
    """Return one unit per character of `hits` (0 or 1), in the cluster of its letter."""
    return [
        Observation(hit == "1", 1.0, k, clusters[k] if clusters else k)
        for k, hit in enumerate(hits)
    ]


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
        ([Observation(u < 2, 0.5, u, u) for u in range(3) for _ in "xy"], 2 / 3, 2),
    ]
    for observed, value, size in table:
        found = weighted_share(observed)
        assert found is not None
        assert (found.value, found.size) == pytest.approx((value, size))
        assert (found.low, found.high) == wilson(found.value, found.size)
    assert weighted_share([]) is None


def test_t_is_student_s() -> None:
    # W. S. Gosset's quantile as tables print it.
    for df, quantile in ((1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (10, 2.228), (30, 2.042)):
        assert t95(df) == pytest.approx(quantile, rel=2e-3)
    for df in (8, 20, 100, 10_000):
        assert t95(df) == pytest.approx(float(stats.t.ppf(0.975, df)), rel=2e-5)


def test_mean_limits_by_hand() -> None:
    table = [
        # Zeros and ones: v = 10/9 · m(1 - m), so never more than the 10 there are; t(9) = 2.262.
        (0.5, 10 / 36, 10, 0.2091, 0.7909),
        # No variance, all right: n stays 10. By hand 1/(1 + 2.262²/10).
        (1.0, 0.0, 10, 0.6615, 1.0),
        # 200 alike at a half: v = (1/2)²/400, so n = 200²·2: nearly m ± t·½/√80 000.
        (0.5, 0.0, 200, 0.4965, 0.5035),
        (0.3, 0.0, 1, 0.0, 1.0),
    ]
    for mean, variance, count, low, high in table:
        assert mean_limits(mean, variance, count) == pytest.approx((low, high), abs=2e-4)


@pytest.mark.no_cover
def test_how_often_the_interval_of_a_mean_holds() -> None:
    # A short form of the simulation in tests/bench/intervals.py, the same draws in every run.
    for held in coverage(counts=(10, 60), repeats=2000, seed=3):
        assert held.both >= 0.93, held
        assert held.missed_below <= 0.045, held


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), min_size=2, max_size=60))
def test_mean_and_interval_are_numpy_s(values: list[float | None]) -> None:
    seen = [value for value in values if value is not None]
    means = StreamedMeans("x")
    for value in values:
        means.add({"x": value})
    assert means.count("x") == len(seen)
    if len(seen) > 1:
        assert means.mean("x") == pytest.approx(np.mean(seen), abs=1e-15)
        found = means.interval("x")
        assert found is not None
        limits = mean_limits(float(np.mean(seen)), float(np.var(seen, ddof=1)), len(seen))
        assert (found.low, found.high) == pytest.approx(limits, abs=1e-9)
        assert found.method == "wilson_effective"


def test_the_tails_of_students_t_are_scipys() -> None:
    for df in (1, 2, 3, 4, 7, 30, 61, 999, 9999, 10_000, 50_000):
        for t in (0.0, 0.1, 1.0, -1.9, 2.5, 4.0, -12.0):
            expected = 2 * stats.t.sf(abs(t), df)
            assert t_tails(t, df) == pytest.approx(expected, rel=1e-6, abs=1e-9), (t, df)


def test_the_test_and_the_interval_are_scipys() -> None:
    rng = np.random.default_rng(17)
    for size, shift in ((12, 0.0), (30, 0.05), (60, 0.1), (400, 0.01)):
        one, other = rng.random(size), rng.random(size) * 0.9 + shift
        found, expected = paired([*(one - other)]), stats.ttest_rel(one, other)
        assert found is not None
        assert found.limits is not None
        assert (found.pairs, found.higher + found.lower) == (size, size)
        # The signs of twelve pairs allow .0005.
        assert found.p == pytest.approx(max(expected.pvalue, 2.0 ** (1 - size)), rel=1e-6)
        assert found.limits == pytest.approx(tuple(expected.confidence_interval()), abs=5e-4)


def test_few_pairs_that_differ_show_no_more_than_a_permutation_test() -> None:
    for changed in range(2, 8):
        differences = [1.0] * changed + [0.0] * (40 - changed)
        found = paired(differences)
        assert found is not None
        # Equal pairs have no sign.
        signs = stats.permutation_test(
            (differences[:changed],), np.mean, permutation_type="samples", n_resamples=9999
        )
        assert found.p >= signs.pvalue - 1e-12
        assert (found.limits is None) is (changed < 6)
        assert (found.p < 0.05) is (changed > 5)


def test_what_has_no_spread_or_no_pairs() -> None:
    assert paired([]) is None
    rows = {
        (0.0, 0.0, 0.0): (0.0, 1.0),
        (0.5,): (0.5, 1.0),
        (0.1,) * 10: (0.1, 2.0**-9),
        (-1.0,) * 3: (-1.0, 0.25),
    }
    for differences, (mean, p) in rows.items():
        found = paired(differences)
        assert found is not None
        assert found.mean == pytest.approx(mean)
        assert (found.p, found.limits) == (p, None)


def test_a_loss_of_every_pair_by_as_much_is_one() -> None:
    # Wilson's interval of 0 in 12 ends at t²/(12 + t²) with t = 2.201, which stands for 2x - 1.
    assert share_limits([-1.0] * 12) == pytest.approx((-1.0, 2 * 4.8444 / 16.8444 - 1), abs=1e-3)
    low, high = share_limits([-1.0] * 5) or (0.0, 0.0)
    assert low < 0.0 <= high, "five signs cannot say"


def test_holm_is_statsmodels() -> None:
    rng = np.random.default_rng(6)
    for size in (1, 2, 5, 20):
        ps = rng.random(size) ** 3
        assert holm(list(ps)) == pytest.approx(multipletests(ps, method="holm")[1])
    assert holm([]) == []
