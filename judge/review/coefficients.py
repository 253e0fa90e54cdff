"""Coefficients of agreement and calibration, and exact tests.

Weights are finite and at least 0. Only their ratios matter; a row of weight 0 changes nothing.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from itertools import permutations
from typing import Any, Final

import numpy as np

_BINS: Final = 10
# Compared with edges, not multiplied: .29 · 100 is below 29.
_EDGES: Final = [edge / _BINS for edge in range(1, _BINS)]


def cohen_kappa(
    first: Sequence[Hashable], second: Sequence[Hashable], weights: Sequence[float]
) -> float | None:
    """Cohen's κ, agreement beyond chance: (p_o - p_e) / (1 - p_e).

    p_o is the share of equal rows; p_e = Σ_c p_c q_c, p and q being the shares of a label on either
    side. Where one label is rare κ is low for a good judge too: read it beside the base rate.

    Returns:
        -1 to 1, and 0 at chance. None where p_e is 1 (both sides use one and the same label), and
        without rows or weight.

    Source: J. Cohen (1960), Educational and Psychological Measurement 20, 37-46.

    >>> cohen_kappa("aabb", "aaba", [1, 1, 1, 1]), cohen_kappa("aa", "aa", [1, 1])
    (0.5, None)
    """
    shares: defaultdict[Hashable, list[float]] = defaultdict(lambda: [0.0, 0.0])
    apart = 0.0
    for one, other, weight in zip(first, second, weights, strict=True):
        shares[one][0] += weight
        shares[other][1] += weight
        apart += weight * (one != other)
    # Σ_{c≠k} p_c q_k rather than 1 - p_e: nothing cancels, so it is 0 only where it should be.
    chance = sum(p * q for (p, _), (_, q) in permutations(shares.values(), 2))
    # Rounding may step past -1.
    return max(-1.0, 1 - apart * sum(weights) / chance) if chance else None


def krippendorff_alpha(
    ratings: Sequence[Sequence[float]] | Sequence[Sequence[Hashable]], *, squared: bool = False
) -> float | None:
    """Krippendorff's α for any number of raters: 1 - D_o / D_e.

    Labels are nominal; or numbers, whose distance is `squared`: each term of the sums below is then
    multiplied by (c - k)².

    D_o / D_e = (n - 1) Σ_u [Σ_{c≠k} n_uc n_uk / (m_u - 1)] / Σ_{c≠k} n_c n_k, with n_uc the times
    that unit u got label c, m_u its labels, and n_c and n their sums over the units. `ratings` has
    for each unit the labels it got, in any order; one with fewer than two counts nowhere.

    Returns:
        Above -1 to 1: 1 where all agree, 0 at chance. None where no unit has two labels, or only
        one label is used.

    Source: K. Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section C.

    >>> krippendorff_alpha(["aa", "bb", "ab", "a"])
    0.4444444444444444
    """
    totals: Counter[Hashable] = Counter()
    observed = []
    apart = _squared if squared else _unequal
    for labels in ratings:
        unit = Counter[Hashable](labels)
        if (rated := unit.total()) > 1:
            totals.update(unit)
            observed.append(apart(unit) / (rated - 1))
    expected = apart(totals)
    return 1 - (totals.total() - 1) * math.fsum(observed) / expected if expected else None


def brier(
    probabilities: Sequence[float], truths: Sequence[bool], weights: Sequence[float]
) -> float | None:
    """Brier score, the mean squared error of probabilities: Σ w (p - y)² / Σ w.

    Returns:
        0 (certain and right) to 1 (certain and wrong); None without rows or weight.

    Source: G. W. Brier (1950), Monthly Weather Review 78, 1-3, for an event and halved.

    >>> brier([1.0, 0.5], [True, False], [1, 1])
    0.125
    """
    if not sum(weights):
        return None
    errors = (np.array(probabilities) - np.array(truths)) ** 2
    return float(np.average(errors, weights=weights))


def calibration_error(
    probabilities: Sequence[float], truths: Sequence[bool], weights: Sequence[float]
) -> float | None:
    """Expected calibration error: Σ_b |Σ_{i in b} w_i (y_i - p_i)| / Σ w.

    Each bin's |share of truths - mean probability|, by its weight. There are ten bins of equal
    width; an edge belongs to the bin above it, and 1 to the last.

    Returns:
        0 (in each bin as often true as said) to 1; None without rows or weight.

    Source: Naeini, Cooper and Hauskrecht (2015), AAAI 29, 2901-2907.

    >>> calibration_error([0.75, 0.75, 0.25], [True, False, False], [1, 1, 1])
    0.25
    """
    total = sum(weights)
    if not total:
        return None
    bins = np.searchsorted(_EDGES, probabilities, side="right")
    gaps = np.array(weights) * (np.array(truths) - np.array(probabilities))
    # Rounding may pass 1.
    return min(1.0, float(np.abs(np.bincount(bins, gaps)).sum() / total))


def mcnemar(only_first: int, only_second: int) -> float:
    """McNemar's exact test, two-sided: min(1, 2 Σ_{i≤k} C(n, i) / 2ⁿ).

    n = only_first + only_second, the rows that only one side has (got right, called supported), and
    k is the smaller of them: under no difference either side is as likely to have them.

    Returns:
        p, 0 to 1; 1 where no row differs.

    Source: Q. McNemar (1947), Psychometrika 12, 153-157; exact by the binomial distribution.

    >>> round(mcnemar(1, 5), 6), mcnemar(0, 0)
    (0.21875, 1.0)
    """
    n, k = only_first + only_second, min(only_first, only_second)
    return min(1.0, 2 * sum(math.comb(n, i) for i in range(k + 1)) / (1 << n))


def fisher(hits: int, of: int, all_hits: int, whole: int) -> float:
    """Fisher's exact test, one-sided: the chance that a part has `hits` of all hits, or fewer.

    Σ_{k≤hits} C(of, k) C(whole - of, all_hits - k) / C(whole, all_hits).

    Source: R. A. Fisher (1935), J. Roy. Stat. Soc. 98, 39-82.

    >>> round(fisher(0, 3, 3, 6), 4), fisher(3, 3, 3, 3)
    (0.05, 1.0)
    """
    few = range(max(0, of + all_hits - whole), hits + 1)
    ways = sum(math.comb(of, k) * math.comb(whole - of, all_hits - k) for k in few)
    return ways / math.comb(whole, all_hits)


def _unequal(counts: Counter[Any]) -> int:
    return counts.total() ** 2 - sum(count * count for count in counts.values())


def _squared(counts: Counter[Any]) -> float:
    """Σ n_c n_k (c - k)²."""
    total = math.fsum(count * value for value, count in counts.items())
    squares = math.fsum(count * value * value for value, count in counts.items())
    return 2 * (counts.total() * squares - total * total)
