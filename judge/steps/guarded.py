"""Verdicts of judges that see words alone, held to the figures and names that they overlook."""

from collections.abc import Iterable, Mapping

from judge.records import Flag, JudgeOutcome, Support, Verdict


def guarded(outcomes: Mapping[int, JudgeOutcome], flags: Iterable[Flag]) -> dict[int, JudgeOutcome]:
    """A flagged `full` becomes `none`, unless a language model said it; the rest stays.

    Two answers to one question differ in little but the figure or the name that was asked for, and
    that is where similarity is blind (D65). The reason says what is missing.

    Args:
        outcomes: by sentence index.
        flags: mismatches of these outcomes.
    """
    missing: dict[int | None, list[str]] = {}
    for flag in flags:
        missing.setdefault(flag.sentence, []).append(flag.detail)
    return {
        index: _withdrawn(outcome, missing[index])
        if index in missing and isinstance(outcome, Verdict) and outcome.source != "llm"
        else outcome
        for index, outcome in outcomes.items()
    }


def _withdrawn(verdict: Verdict, missing: Iterable[str]) -> Verdict:
    reason = "; ".join(dict.fromkeys(missing))
    return verdict.model_copy(update={"support": Support.NONE, "supporting": (), "reason": reason})
