"""A count with its noun."""


def counted(count: int, noun: str) -> str:
    """So many of them; `noun` takes an s for several.

    >>> counted(1, "label"), counted(1200, "label")
    ('1 label', '1,200 labels')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
