"""Signatures: how a number was made, part by part, with `|` between them."""

from typing import Final

_SERVED: Final = "served:"
"""Begins the name that a server gave its model, where it is not the one that was asked for."""


def requested(signature: str) -> str:
    """The signature as it was before anybody answered: without the model the server named.

    >>> requested("llm:m@host|served:m-1|t:0")
    'llm:m@host|t:0'
    """
    parts = signature.split("|")
    return "|".join(part for part in parts if not part.startswith(_SERVED))


def as_served(signature: str, by: str) -> str:
    """The signature, with the model that served in the signature `by`.

    >>> as_served("llm:m@host|served:m-2|t:0", "llm:m@host|served:m-1|t:0")
    'llm:m@host|served:m-1|t:0'
    >>> as_served("llm:m@host|served:m-2|t:0", "llm:m@host|t:0")
    'llm:m@host|t:0'
    """
    head, *rest = requested(signature).split("|")
    served = [part for part in by.split("|") if part.startswith(_SERVED)]
    return "|".join((head, *served, *rest))


def part(signature: str, name: str) -> str | None:
    """What stands behind `name:` in the first part that begins so; None where none does.

    >>> part("similarity:lexical-v1|prior:0.9|t:0.8716", "t")
    '0.8716'
    """
    begin = f"{name}:"
    parts = (part for part in signature.split("|") if part.startswith(begin))
    return next((part.removeprefix(begin) for part in parts), None)
