"""Injection: text among the material that reads like orders to a judge."""

import re
import tomllib
import unicodedata
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from judge.records import Flag, FlagName, Sample

# Normalizing a run of combining marks takes the square of its length.
_SLICE: Final = 1000


def flag_orders(sample: Sample) -> tuple[Flag, ...]:
    """One flag where question, answer, a chunk or the reference reads like orders, else none."""
    texts = (sample.query, sample.answer, *(chunk.text for chunk in sample.chunks))
    texts += (sample.gold_answer or "",)
    suspected = any(reads_like_orders(text) for text in texts)
    return (Flag(name=FlagName.INJECTION_SUSPECTED),) if suspected else ()


def reads_like_orders(text: str) -> bool:
    """Whether `text` reads like orders to a judge rather than material to be judged."""
    normal = text if text.isascii() else _normalized(text)
    lowered = normal.lower()
    return any(
        order.pattern.search(normal)
        for order in _orders()
        if any(need in lowered for need in order.needs)
    )


def _normalized(text: str) -> str:
    slices = (text[i : i + _SLICE] for i in range(0, len(text), _SLICE))
    return "".join(unicodedata.normalize("NFKC", part) for part in slices)


class _Order(NamedTuple):
    needs: tuple[str, ...]
    """A text with none of these, in lower case, is not searched."""
    pattern: re.Pattern[str]


@cache
def _orders() -> tuple[_Order, ...]:
    table = tomllib.loads((files("judge") / "data" / "injection.toml").read_text("utf-8"))
    return tuple(
        _Order(tuple(order["needs"]), re.compile(order["pattern"], re.IGNORECASE))
        for order in table["orders"]
    )
