"""How far two sides say the same: judge and people, reviewers among themselves, model and model.

Labels are any hashable values, compared by equality; NaN, which equals nothing, is refused.
Weights are finite and at least 0, one a row; None is 1 for each. Only their ratios matter, and a
row of weight 0 changes nothing but a count of rows. Sequences of different lengths, and weights
that are none, raise ValueError.
"""

import math
import sys
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain

_Weights = Sequence[float] | None


def cohen_kappa(
    first: Sequence[Hashable], second: Sequence[Hashable], weights: _Weights = None
) -> float | None:
    """Cohen's κ, agreement beyond chance: (p_o - p_e) / (1 - p_e).

    p_o is the share of equal rows; p_e = Σ_c p_c q_c, p and q being the shares of a label on either
    side. Where one label is rare κ is low for a good judge too: read it beside the base rate.

    Returns:
        -1 to 1, and 0 at chance. None where p_e is 1 (both sides use one and the same label), and
        without rows or weight.

    Source: J. Cohen (1960), Educational and Psychological Measurement 20, 37-46.

    >>> cohen_kappa("aabb", "aaba"), cohen_kappa("aa", "aa")
    (0.5, None)
    """
    if len(first) != len(second):
        raise ValueError(f"both sides need as many labels, got {len(first)} and {len(second)}")
    _check_labels(chain(first, second))
    pairs = list(zip(first, second, strict=True))
    scaled = _scaled(weights, len(pairs))
    shares: defaultdict[Hashable, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for (one, other), weight in zip(pairs, scaled, strict=True):
        shares[one][0] += weight
        shares[other][1] += weight
    # Σ_{c≠k} p_c q_k rather than 1 - p_e: nothing cancels, so it is 0 only where it should be.
    chance = so_far = others_so_far = 0.0
    for p, q in shares.values():
        chance += p * others_so_far + q * so_far
        so_far, others_so_far = so_far + p, others_so_far + q
    if not chance:
        return None
    apart = math.fsum(w for (one, other), w in zip(pairs, scaled, strict=True) if one != other)
    # Rounding may step past -1.
    return max(-1.0, 1 - apart * math.fsum(scaled) / chance)


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

    Source: K. Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section C.

    >>> krippendorff_alpha(["aa", "bb", "ab", ["a", None]])
    0.4444444444444444
    """
    _check_labels(chain.from_iterable(ratings))
    totals: Counter[Hashable] = Counter()
    observed = []
    for ratings_of_unit in ratings:
        unit = Counter(label for label in ratings_of_unit if label is not None)
        if (rated := unit.total()) > 1:
            totals.update(unit)
            observed.append(_unequal(unit) / (rated - 1))
    expected = _unequal(totals)
    return 1 - (totals.total() - 1) * math.fsum(observed) / expected if expected else None


def brier(
    probabilities: Sequence[float], truths: Sequence[bool], weights: _Weights = None
) -> float | None:
    """Brier score, the mean squared error of probabilities: Σ w (p - y)² / Σ w.

    Args:
        probabilities: in [0, 1], that the row is true; one a row.
        truths: whether it is, as bools or 0 and 1.
        weights: of the rows.

    Returns:
        0 (certain and right) to 1 (certain and wrong); None without rows or weight.

    Raises:
        ValueError: a probability is outside [0, 1], or a truth is neither 0 nor 1.

    Source: G. W. Brier (1950), Monthly Weather Review 78, 1-3, for an event and halved.

    >>> brier([1.0, 0.5], [True, False])
    0.125
    """
    _check_forecasts(probabilities, truths)
    scaled = _scaled(weights, len(probabilities))
    total = math.fsum(scaled)
    rows = zip(probabilities, truths, scaled, strict=True)
    errors = math.fsum((p - truth) ** 2 * weight for p, truth, weight in rows)
    return errors / total if total else None


def calibration_error(
    probabilities: Sequence[float],
    truths: Sequence[bool],
    weights: _Weights = None,
    bins: int = 10,
) -> float | None:
    """Expected calibration error: Σ_b |Σ_{i in b} w_i (y_i - p_i)| / Σ w.

    Each bin's |share of truths - mean probability|, by its weight. Bins are of equal width; an edge
    belongs to the bin above it, and 1 to the last.

    Takes what `brier` takes, and at least one bin.

    Returns:
        0 (in each bin as often true as said) to 1; None without rows or weight.

    Raises:
        ValueError: as for `brier`, or `bins` is under 1.

    Source: Naeini, Cooper and Hauskrecht (2015), AAAI 29, 2901-2907.

    >>> calibration_error([0.75, 0.75, 0.25], [True, False, False], bins=2)
    0.25
    """
    if bins < 1:
        raise ValueError(f"bins must be at least 1, got {bins!r}")
    _check_forecasts(probabilities, truths)
    scaled = _scaled(weights, len(probabilities))
    # Compared with edges, not multiplied: .29 · 100 is below 29.
    edges = [edge / bins for edge in range(1, bins)]
    gaps: defaultdict[int, list[float]] = defaultdict(list)
    for p, truth, weight in zip(probabilities, truths, scaled, strict=True):
        gaps[bisect_right(edges, p)].append(weight * (truth - p))
    total, apart = math.fsum(scaled), math.fsum(abs(math.fsum(gap)) for gap in gaps.values())
    # Sums rounded one by one may pass 1.
    return min(1.0, apart / total) if total else None


def mcnemar(only_first: int, only_second: int) -> float:
    """McNemar's exact test, two-sided: min(1, 2 Σ_{i≤k} C(n, i) / 2ⁿ).

    n = only_first + only_second, and k is the smaller of them: under no difference a row that only
    one side has is as likely the first's as the second's.

    Args:
        only_first: rows that only the first side has (got right, called supported).
        only_second: rows that only the second has.

    Returns:
        p, 0 to 1; 1 where no row differs. Under 10⁻²⁹⁰ it may be given too small, down to 0. The
        time grows with √n.

    Raises:
        ValueError: a count is negative.

    Source: Q. McNemar (1947), Psychometrika 12, 153-157; exact by the binomial distribution.

    >>> round(mcnemar(1, 5), 6), mcnemar(0, 0)
    (0.21875, 1.0)
    """
    for count in (only_first, only_second):
        if not count >= 0:
            raise ValueError(f"a count must be at least 0, got {count!r}")
    n, k = only_first + only_second, min(only_first, only_second)
    # Each C(n, i) as a share of the largest, from that downwards: 2ⁿ itself is never needed. Below
    # the smallest normal float, a product with nearly 1 would round to itself for ever.
    i, term, half, tail = n // 2, 1.0, 0.0, 0.0
    while term >= sys.float_info.min:
        half += term
        if i <= k:
            tail += term
        term *= i / (n - i + 1)
        i -= 1
    whole = 2 * half - (n % 2 == 0)
    return min(1.0, 2 * tail / whole)


def _unequal(counts: Counter[Hashable]) -> int:
    return counts.total() ** 2 - sum(count * count for count in counts.values())


def _check_labels(labels: Iterable[Hashable]) -> None:
    for label in labels:
        if isinstance(label, float) and math.isnan(label):
            raise ValueError(f"a label must equal itself, got {label!r}")


def _check_forecasts(probabilities: Sequence[float], truths: Sequence[bool]) -> None:
    if len(probabilities) != len(truths):
        message = f"one truth a probability is needed, got {len(truths)} for {len(probabilities)}"
        raise ValueError(message)
    for p in probabilities:
        if not 0 <= p <= 1:
            raise ValueError(f"a probability must be in [0, 1], got {p!r}")
    for truth in truths:
        if truth not in (0, 1):
            raise ValueError(f"a truth must be True or False, got {truth!r}")


def _scaled(weights: _Weights, rows: int) -> list[float]:
    """The weights as shares of the largest, so that no sum or square of them overflows."""
    if weights is None:
        return [1.0] * rows
    if len(weights) != rows:
        raise ValueError(f"one weight a row is needed, got {len(weights)} for {rows} rows")
    for weight in weights:
        if not 0 <= weight < math.inf:
            raise ValueError(f"a weight must be finite and at least 0, got {weight!r}")
    largest = max(weights, default=0)
    return [weight / largest if largest else 0.0 for weight in weights]
