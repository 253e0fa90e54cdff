"""Shares, and one number for two of them."""


def share(part: float, whole: int) -> float | None:
    """`part` of `whole`; None of nothing.

    >>> share(1, 4), share(0, 0)
    (0.25, None)
    """
    return part / whole if whole else None


def f1(precision: float | None, recall: float | None) -> float | None:
    """Harmonic mean 2 p r / (p + r) of two shares, 0 to 1.

    0 where both are 0; None where one of them is None. Source: van Rijsbergen 1979, "Information
    Retrieval", chapter 7, with both sides weighed alike.

    >>> round(f1(0.5, 1.0), 6), f1(0.0, 0.0), f1(None, 1.0)
    (0.666667, 0.0, None)
    """
    if precision is None or recall is None:
        return None
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
