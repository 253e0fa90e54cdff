import math
from fractions import Fraction

# The reference library takes a second or so to import; the tests themselves are quick.
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar as reference

from judge.review.agreement import mcnemar


def exact(only_first: int, only_second: int) -> float:
    n, k = only_first + only_second, min(only_first, only_second)
    tail = sum(math.comb(n, i) for i in range(k + 1))
    return min(1.0, float(Fraction(2 * tail, 2**n)))


@pytest.mark.parametrize(
    ("only_first", "only_second", "p"),
    [
        (0, 0, 1.0),
        (0, 1, 1.0),
        (1, 1, 1.0),
        (0, 5, 2 / 32),
        (1, 5, 2 * 7 / 64),
        (2, 8, 2 * 56 / 1024),
        # 2 (C(5,0) + C(5,1) + C(5,2)) / 32 is 1 already, and C(6,3) counts twice.
        (2, 3, 1.0),
        (3, 3, 1.0),
        (0, 1000, 2.0**-999),
        # Below the smallest float.
        (0, 5000, 0.0),
    ],
)
def test_p_by_hand(only_first: int, only_second: int, p: float) -> None:
    assert mcnemar(only_first, only_second) == pytest.approx(p, rel=1e-9, abs=0)


@given(st.integers(0, 400), st.integers(0, 400))
def test_p_is_the_exact_sum(only_first: int, only_second: int) -> None:
    p = mcnemar(only_first, only_second)
    assert p == pytest.approx(exact(only_first, only_second), rel=1e-9, abs=0)
    assert 0 < p <= 1
    assert p == mcnemar(only_second, only_first)


@given(st.integers(0, 300), st.integers(0, 300))
def test_a_longer_lead_is_rarer(few: int, lead: int) -> None:
    assert mcnemar(few, few + lead + 1) <= mcnemar(few, few + lead)


@pytest.mark.parametrize(
    ("only_first", "only_second"),
    [(0, 0), (0, 7), (3, 12), (40, 40), (41, 40), (480, 560), (49_500, 50_500), (10**6, 1_003_000)],
)
def test_p_is_statsmodels_s(only_first: int, only_second: int) -> None:
    expected = reference([[0, only_first], [only_second, 0]], exact=True).pvalue
    assert mcnemar(only_first, only_second) == pytest.approx(expected, rel=1e-9)


def test_counts_of_any_size() -> None:
    # With so many, the normal approximation (continuity corrected) is as good as exact.
    n, lead = 10**8, 20_000
    normal = math.erfc((lead - 1) / math.sqrt(n) / math.sqrt(2))
    assert mcnemar((n - lead) // 2, (n + lead) // 2) == pytest.approx(normal, rel=1e-6)
    assert mcnemar(10**8, 10**8) == 1.0
    assert mcnemar(0, 10**9) == 0.0


@pytest.mark.parametrize("counts", [(-1, 3), (3, -1)])
def test_counts_are_not_negative(counts: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="got -1"):
        mcnemar(*counts)
