import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from judge.scores.differences import (
    holm,
    paired,
    share_limits,
    t_tails,
)


def test_the_tails_of_students_t_are_scipys() -> None:
    for df in (1, 2, 3, 4, 7, 30, 61, 999, 9999, 10_000, 50_000):
        for t in (0.0, 0.1, 1.0, -1.9, 2.5, 4.0, -12.0):
            expected = 2 * stats.t.sf(abs(t), df)
            assert t_tails(t, df) == pytest.approx(expected, rel=1e-6, abs=1e-9), (t, df)


def test_the_test_and_the_interval_are_scipys() -> None:
    rng = np.random.default_rng(17)
    for size, shift in ((12, 0.0), (30, 0.05), (60, 0.1), (400, 0.01)):
        one, other = rng.random(size), rng.random(size) * 0.9 + shift
        found, expected = paired(one - other), stats.ttest_rel(one, other)
        assert found is not None
        assert found.limits is not None
        assert (found.pairs, found.higher + found.lower) == (size, size)
        # The signs of twelve pairs allow .0005.
        assert found.p == pytest.approx(max(expected.pvalue, 2.0 ** (1 - size)), rel=1e-6)
        assert found.limits == pytest.approx(tuple(expected.confidence_interval()), abs=5e-4)


def test_few_pairs_that_differ_show_no_more_than_a_permutation_test() -> None:
    for changed in range(2, 8):
        differences = np.array([1.0] * changed + [0.0] * (40 - changed))
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
    assert paired(np.array([])) is None
    rows = {
        (0.0, 0.0, 0.0): (0.0, 1.0),
        (0.5,): (0.5, 1.0),
        (0.1,) * 10: (0.1, 2.0**-9),
        (-1.0,) * 3: (-1.0, 0.25),
    }
    for differences, (mean, p) in rows.items():
        found = paired(np.array(differences))
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
