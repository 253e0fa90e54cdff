"""What tells two runs apart."""

from judge.records.run import RunRecord
from judge.signature import Signature


def difference(earlier: RunRecord, record: RunRecord) -> str | None:
    """What keeps the earlier run from being gone on with; None where nothing does."""
    if earlier.input.sha256 != record.input.sha256:
        return f"input ({earlier.input.path})"
    # Which of its models a server picks is no choice of the user's: the results say it themselves.
    if apart := _differs(earlier.signature, record.signature):
        return f"signature ({earlier.signature}): its {apart} differs"
    if apart := _differs(earlier.correctness, record.correctness):
        return f"correctness ({earlier.correctness}): its {apart} differs"
    # What a review hook was handed must be one draw, and a cell must mean the same in all results.
    for name in ("seed", "review_rate", "faithful_from", "correct_from", "gold_match"):
        if earlier.config.get(name) != record.config.get(name):
            return f"{name} ({earlier.config.get(name)})"
    return None


def _differs(earlier: str | None, now: str | None) -> str:
    """What of two signatures is not the same, in words; empty where all is."""
    made, wanted = (Signature.parse(each or "").requested() for each in (earlier, now))
    return " and ".join(made.differs_in(wanted))
