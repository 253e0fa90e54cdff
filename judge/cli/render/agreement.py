"""Print how good the judge is by the labels of people."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from judge.cli.terminal import Page, between, number
from judge.pages.agreement import Bias, Findings, Samples, bias, stratum_bias
from judge.pages.words import Words
from judge.records import Sample, Summary
from judge.review.folder import files_of
from judge.review.records import Agreement, Disagreement, Share
from judge.text.visible import flat

_SHOWN: Final = 3
_STRATA: Final = 4
_CHUNKS: Final = 2
_SCORES: Final = {
    ("macro", False): "terminal_halves.macro",
    ("macro", True): "terminal_strict.macro",
    ("micro", False): "terminal_halves.micro",
    ("micro", True): "terminal_strict.micro",
}
"""The names of scores, by their average and whether only full support counts."""
_BIASES: Final = {"generous": "terminal.generous", "strict": "terminal.strict"}
_LONGEST: Final = 500
"""Characters of a chunk, of which a line holds what it can."""
_LEAST: Final = 20
"""The fewest columns of a sentence that are shown."""


def print_agreement(
    agreement: Agreement,
    summary: Summary,
    folder: Path,
    page: Page,
    samples: Samples | None = None,
) -> None:
    """Print the corrected score, how good the judge is, where it errs, and where the files lie."""
    findings = Findings(agreement, summary)
    words = findings.words
    page.say(findings.title, hang=4, style="bold")
    page.say(findings.headline())
    for caution in findings.cautions():
        page.say(caution, style="yellow")
    for note in findings.notes():
        page.say(note)
    for line in _quality(agreement, findings, words):
        page.say(line, hang=4)
    rows = (
        *_scores(agreement, findings, words),
        *_labels(agreement, words),
        *_strata(agreement, findings),
    )
    worst = agreement.disagreements[:_SHOWN]
    found = samples({item.qid for item in worst}) if samples and worst else {}
    for row in (*rows, *_disagreements(agreement, found, page, findings)):
        page.whole(row)
    names = (str(folder / name) for name in files_of(agreement.target))
    page.copied(words("terminal.written", files=words("terminal.and").join(names)))


def _scores(agreement: Agreement, findings: Findings, words: Words) -> Iterator[Text]:
    if agreement.corrected:
        mean = _wide(words("terminal.mean"), 30)
        yield _heading(mean + words("terminal.pair") + words("terminal.interval"))
    for score in agreement.corrected:
        name = words(_SCORES[score.average, score.name.endswith("_strict")])
        whole = words("terminal.whole")
        span = whole if findings.whole else between(score.low, score.high)
        same = words("terminal.same")
        off = _off(bias(score), (score.raw or 0.0) - score.corrected, same, words)
        pair = f"{number(score.raw):>5}   {number(score.corrected):>5}"
        yield Text(f"  {_wide(name, 28)} {pair}  {_wide(span, 13)}  {off}")


def _off(way: Bias | None, difference: float, same: str, words: Words) -> str:
    if way is None:
        return words("unmeasured.plain")
    points = f"{100 * abs(difference):.1f}"
    return same if way == "same" else words(_BIASES[way], points=points)


def _quality(agreement: Agreement, findings: Findings, words: Words) -> Iterator[str]:
    said = [words("terminal.agreement", share=_share(agreement.agreement, words, "compared"))]
    if agreement.compared:
        said[0] += words("terminal.by", count=agreement.compared)
    if agreement.brier is not None:
        ece = number(agreement.calibration_error)
        said.append(words("terminal.brier", brier=number(agreement.brier), ece=ece))
    said.append(f"kappa {_figure(agreement.kappa, findings.no_kappa, words)}")
    if agreement.base_rate is not None:
        said[-1] += words("terminal.base_rate", share=words.percent(agreement.base_rate))
    yield words("terminal.apart").join(said)
    alpha = _figure(agreement.alpha, findings.no_alpha, words)
    if agreement.shared:
        alpha += words("terminal.of", count=agreement.shared)
    yield words("terminal.alpha", alpha=alpha)


def _labels(agreement: Agreement, words: Words) -> Iterator[Text]:
    said = [item for item in agreement.accuracy if item.judged or item.labelled]
    if said:
        head = _wide(words("terminal.labels"), 22) + " " + words("terminal.pair")
        yield _heading(
            f"{head}{_wide(words('terminal.precision'), 20)}  {words('terminal.recall')}"
        )
    for item in said:
        precision, recall = _share(item.precision, words), _share(item.recall, words)
        name = _wide(words.named("label", item.label), 20)
        counts = f"{item.judged:>5}   {item.labelled:>5}"
        yield Text(f"  {name} {counts}  {_wide(precision, 20)}  {recall}")


def _strata(agreement: Agreement, findings: Findings) -> Iterator[Text]:
    """The strata that move the score most."""
    words = findings.words
    worst = sorted(agreement.strata, key=lambda h: -abs(h.share * (h.error or 0.0)))
    worst = worst[:_STRATA]
    names = [findings.stratum(stratum) for stratum in worst]
    wide = max(map(cell_len, names), default=0)
    if names:
        among = words("terminal.strata", shown=len(worst), count=len(agreement.strata))
        units = _wide(words("terminal.units"), 8, right=True)
        yield _heading(f"{_wide(among, wide + 2)} {units} {words('terminal.labelled')}")
    for name, stratum in zip(names, worst, strict=True):
        labelled = f"{stratum.labelled}/{stratum.drawn}"
        right = words("stratum.right")
        off = _off(stratum_bias(stratum), stratum.error or 0.0, right, words)
        yield Text(f"  {_wide(name, wide)} {stratum.units:>8} {labelled:>8}  {off}")


def _disagreements(
    agreement: Agreement, samples: Mapping[str, Sample], page: Page, findings: Findings
) -> Iterator[Text]:
    found, words = agreement.disagreements, findings.words
    if not found:
        return
    shown = found[:_SHOWN]
    yield _heading(words("terminal.disagreements", shown=len(shown), count=len(found)))
    for item in shown:
        labels = dict.fromkeys(words.named("label", label) for label in item.people.values())
        judge, people = words.named("label", item.judge), " / ".join(labels)
        line = Text(f"  {flat(words('terminal.said', judge=judge, people=people))} ")
        line.append(f"{flat(item.qid)} ", style="bold").append(flat(item.text))
        for each in (line, *_grounds(item, samples.get(item.qid), findings)):
            # As many lines as were promised, however wide the letters are.
            each.truncate(max(page.console.width, _LEAST), overflow="ellipsis")
            yield each


def _grounds(item: Disagreement, sample: Sample | None, findings: Findings) -> Iterator[Text]:
    """The question, and the first chunks; before them the one that the judge quotes."""
    if sample is None:
        return
    if sample.query:
        yield Text(f"    {findings.words('terminal.question')}  {flat(sample.query)}", style="dim")
    chunks = sorted(sample.chunks, key=lambda chunk: not item.quote or item.quote not in chunk.text)
    for chunk in chunks[:_CHUNKS]:
        start = max(0, chunk.text.find(item.quote)) if item.quote else 0
        text = f"{'…' if start else ''}{flat(chunk.text[start : start + _LONGEST])}"
        yield Text(f"    {flat(findings.place(chunk.chunk_id))}  {text}", style="dim")
    if (more := len(chunks) - _CHUNKS) > 0:
        yield Text(f"    {findings.words('terminal.chunks', count=more)}", style="dim")


def _share(share: Share | None, words: Words, why: str = "") -> str:
    if share is None:
        return words.unmeasured(why) if why else words("unmeasured.plain")
    return f"{number(share.value)} ({between(share.low, share.high)})"


def _figure(value: float | None, why: str, words: Words) -> str:
    return words.unmeasured(why) if value is None else number(value)


def _wide(text: str, width: int, *, right: bool = False) -> str:
    """Return the text padded to a width in columns; a Chinese character has two."""
    blank = " " * (width - cell_len(text))
    return blank + text if right else text + blank


def _heading(words: str) -> Text:
    return Text(words, style="bold")
