"""What tells two runs apart."""

from judge.records.run import RunRecord
from judge.signature import requested


def difference(earlier: RunRecord, record: RunRecord) -> str | None:
    """What keeps the earlier run from being gone on with; None where nothing does."""
    if earlier.input.sha256 != record.input.sha256:
        return f"input ({earlier.input.path})"
    # Which of its models a server picks is no choice of the user's: the results say it themselves.
    if requested(earlier.signature) != requested(record.signature):
        return f"signature ({earlier.signature})"
    if _asked(earlier.correctness) != _asked(record.correctness):
        return f"correctness ({earlier.correctness})"
    # What a review hook was handed must be one draw, and a cell must mean the same in all results.
    for name in ("seed", "review_rate", "faithful_from", "correct_from", "gold_match"):
        if earlier.config.get(name) != record.config.get(name):
            return f"{name} ({earlier.config.get(name)})"
    return None


def _asked(signature: str | None) -> str | None:
    return signature and requested(signature)
