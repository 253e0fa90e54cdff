"""The one place that names concrete classes: settings in, judges and store out."""

from judge.compose.judges import (
    CORRECTNESS_PROMPT,
    OPENAI,
    PROMPT,
    Judges,
    address,
    alone,
    compose,
    offline,
    remembered,
)
from judge.compose.opening import cache_folder, open_store

__all__ = [
    "CORRECTNESS_PROMPT",
    "OPENAI",
    "PROMPT",
    "Judges",
    "address",
    "alone",
    "cache_folder",
    "compose",
    "offline",
    "open_store",
    "remembered",
]
