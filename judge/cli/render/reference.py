"""How one answer agrees with its reference, printed."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from judge.cli.render.grounds import INDENT, grounds, heading
from judge.cli.render.paint import look_of, number
from judge.cli.render.wording import meaning
from judge.cli.render.wrap import wrap
from judge.records import (
    ComparedSentence,
    Correctness,
    CorrectnessStatus,
    Evidence,
    Flag,
    Outcome,
    Sample,
    SampleResult,
    SentenceResult,
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
    page = _Page(sample, console)
    page.say(_numbers(found))
    if not (found.of_answer.claims or found.of_reference.claims):
        for sentence in found.reference:  # nobody was asked: they have text, and no label
            page.say(Text(sentence.text, style="dim"), INDENT)
        return
    page.covered(found)
    page.beyond(found, result)


class _Page:
    def __init__(self, sample: Sample | None, console: Console) -> None:
        self._answer = (sample.answer if sample else None) or ""
        self._gold = (sample.gold_answer if sample else None) or ""
        self._console = console

    def covered(self, found: Correctness) -> None:
        """The reference, sentence by sentence."""
        self.say(Text("the reference, by what the answer says of it", style="bold"))
        for each in found.reference:
            self._tell(each, each.text, self._answer, found.reference_flags)

    def beyond(self, found: Correctness, result: SampleResult) -> None:
        """What of the answer the reference does not say, or not for sure."""
        flagged = {flag.sentence for flag in found.answer_flags}
        rest = [each for each in found.answer if each.index in flagged or not _is_said(each)]
        if rest:
            title = "in the answer, and not, not wholly or not surely in the reference"
            self.say(Text(title, style="bold"))
        for each in rest:
            text = result.sentences[each.index].text
            self._tell(each, text, self._gold, found.answer_flags)

    def _tell(
        self,
        claim: SentenceResult | ComparedSentence,
        text: str,
        other: str,
        flags: Sequence[Flag],
    ) -> None:
        self.say(heading(claim.index, claim.outcome, self._console))
        self.say(Text(text, style=look_of(claim.outcome).style), INDENT)
        # All its evidence stands in the one other text.
        named = {each.chunk_id: [other] for each in _evidence(claim.outcome)}
        for line in grounds(claim.outcome, named, self._console):
            self.say(line, INDENT)
        for flag in flags:
            if flag.sentence == claim.index:
                said = f"flag {flag.name.value}  {meaning(flag)}"
                self.say(Text(said, style="yellow"), INDENT)

    def say(self, text: Text, indent: int = 0) -> None:
        """Print lines that fit the terminal."""
        hang = 0 if indent else INDENT
        self._console.print(wrap(text, self._console.width, indent, hang), soft_wrap=True)


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
