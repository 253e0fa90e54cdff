"""Injection: text of a sample that gives orders to a judge."""

import re
import tomllib
import unicodedata
from functools import cache
from importlib.resources import files
from typing import Final

from judge.records import Flag, FlagName, Sample
from judge.text.tokens import speaks_for_others

# Normalizing a run of combining marks takes the square of its length.
_SLICE: Final = 1000


def flag_orders(sample: Sample) -> tuple[Flag, ...]:
    """Return a flag if the question, answer, reference or a chunk reads like orders to a judge."""
    texts = (sample.query, sample.answer, *(chunk.text for chunk in sample.chunks))
    suspected = reads_like_orders(*texts, sample.gold_answer or "")
    return (Flag(name=FlagName.INJECTION_SUSPECTED),) if suspected else ()


def reads_like_orders(*texts: str) -> bool:
    """Return whether a text gives orders to a judge, or contains control tokens of chat models."""
    if any(map(speaks_for_others, texts)):
        return True
    plain = list(map(_normal, texts))
    whole = "\n".join(plain).lower()
    present = set(filter(whole.__contains__, _needs()))
    return any(
        pattern.search(text)
        for needs, pattern in (_orders() if present else ())
        if not present.isdisjoint(needs)
        for text in plain
        if any(map(text.lower().__contains__, needs))
    )


def _normal(text: str) -> str:
    if text.isascii():
        return text
    slices = (text[i : i + _SLICE] for i in range(0, len(text), _SLICE))
    return "".join(unicodedata.normalize("NFKC", part) for part in slices)


@cache
def _needs() -> frozenset[str]:
    return frozenset(word for needs, _ in _orders() for word in needs)


@cache
def _orders() -> list[tuple[list[str], re.Pattern[str]]]:
    """Return the patterns, each with the lower-case words of which a text needs one."""
    table = tomllib.loads((files("judge") / "data" / "injection.toml").read_text("utf-8"))
    return [
        (order["needs"], re.compile(order["pattern"], re.IGNORECASE)) for order in table["orders"]
    ]
