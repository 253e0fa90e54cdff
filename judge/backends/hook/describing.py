"""Errors of other people's code, in a line."""

import traceback
from pathlib import PurePath
from typing import Final

from judge.text.visible import clip

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
    except BaseException:  # noqa: BLE001  it may be unable to say what it is
        return name
    return f"{name}: {message}" if message else name


def placed(error: BaseException, *callers: str) -> str:
    """Its kind and where it arose, `ValueError at hooks.py:12`, and nothing of its message.

    The place is the innermost line of the file that was called, not one of a library that this
    calls in turn; without any, the kind stands alone.

    Args:
        error: with its traceback.
        callers: names of the modules that made the call, which are no place.
    """
    name = one_line(type(error).__name__)
    steps = [
        (frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_globals.get("__name__") not in callers
    ]
    if not steps:
        return name
    file, line = next(step for step in reversed(steps) if step[0] == steps[0][0])
    return f"{name} at {one_line(PurePath(file).name)}:{line}"


def one_line(text: str) -> str:
    r"""As much of a text as fits a line, without control characters.

    >>> one_line("a\r\n b\x1b[2J")
    'a b [2J'
    """
    printable = "".join(c if c.isprintable() else " " for c in text[: 10 * _SHOWN])
    return clip(" ".join(printable.split()), _SHOWN)
