"""95 % intervals of shares, of means over a stream, and of differences of two systems."""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from judge.records import Interval

Z95: Final = 1.959963984540054
"""The normal quantile at .975."""

_FIRST_T: Final = (math.inf, 12.706204736432095, 4.302652729911275)
"""`t95` of 0, 1 and 2."""

_BITS: Final = 64
"""Bits behind the binary point of the whole number that stands for a value."""

_MIN_DIFFERING: Final = 6
"""The signs of fewer differing pairs cannot give p < .05."""
_ROUNDING: Final = 1e-9
"""A difference up to this is rounding: the pair does not differ."""
_NO_SPREAD: Final = 1e-12
"""A standard error up to this is rounding: all differences are equal."""
_NORMAL_DF: Final = 10_000
"""Student's t is approximated by the normal distribution from these degrees of freedom on."""


def wilson(mean: float, n: float, z: float = Z95) -> tuple[float, float]:
    """Return Wilson's score interval for a mean of values in [0, 1].

    (m + z²/2n ± z √(m(1 − m)/n + z²/4n²)) / (1 + z²/n). For a mean of other values than 0 and 1 it
    is conservative, because their variance is at most m(1 − m). `n` is the number of values, or of
    a simple draw with the same variance; both limits are within [0, 1].

    Raises:
        ValueError: n not above 0, or a mean outside [0, 1].

    Source: E. B. Wilson (1927), J. Am. Stat. Assoc. 22, 209-212.

    >>> [round(limit, 4) for limit in wilson(0.5, 10)]
    [0.2366, 0.7634]
    """
    if not n > 0 or not 0 <= mean <= 1:
        raise ValueError(f"wilson needs n > 0 and a mean in [0, 1], got n={n!r}, mean={mean!r}")
    centre = mean + z * z / (2 * n)
    reach = z * math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(0.0, (centre - reach) / scale), min(1.0, (centre + reach) / scale)


def t95(df: int) -> float:
    """Return Student's t quantile at .975 for `df` degrees of freedom, within .2 %; of 0 infinity.

    Source: M. Abramowitz and I. A. Stegun (1964), 26.7.5; exact for one and two.

    >>> [round(t95(df), 3) for df in (1, 2, 3, 9, 59)]
    [12.706, 4.303, 3.179, 2.262, 2.001]
    """
    if df < len(_FIRST_T):
        return _FIRST_T[df]
    z = Z95
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + math.fsum(term * df**-power for power, term in enumerate(terms, start=1))


def mean_limits(mean: float, variance: float, count: int) -> tuple[float, float]:
    """Return the 95 % interval of a mean of any number of values in [0, 1].

    It is Wilson's interval, with the t quantile of n - 1 for z and an effective number of values
    for n. That is the number of zeros and ones with the same standard error, n·m(1 - m)/v, at least
    n. To the variance v half an unseen value at the far end is added, m²/2n below and (1 - m)²/2n
    above, because a few mild values do not exclude failures among the rest. Its coverage is
    simulated in `tests/bench/intervals.py`. The limits are within [0, 1]; `variance` is over n - 1.

    Source: `wilson`; the effective number after E. L. Korn and B. I. Graubard (1998), Survey
    Methodology 24, 193-201.

    >>> [round(limit, 3) for limit in mean_limits(0.9, 0.005, 60)]
    [0.868, 0.917]
    """
    if count == 1:
        return 0.0, 1.0
    mean = min(1.0, max(0.0, mean))  # a ratio of sums may miss [0, 1] by a rounding error
    pooled = count * mean * (1 - mean)
    spreads = [variance + far * far / (2 * count) for far in (mean, 1 - mean)]
    sizes = [max(count, pooled / spread) if spread > 0 else count for spread in spreads]
    low, high = (wilson(mean, size, t95(count - 1)) for size in sizes)
    return low[0], high[1]


class Observation(NamedTuple):
    """One observation."""

    hit: bool
    weight: float
    unit: Hashable
    """The thing observed, such as a sentence; two observations of it count as one unit."""
    cluster: Hashable
    """The group of units that may be alike, such as the sentences of one answer."""


class WeightedShare(NamedTuple):
    """A share and its 95 % interval."""

    value: float
    low: float
    high: float
    size: float
    """The number of units of equal weight in a simple draw of the same precision."""


