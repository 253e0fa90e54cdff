"""Wilson's interval for a share."""

import math
from typing import Final

Z95: Final = 1.959963984540054
"""The normal quantile at .975."""


def wilson(mean: float, n: float, z: float = Z95) -> tuple[float, float]:
    """Wilson's score interval for a mean of values in [0, 1].

    (m + z²/2n ± z √(m(1 − m)/n + z²/4n²)) / (1 + z²/n). Exact in form for shares; for a mean of
    other values in [0, 1] it is conservative, for their variance is at most m(1 − m).

    Args:
        mean: m, 0 to 1.
        n: how many values it is over, or how many of a simple draw would be as good.
        z: normal quantile.

    Returns:
        (low, high), within [0, 1].

    Raises:
        ValueError: n not above 0, or a mean outside [0, 1].

    Source: E. B. Wilson (1927), J. Am. Stat. Assoc. 22, 209-212.

    >>> [round(limit, 4) for limit in wilson(0.5, 10)]
    [0.2366, 0.7634]
    >>> [round(limit, 4) for limit in wilson(1.0, 10)]
    [0.7225, 1.0]
    """
    if not n > 0 or not 0 <= mean <= 1:
        raise ValueError(f"wilson needs n > 0 and a mean in [0, 1], got n={n!r}, mean={mean!r}")
    centre = mean + z * z / (2 * n)
    reach = z * math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(0.0, (centre - reach) / scale), min(1.0, (centre + reach) / scale)
