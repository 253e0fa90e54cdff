"""Whether rows flipped one way more often than the other."""

import sys


def mcnemar(only_first: int, only_second: int) -> float:
    """McNemar's exact test, two-sided: min(1, 2 Σ_{i≤k} C(n, i) / 2ⁿ).

    n = only_first + only_second, and k is the smaller of them: under no difference a row that only
    one side has is as likely the first's as the second's.

    Args:
        only_first: rows that only the first side has (got right, called supported), at least 0.
        only_second: rows that only the second has, at least 0.

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
