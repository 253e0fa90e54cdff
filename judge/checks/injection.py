"""Injection: text among the material that reads like orders to a judge."""

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
    """One flag where question, answer, a chunk or the reference reads like orders, else none."""
    texts = (sample.query, sample.answer, *(chunk.text for chunk in sample.chunks))
    texts += (sample.gold_answer or "",)
    suspected = any(reads_like_orders(text) for text in texts)
    return (Flag(name=FlagName.INJECTION_SUSPECTED),) if suspected else ()


def reads_like_orders(text: str) -> bool:
    """Whether `text` gives orders to a judge, or speaks as another, rather than be judged."""
    if speaks_for_others(text):
        return True
    slices = (text[i : i + _SLICE] for i in range(0, len(text), _SLICE))
    normal = "".join(unicodedata.normalize("NFKC", part) for part in slices)
    lowered = normal.lower()
    return any(
        any(need in lowered for need in needs) and pattern.search(normal)
        for needs, pattern in _orders()
    )


@cache
def _orders() -> list[tuple[list[str], re.Pattern[str]]]:
    """The patterns; a text with none of the words before one, in lower case, is not searched."""
    table = tomllib.loads((files("judge") / "data" / "injection.toml").read_text("utf-8"))
    return [
        (order["needs"], re.compile(order["pattern"], re.IGNORECASE)) for order in table["orders"]
    ]