def weighted_share(observed: Sequence[Observation]) -> WeightedShare | None:
    """Return the weighted share of hits, p, and Wilson's interval for an effective size.

    That size is p(1 - p)/v, with v the variance of p between clusters, K/(K - 1)·sum over clusters
    of (sum of w·(hit - p))² ÷ (sum of w)²; at most Kish's (sum of w)²/(sum of w²) of the units. If
    all or none are hits, or there is one cluster, it is Kish's number of clusters. Without
    observations the result is None.

    Source: E. L. Korn and B. I. Graubard (1998), Survey Methodology 24, 193-201; L. Kish (1965),
    Survey Sampling, 11.7.

    >>> alone = [Observation(k < 3, 1.0, k, k) for k in range(4)]
    >>> [round(x, 3) for x in weighted_share(alone)]
    [0.75, 0.256, 0.963, 3.0]
    """
    if not observed:
        return None
    whole = sum(each.weight for each in observed)
    value = min(1.0, sum(each.weight for each in observed if each.hit) / whole)
    units: defaultdict[Hashable, float] = defaultdict(float)
    clusters: defaultdict[Hashable, float] = defaultdict(float)
    residuals: defaultdict[Hashable, float] = defaultdict(float)
    for each in observed:
        units[each.unit] += each.weight
        clusters[each.cluster] += each.weight
        residuals[each.cluster] += each.weight * (each.hit - value)
    count = len(clusters)
    spread = sum(residual**2 for residual in residuals.values())
    size = whole**2 / sum(weight**2 for weight in clusters.values())
    if 0 < value < 1 and count > 1 and spread > 0:
        variance = count / (count - 1) * spread / whole**2
        most = whole**2 / sum(weight**2 for weight in units.values())
        size = min(most, value * (1 - value) / variance)
    return WeightedShare(value, *wilson(value, size), size)


class StreamedMeans:
    """Means of named values in [0, 1] over a stream of answers, with intervals, in constant memory.

    It keeps three whole numbers per name: the count of the values, their sum in steps of 2⁻⁶⁴, and
    the sum of their squares in steps of 2⁻¹²⁸. So the order of the answers does not matter. Values
    of 2⁻¹² or more are exact, smaller ones within 2⁻⁶⁴.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._sums = {name: [0, 0, 0] for name in names}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the values."""
        return tuple(self._sums)

    def add(self, values: Mapping[str, float | None]) -> None:
        """Add an answer's values; None where it has none. Other names are ignored."""
        for name, value in values.items():
            if value is not None and (sums := self._sums.get(name)) is not None:
                whole = int(math.ldexp(value, _BITS))
                sums[0] += 1
                sums[1] += whole
                sums[2] += whole * whole

    def count(self, name: str) -> int:
        """Return the number of answers that had this value."""
        return self._sums[name][0]

    def mean(self, name: str) -> float | None:
        """Return the mean of a value; None where no answer had it."""
        count, total, _ = self._sums[name]
        return total / (count << _BITS) if count else None

    def interval(self, name: str) -> Interval | None:
        """Return the 95 % interval of the mean; None where no answer had this value."""
        (count, total, squares), mean = self._sums[name], self.mean(name)
        if mean is None:
            return None
        # All numbers are whole until the division.
        spread = count * squares - total * total
        variance = spread / ((count * max(count - 1, 1)) << 2 * _BITS)
        low, high = mean_limits(mean, variance, count)
        return Interval(low=low, high=high, method="wilson_effective")


class PairedDifference(NamedTuple):
    """The mean of differences between the two values of each pair."""

    pairs: int
    """The number of pairs."""
    mean: float
    """The mean of the differences."""
    limits: tuple[float, float] | None
    """The 95 % interval of the mean; None where fewer than six pairs differ, or all by as much."""
    p: float
    """The probability that chance alone gives a mean at least as far from 0."""
    higher: int
    """Pairs whose difference is above 0."""
    lower: int
    """Pairs whose difference is below 0."""


