"""Verdicts of judges that see words alone, held to what they overlook: figures, names, denials."""

from collections.abc import Mapping, Sequence

from judge.checks.denials import denies
from judge.checks.lacking import Numbers
from judge.checks.same import other_bounds
from judge.records import Flag, JudgeOutcome, JudgeRequest, Support, Verdict
from judge.text.fold import CJK_CHAR
from judge.text.words import blank_markup


def guarded(
    request: JudgeRequest, outcomes: Mapping[int, JudgeOutcome], flags: Sequence[Flag]
) -> tuple[dict[int, JudgeOutcome], tuple[Flag, ...]]:
    """A `full` that is flagged or denied becomes `none`, unless a language model said it.

    Two answers to one question differ in little but the figure or the name that was asked for, or
    in a `not`, and that is where similarity is blind (D65). The reason says what is at odds.

    Args:
        request: what the judge was asked.
        outcomes: by sentence index, their quotes looked up.
        flags: mismatches of these outcomes.

    Returns:
        The outcomes, and the flags of verdicts that stand.
    """
    blind = {
        index: outcome
        for index, outcome in outcomes.items()
        if isinstance(outcome, Verdict)
        and outcome.source != "llm"
        and outcome.support is Support.FULL
    }
    missing: dict[int, list[str]] = {index: [] for index in blind}
    standing = []
    for flag in flags:
        if flag.sentence is None or flag.sentence not in blind:
            standing.append(flag)
        else:
            missing[flag.sentence].append(flag.detail)
    if blind:
        numbers = Numbers([request.query, *(chunk.text for chunk in request.chunks)])
        for index in blind:
            missing[index] += numbers.lack(blank_markup(request.claim(index)))
    held = {index: _held(request, index, blind[index], missing[index]) for index in blind}
    return {**outcomes, **held}, tuple(standing)


def _held(
    request: JudgeRequest, index: int, verdict: Verdict, missing: Sequence[str]
) -> JudgeOutcome:
    text = request.sentences[index].text
    quoted = "\n".join(each.quote for each in verdict.evidence if each.verified)
    reason = "; ".join(dict.fromkeys([*missing, *other_bounds(text, quoted)]))
    if not reason and denies(text, [each.quote for each in verdict.evidence if each.verified]):
        chinese = CJK_CHAR.search(text) is not None
        reason = "一方否定，另一方肯定" if chinese else "one denies what the other says"
    if not reason:
        return verdict
    return verdict.model_copy(update={"support": Support.NONE, "supporting": (), "reason": reason})
