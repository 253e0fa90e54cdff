"""Flags in words."""

from typing import Final

from judge.records import Flag, FlagName
from judge.text.visible import flat

_MEANS: Final = {
    FlagName.UNVERIFIED_QUOTE: "no quote was found in its chunk",
    FlagName.CONFLICTING_EVIDENCE: "the chunks say opposite things",
    FlagName.CONFLICTING_GOLD: "gold names no chunk, and its answer claims something",
    FlagName.INJECTION_SUSPECTED: "a text reads like orders to a judge",
    FlagName.MISMATCH_NUMBER: "not in the evidence",
    FlagName.MISMATCH_DATE: "not in the evidence",
    FlagName.MISMATCH_UNIT: "the evidence has that number with another unit",
    FlagName.MISMATCH_NAME: "not in the chunks of the evidence",
}


def meaning(flag: Flag) -> str:
    """What a flag says, with what is missing where it is known: `9.9 billion: not in …`."""
    means = _MEANS[flag.name]
    return f"{flat(flag.detail)}: {means}" if flag.detail else means
