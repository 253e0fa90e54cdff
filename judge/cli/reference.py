"""How one answer agrees with its reference, printed."""

from collections.abc import Iterator
from typing import Final

from rich.console import Console
from rich.text import Text

from judge.cli.grounds import INDENT, grounds, heading
from judge.cli.paint import look_of, number
from judge.cli.wrap import wrap
from judge.records import (
    ComparedSentence,
    Correctness,
    CorrectnessStatus,
    Evidence,
    Outcome,
    Sample,
    SampleResult,
    Support,
    Verdict,
)

_SAID: Final = frozenset({Support.FULL, Support.NO_CLAIM})
_WHY: Final = {
    CorrectnessStatus.NO_REFERENCE: "none; the sample has no gold_answer",
    CorrectnessStatus.ABSTAINED: "not compared; the answer abstains",
    CorrectnessStatus.NO_CLAIMS: "nothing to compare; the answer or the reference claims nothing",
}


def print_reference(
    result: SampleResult, found: Correctness, sample: Sample | None, console: Console
) -> None:
    """Print the numbers, then the reference by what the answer says of it, then the answer's rest.

    Args:
        result: of the answer.
        found: how it agrees with its reference.
        sample: what both were made from; without it, quotes stand without their surroundings.
        console: where to.
    """

    def say(text: Text, indent: int = 0) -> None:
        console.print(wrap(text, console.width, indent, 0 if indent else INDENT), soft_wrap=True)

    def tell(index: int, text: str, outcome: Outcome, other: str | None) -> None:
        say(heading(index, outcome, console))
        say(Text(text, style=look_of(outcome).style), INDENT)
        # All its evidence stands in the one other text.
        named = {each.chunk_id: [other or ""] for each in _evidence(outcome)}
        for line in grounds(outcome, named, console):
            say(line, INDENT)

    say(_numbers(found))
    if not (found.of_answer.claims or found.of_reference.claims):
        for sentence in found.reference:  # nobody was asked: they have text, and no label
            say(Text(sentence.text, style="dim"), INDENT)
        return
    say(Text("the reference, by what the answer says of it", style="bold"))
    for sentence in found.reference:
        answer = sample.answer if sample else None
        tell(sentence.index, sentence.text, sentence.outcome, answer)
    beyond = [compared for compared in found.answer if not _is_said(compared)]
    if beyond:
        say(Text("in the answer, and not in the reference, or not wholly", style="bold"))
    for compared in beyond:
        gold = sample.gold_answer if sample else None
        tell(compared.index, result.sentences[compared.index].text, compared.outcome, gold)


def _evidence(outcome: Outcome) -> tuple[Evidence, ...]:
    return outcome.evidence if isinstance(outcome, Verdict) else ()


def _is_said(compared: ComparedSentence) -> bool:
    outcome = compared.outcome
    if not isinstance(outcome, Verdict) or outcome.fallback_from is not None:
        return False
    return outcome.support in _SAID


def _numbers(found: Correctness) -> Text:
    parts = [_WHY.get(found.status, found.status.value)]
    scores = {_measured(found): found.f1, "precision": found.precision, "recall": found.recall}
    parts.extend(f"{name} {number(value)}" for name, value in scores.items() if value is not None)
    unscored = found.of_answer.unscored + found.of_reference.unscored
    if unscored and found.f1_bounds:
        low, high = found.f1_bounds
        parts.append(f"between {number(low)} and {number(high)}: {unscored} unscored")
    if found.f1_with_fallback is not None:
        parts.append(f"with fallback {number(found.f1_with_fallback)}")
    return Text(f"reference: {' · '.join(parts)}", style="bold")


def _measured(found: Correctness) -> str:
    """What F1 is called: what similarity sees only looks so."""
    own = {verdict.source for verdict in _verdicts(found) if verdict.fallback_from is None}
    return "looks correct" if own == {"similarity"} else "correctness"


def _verdicts(found: Correctness) -> Iterator[Verdict]:
    outcomes = [compared.outcome for compared in found.answer]
    outcomes += [sentence.outcome for sentence in found.reference]
    return (outcome for outcome in outcomes if isinstance(outcome, Verdict))
