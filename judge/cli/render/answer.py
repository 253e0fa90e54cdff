"""One answer, printed: tinted and marked by support, with evidence, citations and reasons."""

from collections import defaultdict
from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from judge.cli.render.grounds import INDENT, grounds, heading
from judge.cli.render.paint import CITATION_STYLES, EXCLUDED_LOOK, legend, look_of, mark, number
from judge.cli.render.reference import print_reference
from judge.cli.render.wording import meaning
from judge.cli.render.wrap import wrap
from judge.records import Citation, Excluded, Sample, SampleResult, Verdict
from judge.text.visible import flat, visible


def print_answer(result: SampleResult, sample: Sample | None, console: Console) -> None:
    """Print a result.

    Args:
        result: what to show.
        sample: the sample it was made from; without it, quotes stand without their surroundings.
        console: where to.
    """

    def say(text: Text, indent: int = 0, hang: int = 0) -> None:
        console.print(wrap(text, console.width, indent, hang), soft_wrap=True)

    _title(result.qid, console)
    for line in _head(result, sample):
        say(line)
    console.print()
    say(_answer(result, sample, console))
    console.print()
    chunks: dict[str, list[str]] = {}
    for chunk in sample.chunks if sample else ():
        chunks.setdefault(chunk.chunk_id, []).append(chunk.text)
    notes = _notes(result)
    for sentence in result.sentences:
        if isinstance(sentence.outcome, Excluded):
            continue
        say(heading(sentence.index, sentence.outcome, console), hang=INDENT)
        for line in (*grounds(sentence.outcome, chunks, console), *notes[sentence.index]):
            say(line, INDENT)
    for line in _elsewhere(result, console):
        say(line, hang=INDENT)
    console.print()
    if result.correctness is not None:
        print_reference(result, result.correctness, sample, console)
        console.print()
    say(legend(console))
    # A signature is copied and compared: it is not broken into lines.
    console.print(Text(f"made by {visible(result.signature)}", style="dim"), soft_wrap=True)
    if result.correctness is not None:
        made = f"correctness made by {visible(result.correctness.signature)}"
        console.print(Text(made, style="dim"), soft_wrap=True)


def _head(result: SampleResult, sample: Sample | None) -> Iterator[Text]:
    if sample is None:
        gone = "the input is gone or has another answer now: quotes stand without surroundings"
        yield Text(gone, style="dim")
    elif sample.query:
        yield Text(f"question  {sample.query}")
    yield _scores(result)
    general = [flag.name.value for flag in result.flags if flag.sentence is None]
    if general:
        yield Text(f"flags  {', '.join(general)}", style="yellow")


def _title(qid: str, console: Console) -> None:
    title = Text(flat(qid), style="bold")
    if cell_len(title.plain) > console.width - INDENT:  # a rule would cut it
        console.print(wrap(title, console.width), soft_wrap=True)
    else:
        console.print(Rule(title, align="left", style="dim"))


def _scores(result: SampleResult) -> Text:
    scores = result.scores
    parts = [result.status.value.replace("_", " ")]
    if scores.faithfulness is not None:
        parts.append(f"{_measured(result)} {number(scores.faithfulness)}")
    if scores.unscored and scores.faithfulness_bounds:
        low, high = scores.faithfulness_bounds
        parts.append(f"between {number(low)} and {number(high)}: {scores.unscored} unscored")
    if scores.faithfulness_with_fallback is not None:
        parts.append(f"with fallback {number(scores.faithfulness_with_fallback)}")
    citing = {"coverage": scores.coverage, "validity": scores.citation_validity}
    cited = ", ".join(f"{name} {number(x)}" for name, x in citing.items() if x is not None)
    if cited:
        parts.append(f"citation {cited}")
    return Text(" · ".join(parts), style="bold")


def _measured(result: SampleResult) -> str:
    """What the main number is called: similarity measures no faithfulness."""
    verdicts = [s.outcome for s in result.sentences if isinstance(s.outcome, Verdict)]
    own = {verdict.source for verdict in verdicts if verdict.fallback_from is None}
    return "looks supported" if own == {"similarity"} else "faithfulness"


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


def _notes(result: SampleResult) -> defaultdict[int, list[Text]]:
    """By sentence: what became of its citations, and its flags."""
    notes: defaultdict[int, list[Text]] = defaultdict(list)
    for citation in result.citations:
        notes[citation.sentence].append(_citation(citation))
    for flag in result.flags:
        if flag.sentence is not None:
            line = f"flag {flag.name.value}  {meaning(flag)}"
            notes[flag.sentence].append(Text(line, style="yellow"))
    return notes


def _citation(citation: Citation) -> Text:
    line = Text(f"cites {flat(citation.marker)} ")
    if citation.chunk_id is not None and citation.chunk_id not in citation.marker:
        line.append(f"= {flat(citation.chunk_id)} ")
    if citation.status is None:
        return line.append("not counted", style="dim")
    line.append(citation.status.value, style=CITATION_STYLES[citation.status])
    if citation.suggested is not None:
        line.append(f", {flat(citation.suggested)} would hold")
    return line


def _elsewhere(result: SampleResult, console: Console) -> Iterator[Text]:
    """Citations in sentences that are no claims: listed, never counted."""
    for citation in result.citations:
        if isinstance(result.sentences[citation.sentence].outcome, Excluded):
            place = f"{mark(EXCLUDED_LOOK, console)}{citation.sentence + 1:<3} "
            yield Text(place, style="dim").append_text(_citation(citation))
