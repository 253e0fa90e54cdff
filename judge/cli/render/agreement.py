"""Print the agreement of the judge with the labels of people."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rich.text import Text

from judge.cli.terminal import Page, between, number
from judge.inputs.runs import AGREEMENT, PAGE
from judge.pages.agreement import Findings
from judge.pages.html import PageWords
from judge.records import Summary
from judge.review.records import Agreement, Share
from judge.text.visible import flat

_DISAGREEMENTS: Final = 3
_MIN_WIDTH: Final = 20
"""The fewest columns in which a sentence is shown."""


def print_agreement(agreement: Agreement, summary: Summary, folder: Path, page: Page) -> None:
    """Print the corrected score, the quality of the judge, its errors, and the written files."""
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
    if agreement.corrected:
        scores = (
            (
                words.of("terminal_score", score.name),
                number(score.raw),
                number(score.corrected),
                words("terminal.whole") if findings.whole else between(score),
                findings.difference(score),
            )
            for score in agreement.corrected
        )
        heads = ("mean", "judge", "people", "interval", "difference")
        page.table(words.heads("terminal", *heads), scores)
    if agreement.accuracy:
        labels = (
            (
                words.word("label", item.label),
                item.judged,
                item.labelled,
                _share(item.precision, words),
                _share(item.recall, words),
            )
            for item in agreement.accuracy
        )
        heads = ("labels", "judge", "people", "precision", "recall")
        page.table(words.heads("terminal", *heads), labels)
    _print_disagreements(agreement, findings, page)
    names = (str(folder / name) for name in (AGREEMENT, PAGE))
    page.copied(words("terminal.written", files=words("terminal.and").join(names)))


def _quality(agreement: Agreement, findings: Findings, words: PageWords) -> Iterator[str]:
    parts = [words("terminal.agreement", share=_share(agreement.agreement, words, "compared"))]
    if agreement.compared:
        parts[0] += words("terminal.by", count=agreement.compared)
    parts.append(f"kappa {_figure(agreement.kappa, findings.no_kappa, words)}")
    if agreement.base_rate is not None:
        parts[-1] += words("terminal.base_rate", share=words.percent(agreement.base_rate))
    yield words("terminal.apart").join(parts)
    alpha = _figure(agreement.alpha, findings.no_alpha, words)
    if agreement.shared:
        alpha += words("terminal.of", count=agreement.shared)
    yield words("terminal.alpha", alpha=alpha)


def _print_disagreements(agreement: Agreement, findings: Findings, page: Page) -> None:
    words, shown = findings.words, agreement.disagreements[:_DISAGREEMENTS]
    if shown:
        count = len(agreement.disagreements)
        title = words("terminal.disagreements", shown=len(shown), count=count)
        page.whole(Text(title, style="bold"))
    for item in shown:
        judge = words.word("label", item.judge)
        labels = words("terminal.said", judge=judge, people=findings.people(item))
        line = Text(f"  {flat(labels)} ")
        line.append(f"{flat(item.qid)} ", style="bold").append(flat(item.text))
        line.truncate(max(page.console.width, _MIN_WIDTH), overflow="ellipsis")
        page.whole(line)


def _share(share: Share | None, words: PageWords, why: str = "") -> str:
    if share is None:
        return words.unmeasured(why) if why else words("unmeasured.plain")
    return f"{number(share.value)} ({between(share)})"


def _figure(value: float | None, why: str, words: PageWords) -> str:
    return words.unmeasured(why) if value is None else number(value)
