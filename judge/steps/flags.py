"""What a person should look at. A flag never changes a verdict."""

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from judge.records import Flag, FlagName, JudgeOutcome, Sample, Support, Verdict

_SUPPORTED = frozenset({Support.FULL, Support.PARTIAL})
# Normalizing a run of combining marks takes the square of its length.
_SLICE = 1000


def raise_flags(sample: Sample, outcomes: Mapping[int, JudgeOutcome]) -> tuple[Flag, ...]:
    """The flags of one answer: those of its texts, then those of its sentences in order."""
    flags: list[Flag] = []
    texts = (sample.answer, *(chunk.text for chunk in sample.chunks))
    if any(reads_like_orders(text) for text in texts):
        flags.append(Flag(name=FlagName.INJECTION_SUSPECTED))
    flags.extend(
        Flag(name=FlagName.UNVERIFIED_QUOTE, sentence=index)
        for index, outcome in sorted(outcomes.items())
        if isinstance(outcome, Verdict) and outcome.support in _SUPPORTED and not outcome.backed
    )
    return tuple(flags)


def reads_like_orders(text: str) -> bool:
    """Whether `text` reads like orders to a judge rather than material to be judged."""
    slices = (text[i : i + _SLICE] for i in range(0, len(text), _SLICE))
    normal = "".join(unicodedata.normalize("NFKC", part) for part in slices)
    return _orders().search(normal) is not None


@cache
def _orders() -> re.Pattern[str]:
    table = tomllib.loads((files("judge") / "data" / "injection.toml").read_text("utf-8"))
    patterns = [pattern for part in table.values() for pattern in part["patterns"]]
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)
