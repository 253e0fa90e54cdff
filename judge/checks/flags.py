"""What a person should look at. A flag never changes a verdict."""

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from judge.records import SUPPORTED, Flag, FlagName, JudgeOutcome, Sample, Verdict

# Normalizing a run of combining marks takes the square of its length.
_SLICE = 1000


def raise_flags(sample: Sample, outcomes: Mapping[int, JudgeOutcome]) -> tuple[Flag, ...]:
    """The flags of one answer: those of its texts, then those of its sentences in order."""
    flags: list[Flag] = []
    texts = (sample.query, sample.answer, *(chunk.text for chunk in sample.chunks))
    texts += (sample.gold_answer or "",)
    if any(reads_like_orders(text) for text in texts):
        flags.append(Flag(name=FlagName.INJECTION_SUSPECTED))
    return (*flags, *flag_quotes(outcomes))


def flag_quotes(outcomes: Mapping[int, JudgeOutcome]) -> tuple[Flag, ...]:
    """A flag for each `full` or `partial` of which no quote was found, in order."""
    return tuple(
        Flag(name=FlagName.UNVERIFIED_QUOTE, sentence=index)
        for index, outcome in sorted(outcomes.items())
        if isinstance(outcome, Verdict) and outcome.support in SUPPORTED and not outcome.backed
    )


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
    pattern: re.Pattern[str]


@cache
def _orders() -> tuple[_Order, ...]:
    table = tomllib.loads((files("judge") / "data" / "injection.toml").read_text("utf-8"))
    return tuple(
        _Order(tuple(order["needs"]), re.compile(order["pattern"], re.IGNORECASE))
        for order in table["orders"]
    )
