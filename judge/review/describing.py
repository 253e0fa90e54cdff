"""Errors of other people's code, in a line."""

from typing import Final

from judge.text.clip import clip

_SHOWN: Final = 200
"""Characters."""


def described(error: BaseException) -> str:
    r"""Its kind and its message, on one line that does not run on.

    >>> described(ValueError("no such\n  sheet")), described(ValueError())
    ('ValueError: no such sheet', 'ValueError')
    """
    name = type(error).__name__
    try:
        message = one_line(str(error))
    except Exception:  # noqa: BLE001  it may be unable to say what it is
        return name
    return f"{name}: {message}" if message else name


def one_line(text: str) -> str:
    r"""As much of a text as fits a line, without control characters.

    >>> one_line("a\r\n b\x1b[2J")
    'a b [2J'
    """
    printable = "".join(c if c.isprintable() else " " for c in text[: 10 * _SHOWN])
    return clip(" ".join(printable.split()), _SHOWN)
