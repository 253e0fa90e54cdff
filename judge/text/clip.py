"""Texts that must not run on."""


def clip(text: str, longest: int) -> str:
    """The text, or its first `longest` - 1 characters and "…"; `longest` is at least 1.

    >>> clip("expenses", 4), clip("差旅标准", 4)
    ('exp…', '差旅标准')
    """
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
