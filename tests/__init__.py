"""The tests are a package, because a library installs a package `tests` of its own."""

from typing import TypeVar

_Value = TypeVar("_Value")


def present(value: _Value | None) -> _Value:
    """Return a value of a field that may be null, and is not here."""
    assert value is not None
    return value
