"""What an exam found of a judge, printed."""

from collections.abc import Sequence
from typing import Final

from judge.cli.render.looks import gate_line
from judge.cli.terminal import Page, figures
from judge.exam.fitness import LEVELS
from judge.exam.records import ExamComparison, ExamReport, Turn
from judge.exam.words import Sheet, Words, categories, changed

_STYLES: Final = dict(zip(LEVELS, ("bold red", "yellow", "bold green"), strict=True))
_VERDICTS: Final = {"better": "bold green", "worse": "bold red", "untrusted": "bold red"}
_LISTED: Final = 20
"""Sentences that turned and are printed."""


def print_exam(report: ExamReport, page: Page) -> None:
    """Print what the judge is fit for and blind to, then accuracy, confusion, and the rest."""
    words, totals, fit = Words(page.lang), report.totals, report.fitness
    page.copied(words.title(report), style="bold")
    page.say(words.fit(report), style=_STYLES["unfit" if fit.untrusted else fit.level])
    for line in () if fit.untrusted else words.blind(fit):
        page.say(line, hang=2, style="yellow" if fit.blind else "")
    page.blank()
    levels = [each.level if each.level != "gating" else None for each in fit.criteria]
    _print(page, words.thresholds(fit), [_STYLES[level] if level else "" for level in levels])
    bold = ["" if group.category else "bold" for group in categories(totals)]
    _print(page, words.groups(totals), bold)
    if totals.confusion:
        _print(page, words.confusion(totals))
    for line in words.facts(report):
        page.say(line, hang=2)
    if totals.lost:
        page.say(words("lost", count=totals.lost), style="yellow", hang=2)
    page.blank()
    page.made_by([report.signature])
    for result in report.gates:
        page.whole(gate_line(result, page.lang))
    if report.against is not None:
        _print_against(report.against, page, words)


def _print_against(found: ExamComparison, page: Page, words: Words) -> None:
    """Print how a sitting stands to an earlier one: what turned, and how surely."""
    page.blank()
    page.copied(words.versus(found), style="bold")
    page.say(words.verdict(found), style=_VERDICTS.get(found.verdict, ""))
    for line in words.cautions(found):
        page.say(line, hang=2, style="yellow")
    page.say(words.apart(found), hang=2)
    page.blank()
    bold = ["" if rates.category else "bold" for rates in changed(found)]
    _print(page, words.changes(found), bold)
    if same := words.unchanged(found):
        page.say(same, hang=2)
    _print(page, words.beside(found))
    _print_turns(found.turned, page, words)
    page.made_by([found.first.signature])


def _print_turns(turned: Sequence[Turn], page: Page, words: Words) -> None:
    """The first of the sentences that turned wrong, then of those that turned right."""
    for key, right in (("wrong_now", False), ("right_now", True)):
        count = sum(turn.right is right for turn in turned)
        shown = [turn for turn in turned[:_LISTED] if turn.right is right]
        if shown:
            _print(page, words.turned(shown, words(f"against.{key}", count=f"{count:,}")))
    if len(turned) > _LISTED:
        page.say(words("against.more", count=f"{len(turned) - _LISTED:,}"), hang=2)


def _print(page: Page, sheet: Sheet, styles: Sequence[str] = ()) -> None:
    table = figures(*sheet.heads)
    for place, cells in enumerate(sheet.rows):
        table.add_row(*cells, style=styles[place] if styles else "")
    page.table(table)
