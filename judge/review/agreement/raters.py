"""How far raters agree, beyond chance too."""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from itertools import chain

from judge.review.agreement.rows import check_labels, mean, pair, scale


def agreement(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    weights: Sequence[float] | None = None,
) -> float | None:
    """Weighted share of rows with equal labels: Σ w [a = b] / Σ w.

    Args:
        first: one side's labels, one a row.
        second: the other's, of the same rows.
        weights: one a row; None is 1 for each.

    Returns:
        0 to 1; None without rows, or where all weights are 0.

    Raises:
        ValueError: lengths differ, a weight is negative or not finite, or a label is NaN.

    >>> agreement("aab", "abb", [2, 1, 1])
    0.75
    """
    pairs = pair(first, second)
    return mean([one == other for one, other in pairs], scale(weights, len(pairs)))


def cohen_kappa(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    weights: Sequence[float] | None = None,
) -> float | None:
    """Cohen's κ, agreement beyond chance: (p_o - p_e) / (1 - p_e).

    p_o is the share of equal rows; p_e = Σ_c p_c q_c, p and q being the shares of a label on either
    side. Where one label is rare κ is low for a good judge too: read it beside the base rate.

    Args:
        first: one side's labels, one a row.
        second: the other's, of the same rows.
        weights: one a row; None is 1 for each.

    Returns:
        -1 to 1, and 0 at chance. None where p_e is 1 (both sides use one and the same label), and
        without rows or weight.

    Raises:
        ValueError: lengths differ, a weight is negative or not finite, or a label is NaN.

    Source: J. Cohen (1960), Educational and Psychological Measurement 20, 37-46.

    >>> cohen_kappa("aabb", "aaba"), cohen_kappa("aa", "aa")
    (0.5, None)
    """
    pairs = pair(first, second)
    scaled = scale(weights, len(pairs))
    chance = _apart_by_chance(pairs, scaled)
    if not chance:
        return None
    apart = math.fsum(w for (one, other), w in zip(pairs, scaled, strict=True) if one != other)
    # Rounding may step past -1.
    return max(-1.0, 1 - apart * math.fsum(scaled) / chance)


def _apart_by_chance(pairs: Sequence[tuple[Hashable, Hashable]], weights: Sequence[float]) -> float:
    shares: defaultdict[Hashable, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for (one, other), weight in zip(pairs, weights, strict=True):
        shares[one][0] += weight
        shares[other][1] += weight
    # Σ_{c≠k} p_c q_k rather than 1 - p_e: nothing cancels, so it is 0 only where it should be.
    total = so_far = others_so_far = 0.0
    for p, q in shares.values():
        total += p * others_so_far + q * so_far
        so_far, others_so_far = so_far + p, others_so_far + q
    return total


def krippendorff_alpha(ratings: Sequence[Sequence[Hashable | None]]) -> float | None:
    """Krippendorff's α for nominal labels and any number of raters: 1 - D_o / D_e.

    D_o / D_e = (n - 1) Σ_u [Σ_{c≠k} n_uc n_uk / (m_u - 1)] / Σ_{c≠k} n_c n_k, with n_uc the times
    that unit u got label c, m_u its labels, and n_c and n their sums over the units.

    Args:
        ratings: for each unit the labels it got, in any order; what is missing is absent or None. A
            unit with fewer than two labels counts nowhere.

    Returns:
        Above -1 to 1: 1 where all agree, 0 at chance. None where no unit has two labels, or only
        one label is used.

    Raises:
        ValueError: a label is NaN.

    Source: K. Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section C.

    >>> krippendorff_alpha(["aa", "bb", "ab", ["a", None]])
    0.4444444444444444
    """
    check_labels(chain.from_iterable(ratings))
    totals: Counter[Hashable] = Counter()
    observed = []
    for ratings_of_unit in ratings:
        unit = Counter(label for label in ratings_of_unit if label is not None)
        if (rated := unit.total()) > 1:
            totals.update(unit)
            observed.append(_unequal(unit) / (rated - 1))
    expected = _unequal(totals)
    return 1 - (totals.total() - 1) * math.fsum(observed) / expected if expected else None


def _unequal(counts: Counter[Hashable]) -> int:
    return counts.total() ** 2 - sum(count * count for count in counts.values())
