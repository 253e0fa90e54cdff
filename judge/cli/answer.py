"""One answer, printed: tinted and marked by support, with evidence, citations and reasons."""

from collections.abc import Iterator
from typing import Final

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from judge.cli.paint import CITATION_STYLES, legend, look_of, mark, number
from judge.cli.wrap import wrap
from judge.records import (
    Citation,
    Evidence,
    Excluded,
    Sample,
    SampleResult,
    SentenceResult,
    Unscored,
    Verdict,
)

_INDENT: Final = 5
_AROUND: Final = 80
"""Characters of a chunk shown on either side of a quote."""


def print_answer(result: SampleResult, sample: Sample | None, console: Console) -> None:
    """Print a result.

    Args:
        result: what to show.
        sample: the sample it was made from; without it, quotes stand without their surroundings.
        console: where to.
    """

    def say(text: Text, indent: int = 0) -> None:
        console.print(wrap(text, console.width, indent), soft_wrap=True)

    console.print(Rule(Text(result.qid, style="bold"), align="left", style="dim"))
    if sample and sample.query:
        say(Text(f"question  {sample.query}"))
    say(_scores(result))
    general = [flag.name.value for flag in result.flags if flag.sentence is None]
    if general:
        say(Text(f"flags  {', '.join(general)}", style="yellow"))
    console.print()
    say(_answer(result, sample, console))
    console.print()
    chunks: dict[str, list[str]] = {}
    for chunk in sample.chunks if sample else ():
        chunks.setdefault(chunk.chunk_id, []).append(chunk.text)
    for sentence in result.sentences:
        if isinstance(sentence.outcome, Excluded):
            continue
        say(_heading(sentence, console))
        for line in _details(sentence, result, chunks):
            say(line, _INDENT)
    for line in _elsewhere(result):
        say(line)
    console.print()
    say(legend(console))
    # A signature is copied and compared: it is not broken into lines.
    console.print(Text(f"made by {result.signature}", style="dim"), soft_wrap=True)


def _scores(result: SampleResult) -> Text:
    scores = result.scores
    parts = [result.status.value.replace("_", " ")]
    if scores.faithfulness is not None:
        parts.append(f"faithfulness {number(scores.faithfulness)}")
    if scores.unscored and scores.faithfulness_bounds:
        low, high = scores.faithfulness_bounds
        parts.append(f"between {number(low)} and {number(high)}: {scores.unscored} unscored")
    if scores.coverage is not None:
        parts.append(f"citation coverage {number(scores.coverage)}")
    if scores.citation_validity is not None:
        parts.append(f"citation validity {number(scores.citation_validity)}")
    return Text(" · ".join(parts), style="bold")


def _answer(result: SampleResult, sample: Sample | None, console: Console) -> Text:
    text = Text()
    position = 0
    for sentence in result.sentences:
        if sample is not None:
            text.append(sample.answer[position : sentence.start])
        elif position:
            text.append("\n")
        look = look_of(sentence.outcome)
        label = "" if isinstance(sentence.outcome, Excluded) else f"{sentence.index + 1} "
        text.append(f"{mark(look, console)}{label}" if label else "", style=f"bold {look.style}")
        text.append(sentence.text, style=look.style)
        position = sentence.end
    return text if result.sentences else Text("(an empty answer)", style="dim")


def _heading(sentence: SentenceResult, console: Console) -> Text:
    look = look_of(sentence.outcome)
    line = Text(f"{mark(look, console)}{sentence.index + 1:<3} {look.word}", style=look.style)
    outcome = sentence.outcome
    if isinstance(outcome, Verdict):
        if outcome.score is not None:
            line.append(f", P(supported) {outcome.score:.2f}")
        if outcome.fallback_from is not None:
            line.append(f", by {outcome.source}: {outcome.fallback_from.reason.value}", "cyan")
    if isinstance(outcome, Unscored):
        line.append(f": {outcome.reason.value} {outcome.detail}".rstrip())
    return line


def _details(
    sentence: SentenceResult, result: SampleResult, chunks: dict[str, list[str]]
) -> Iterator[Text]:
    outcome = sentence.outcome
    if isinstance(outcome, Verdict):
        if outcome.reason:
            yield Text(outcome.reason)
        for evidence in outcome.evidence:
            yield _quote(evidence, chunks)
    for citation in result.citations:
        if citation.sentence == sentence.index:
            yield _citation(citation)
    for flag in result.flags:
        if flag.sentence == sentence.index:
            yield Text(f"flag {flag.name.value}", style="yellow")


def _quote(evidence: Evidence, chunks: dict[str, list[str]]) -> Text:
    line = Text(f"{evidence.chunk_id}  ", style="bold")
    if not evidence.verified or evidence.start is None or evidence.end is None:
        line.append("not found there: ", style="yellow")
        return line.append(f"«{_flat(evidence.quote)}»")
    start, end = evidence.start, evidence.end
    texts = chunks.get(evidence.chunk_id, [])
    text = next((text for text in texts if text[start:end] == evidence.quote), None)
    if text is None:
        return line.append(f"«{_flat(evidence.quote)}»")
    before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    line.append("…" if start > _AROUND else "").append(_flat(before), style="dim")
    line.append(f"«{_flat(evidence.quote)}»")
    return line.append(_flat(after), style="dim").append("…" if end + _AROUND < len(text) else "")


def _flat(text: str) -> str:
    """One line, the space at its ends kept as one space."""
    flat = " ".join(text.split())
    return (" " if text[:1].isspace() else "") + flat + (" " if text[-1:].isspace() else "")


def _citation(citation: Citation) -> Text:
    line = Text(f"cites {citation.marker} ")
    if citation.chunk_id is not None and citation.chunk_id not in citation.marker:
        line.append(f"= {citation.chunk_id} ")
    if citation.status is None:
        return line.append("not counted", style="dim")
    line.append(citation.status.value, style=CITATION_STYLES[citation.status])
    if citation.suggested is not None:
        line.append(f", {citation.suggested} would hold")
    return line


def _elsewhere(result: SampleResult) -> Iterator[Text]:
    """Citations in sentences that are no claims: listed, never counted."""
    for citation in result.citations:
        if isinstance(result.sentences[citation.sentence].outcome, Excluded):
            yield Text(f"·{citation.sentence + 1:<3} ", style="dim").append(_citation(citation))
