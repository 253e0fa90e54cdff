"""Advice in short, and what it can rest on, made without samples."""

from judge.advice.recommend.advising import needs
from judge.advice.recommend.profile import HELD
from judge.advice.records import Advice, Profile


def roles(advice: Advice) -> dict[str, list[str]]:
    """By role the names of its measures, none left out."""
    return {
        role: [each.name for each in advice.measures if each.role == role]
        for role in ("primary", "secondary", "supplementary")
    }


def avoided(advice: Advice) -> set[str]:
    """What is warned of, whatever the cut-off."""
    return {each.name.partition("@")[0] for each in advice.avoided}


def counted(relevant: float | None, irrelevant: float | None, **changes: object) -> Profile:
    """99 samples with these medians that hold everything."""
    fields: dict[str, object] = {
        "samples": 99,
        "queries": 0 if relevant is None else 99,
        "without_relevant": 0,
        "relevant": relevant,
        "irrelevant": irrelevant,
        "counted": None if irrelevant is None else "corpus",
        "longest": 1000,
        "graded": None if relevant is None else False,
        "share": dict.fromkeys(HELD, 1.0),
        "fitting": dict.fromkeys(needs(), 0),
    }
    return Profile.model_validate(fields | changes)