def paired(differences: Sequence[float]) -> PairedDifference | None:
    """Return Student's two-sided paired t test with its interval; None without a pair.

    The interval is mean ± t(.975, n - 1)·s/√n, and p is that of mean/(s/√n). But p is at least
    2^(1 - k) if k pairs differ, which is the least p of a sign test. So a hit that changed in three
    queries is no finding, whatever the t distribution gives.

    Source: Student 1908; that the t test serves for rank measures, and as well as a permutation
    test: M. D. Smucker, J. Allan and B. Carterette (2007), CIKM; J. Urbano, H. Lima and A. Hanjalic
    (2019), SIGIR. The least p: R. A. Fisher (1935), The Design of Experiments, section 21.

    >>> found = paired([0.1, 0.2, 0.1, 0.0, 0.2, 0.1, 0.0, 0.1])
    >>> round(found.mean, 3), [round(limit, 3) for limit in found.limits or ()], round(found.p, 4)
    (0.1, [0.037, 0.163], 0.0312)
    """
    if not (pairs := len(differences)):
        return None
    mean = math.fsum(differences) / pairs
    higher = sum(each > _ROUNDING for each in differences)
    lower = sum(each < -_ROUNDING for each in differences)
    error = math.sqrt(_variance(differences, mean) / pairs)
    p, limits = min(1.0, 2.0 ** (1 - higher - lower)), None
    if error > _NO_SPREAD:
        p = max(p, t_tails(mean / error, pairs - 1))
        if higher + lower >= _MIN_DIFFERING:
            reach = t95(pairs - 1) * error
            limits = (mean - reach, mean + reach)
    return PairedDifference(pairs, mean, limits, p, higher, lower)


def _variance(values: Sequence[float], mean: float) -> float:
    """Return the variance over n - 1; 0 for one value."""
    return math.fsum((each - mean) ** 2 for each in values) / max(len(values) - 1, 1)


def t_tails(t: float, df: int) -> float:
    """Return the probability of a Student's t at least as far from 0, on either side.

    Source: M. Abramowitz and I. A. Stegun (1964), 26.7.3 and 26.7.4, which are exact; from 10 000
    degrees of freedom on 26.7.8.

    >>> round(t_tails(2.0, 9), 4), round(t_tails(-2.0, 60), 4), t_tails(0.0, 5)
    (0.0766, 0.05, 1.0)
    """
    if df >= _NORMAL_DF:
        z = abs(t) * (1 - 1 / (4 * df)) / math.sqrt(1 + t * t / (2 * df))
        return math.erfc(z / math.sqrt(2))
    odd = df % 2
    angle = math.atan(abs(t) / math.sqrt(df))
    sine, cosine = math.sin(angle), math.cos(angle)
    terms, term = [], cosine if odd else 1.0
    for step in range((df - odd) // 2):
        terms.append(term)
        term *= cosine * cosine * (2 * step + 1 + odd) / (2 * step + 2 + odd)
    inside = sine * math.fsum(terms)
    return min(1.0, max(0.0, 1 - (2 / math.pi * (angle + inside) if odd else inside)))


def holm(ps: Sequence[float]) -> list[float]:
    """Correct each p for the number of tests, so that p < .05 is a finding among all tests.

    With m of them in ascending order, the kth becomes the greatest (m - j + 1)·p(j) over j ≤ k, 1
    at most.

    Source: S. Holm (1979), Scand. J. Statist. 6, 65-70.

    >>> holm([0.04, 0.01, 0.03])
    [0.06, 0.03, 0.06]
    """
    corrected, most = [0.0] * len(ps), 0.0
    for place, index in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        most = max(most, min(1.0, (len(ps) - place) * ps[index]))
        corrected[index] = most
    return corrected


def share_limits(differences: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % interval of a mean difference of values in [0, 1]; None without a pair.

    It is the interval of `paired`. Where fewer than six pairs differ, or all by as much, it is the
    interval of `mean_limits` for (d + 1)/2. For fewer than six it is extended to 0, because the
    signs of five pairs cannot show which system is better.

    >>> [round(limit, 3) for limit in share_limits([0.0] * 100) or ()]
    [-0.014, 0.014]
    """
    found = paired(differences)
    if found is None or found.limits is not None:
        return found and found.limits
    spread = _variance(differences, found.mean) / 4
    low, high = (2 * limit - 1 for limit in mean_limits((1 + found.mean) / 2, spread, found.pairs))
    return (
        (low, high)
        if found.higher + found.lower >= _MIN_DIFFERING
        else (min(0.0, low), max(0.0, high))
    )
