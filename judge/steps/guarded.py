"""Verdicts of judges that see words alone, held to the figures and names that they overlook."""

from collections.abc import Mapping, Sequence

from judge.records import Flag, JudgeOutcome, Support, Verdict


def guarded(
    outcomes: Mapping[int, JudgeOutcome], flags: Sequence[Flag]
) -> tuple[dict[int, JudgeOutcome], tuple[Flag, ...]]:
    """A flagged `full` becomes `none`, unless a language model said it; the rest stays.

    Two answers to one question differ in little but the figure or the name that was asked for, and
    that is where similarity is blind (D65). The reason says what is missing.

    Args:
        outcomes: by sentence index.
        flags: mismatches of these outcomes.

    Returns:
        The outcomes, and the flags of verdicts that stand.
    """
    missing: dict[int, list[str]] = {}
    standing = []
    for flag in flags:
        index = flag.sentence
        outcome = None if index is None else outcomes.get(index)
        if index is None or not isinstance(outcome, Verdict) or outcome.source == "llm":
            standing.append(flag)
        else:
            missing.setdefault(index, []).append(flag.detail)
    held = {
        index: _withdrawn(outcome, missing[index])
        if index in missing and isinstance(outcome, Verdict)
        else outcome
        for index, outcome in outcomes.items()
    }
    return held, tuple(standing)


def _withdrawn(verdict: Verdict, missing: Sequence[str]) -> Verdict:
    reason = "; ".join(dict.fromkeys(missing))
    return verdict.model_copy(update={"support": Support.NONE, "supporting": (), "reason": reason})
