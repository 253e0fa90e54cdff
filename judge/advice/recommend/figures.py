"""Figures in texts."""


def figure(value: float | str | None) -> str:
    """A number as people write it: whole where it is, else to three digits; a dash for none.

    >>> figure(5_000_000.0), figure(1.5), figure(0.0333), figure(None)
    ('5,000,000', '1.5', '0.0333', '–')
    """
    if value is None or isinstance(value, str):
        return value or "–"
    if value == int(value) or value >= 100:  # noqa: PLR2004  of three digits none is behind the point
        return f"{value:,.0f}"
    return f"{value:.3g}"
