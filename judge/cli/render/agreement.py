"""Print how good the judge is by the labels of people."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from rich.text import Text

from judge.cli.terminal import Page, between, number
from judge.pages.agreement import Bias, Findings, Samples, Words, bias, stratum_bias
from judge.records import Sample, Summary
from judge.review.folder import files_of
from judge.review.records import Agreement, Disagreement, Share
from judge.text.visible import counted, flat

_WORDS: Final = Words("en")
_COUNTED: Final = ("partial counts half", "full support only")
_UNITS: Final = {"macro": "answers", "micro": "claims"}
_WAYS: Final = {"generous": "high", "strict": "low"}
_SHOWN: Final = 3
_STRATA: Final = 4
_CHUNKS: Final = 2
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
    findings = Findings(agreement, summary, _WORDS)
    page.say(findings.title, hang=4, style="bold")
    page.say(findings.headline())
    for caution in findings.cautions():
        page.say(caution, style="yellow")
    for note in findings.notes():
        page.say(note)
    for line in _quality(agreement, findings):
        page.say(line, hang=4)
    rows = (*_scores(agreement, findings), *_labels(agreement), *_strata(agreement))
    worst = agreement.disagreements[:_SHOWN]
    found = samples({item.qid for item in worst}) if samples and worst else {}
    for row in (*rows, *_disagreements(agreement, found, page)):
        page.whole(row)
    page.copied(
        f"written to {' and '.join(str(folder / name) for name in files_of(agreement.target))}"
    )


def _scores(agreement: Agreement, findings: Findings) -> Iterator[Text]:
    if agreement.corrected:
        yield _heading(f"{'mean over':<30} judge  people  95 % interval")
    for score in agreement.corrected:
        strict = score.name.endswith("_strict")
        words = f"{_UNITS[score.average]}, {_COUNTED[strict]}"
        span = "all labelled" if findings.whole else between(score.low, score.high)
        off = _off(bias(score), (score.raw or 0.0) - score.corrected, "no difference")
        pair = f"{number(score.raw):>5}   {number(score.corrected):>5}"
        yield Text(f"  {words:<28} {pair}  {span:<13}  {off}")


def _off(way: Bias | None, difference: float, same: str) -> str:
    if way is None:
        return _WORDS("unmeasured.plain")
    return same if way == "same" else f"{100 * abs(difference):.1f} too {_WAYS[way]}"


def _quality(agreement: Agreement, findings: Findings) -> Iterator[str]:
    line = f"mean over answers: agreement {_share(agreement.agreement, 'compared')}"
    if agreement.compared:
        line += f" by {counted(agreement.compared, 'label')}"
    if agreement.brier is not None:
        line += f"; Brier {number(agreement.brier)}, ECE {number(agreement.calibration_error)}"
    line += f"; kappa {_figure(agreement.kappa, findings.no_kappa)}"
    if agreement.base_rate is not None:
        line += f" (people call {_WORDS.percent(agreement.base_rate)} full)"
    yield line
    alpha = _figure(agreement.alpha, findings.no_alpha)
    if agreement.shared:
        alpha += f" (of {counted(agreement.shared, 'sentence')})"
    yield f"all sentences alike: alpha {alpha}"


def _labels(agreement: Agreement) -> Iterator[Text]:
    said = [item for item in agreement.accuracy if item.judged or item.labelled]
    if said:
        yield _heading(f"{'labels, over answers':<22} judge  people  precision             recall")
    for item in said:
        precision, recall = _share(item.precision), _share(item.recall)
        name = _WORDS.named("label", item.label)
        counts = f"{item.judged:>5}   {item.labelled:>5}"
        yield Text(f"  {name:<20} {counts}  {precision:<20}  {recall}")


def _strata(agreement: Agreement) -> Iterator[Text]:
    """The strata that move the score most."""
    worst = sorted(agreement.strata, key=lambda h: -abs((h.share or 0.0) * (h.error or 0.0)))
    worst = worst[:_STRATA]
    names = [_WORDS.stratum(stratum) for stratum in worst]
    wide = max(map(len, names), default=0)
    if names:
        unit = "claims" if agreement.by == "sentence" else "answers"
        among = f"strata, over answers ({len(worst)} of {len(agreement.strata)})"
        yield _heading(f"{among:<{wide + 2}} {unit:>8} labelled  judge, points")
    for name, stratum in zip(names, worst, strict=True):
        labelled = f"{stratum.labelled}/{stratum.drawn}"
        off = _off(stratum_bias(stratum), stratum.error or 0.0, "right")
        yield Text(f"  {name:<{wide}} {stratum.units:>8} {labelled:>8}  {off}")


def _disagreements(
    agreement: Agreement, samples: Mapping[str, Sample], page: Page
) -> Iterator[Text]:
    found = agreement.disagreements
    if not found:
        return
    shown = found[:_SHOWN]
    yield _heading(f"Disagreements, worst first ({len(shown)} of {len(found)})")
    for item in shown:
        labels = dict.fromkeys(_WORDS.named("label", label) for label in item.people.values())
        said = f"judge {_WORDS.named('label', item.judge)}, people {' / '.join(labels)}:"
        line = Text(f"  {flat(said)} ")
        line.append(f"{flat(item.qid)} ", style="bold").append(flat(item.text))
        for each in (line, *_grounds(item, samples.get(item.qid))):
            # As many lines as were promised, however wide the letters are.
            each.truncate(max(page.console.width, _LEAST), overflow="ellipsis")
            yield each


def _grounds(item: Disagreement, sample: Sample | None) -> Iterator[Text]:
    """The question, and the first chunks; before them the one that the judge quotes."""
    if sample is None:
        return
    if sample.query:
        yield Text(f"    question  {flat(sample.query)}", style="dim")
    chunks = sorted(sample.chunks, key=lambda chunk: not item.quote or item.quote not in chunk.text)
    for chunk in chunks[:_CHUNKS]:
        start = max(0, chunk.text.find(item.quote)) if item.quote else 0
        text = f"{'…' if start else ''}{flat(chunk.text[start : start + _LONGEST])}"
        yield Text(f"    {flat(chunk.chunk_id)}  {text}", style="dim")
    if len(chunks) > _CHUNKS:
        yield Text(f"    and {counted(len(chunks) - _CHUNKS, 'chunk')} more", style="dim")


def _share(share: Share | None, why: str = "") -> str:
    if share is None:
        return _WORDS.unmeasured(why) if why else _WORDS("unmeasured.plain")
    return f"{number(share.value)} ({between(share.low, share.high)})"


def _figure(value: float | None, why: str) -> str:
    return _WORDS.unmeasured(why) if value is None else number(value)


def _heading(words: str) -> Text:
    return Text(words, style="bold")
