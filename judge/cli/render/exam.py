"""What an exam found of a judge, printed."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.table import Table

from judge.cli.render.looks import gate_line
from judge.cli.terminal import Page, between, figures, number, words
from judge.exam.comparison import beside, points, told
from judge.exam.fitness import LEVELS
from judge.exam.records import (
    Criterion,
    ExamComparison,
    ExamReport,
    ExamTotals,
    Group,
    Rate,
    Turn,
)
from judge.exam.scores import UNSCORED
from judge.messages import LANGS, Messages
from judge.records import Support
from judge.review.census import NEVER_PARTIAL
from judge.signature import Signature
from judge.text.visible import flat

_STYLES: Final = dict(zip(LEVELS, ("bold red", "yellow", "bold green"), strict=True))
_VERDICTS: Final = {"better": "bold green", "worse": "bold red", "untrusted": "bold red"}
_TURNED: Final = ("sentence", "gold", "first", "now")
_LISTED: Final = 20
"""Sentences that turned and are printed."""


def print_exam(report: ExamReport, page: Page) -> None:
    """Print what the judge is fit for and blind to, then accuracy, confusion, and the rest."""
    texts, lang = Messages.of("exam"), page.lang
    totals, fit = report.totals, report.fitness
    sizes = {"items": f"{totals.items:,}", "sentences": f"{totals.sentences:,}"}
    page.copied(texts("title", lang, version=report.items, **sizes), style="bold")
    if fit.untrusted:
        share = f"{100 * sum(totals.unscored.values()) / totals.sentences:.1f} %"
        page.say(texts("fit.untrusted", lang, share=share), style="bold red")
    else:
        page.say(texts(f"fit.{fit.level}", lang), style=_STYLES[fit.level])
        for line in _blind(report, page):
            page.say(line, hang=2, style="yellow" if fit.blind else "")
    page.blank()
    for table in (_thresholds(fit.criteria, page), _groups(totals, page), _confusion(totals, page)):
        page.table(table)
    for line in _lines(report, page):
        page.say(line, hang=2)
    if totals.lost:
        page.say(texts("lost", lang, count=totals.lost), style="yellow", hang=2)
    page.blank()
    page.made_by([report.signature])
    for result in report.gates:
        page.whole(gate_line(result, lang))
    if report.against is not None:
        _print_against(report.against, page)


def _print_against(found: ExamComparison, page: Page) -> None:
    """Print how a sitting stands to an earlier one: what turned, and how surely."""
    say, lang, rates = words("exam", "against", page.lang), page.lang, found.accuracy
    first, now = found.first, found.now
    page.blank()
    sizes = {"items": f"{now.totals.items:,}", "sentences": f"{rates.of:,}"}
    page.copied(say("title", **sizes), style="bold")
    page.say(told(found, lang), style=_VERDICTS.get(found.verdict, ""))
    if first.items != now.items:
        page.say(say("other_items", first=first.items, now=now.items), hang=2, style="yellow")
    if found.only_first or found.only_now:
        page.say(say("only", first=found.only_first, now=found.only_now), hang=2, style="yellow")
    page.say(say("apart", parts="; ".join(found.apart)) if found.apart else say("alike"), hang=2)
    page.blank()
    page.table(_changes(found, page))
    same = [each.category or "" for each in found.categories if not each.better + each.worse]
    if same:
        joint = Messages.of("exam")("blind.joint", lang)
        page.say(say("same", names=joint.join(category(name, page) for name in same)), hang=2)
    page.table(_beside(found, page))
    _print_turns(found.turned, page)
    page.made_by([first.signature])


def _changes(found: ExamComparison, page: Page) -> Table:
    """By all labels, by full or rest, and by each category in which a sentence turned."""
    say = words("exam", "against", page.lang)
    heads = ("first", "now", "difference", "interval", "turned", "p", "p_holm")
    table = figures("", *map(say, heads))
    whole = {say("accuracy"): found.accuracy, say("binary"): found.binary}
    own = {category(r.category or "", page): r for r in found.categories if r.better + r.worse}
    for name, rates in (whole | own).items():
        table.add_row(
            name,
            number(rates.first / rates.of),
            number(rates.now / rates.of),
            points(rates.difference),
            f"{points(rates.low)} … {points(rates.high)}",
            f"{rates.better:,} / {rates.worse:,}",
            number(rates.p),
            number(rates.p_holm),
            style="bold" if rates.category is None else "",
        )
    return table


def _beside(found: ExamComparison, page: Page) -> Table:
    """What else is known of both, beside each other."""
    say = words("exam", "against", page.lang)
    table = figures("", say("first"), say("now"))
    for name, first, now in beside(found):
        table.add_row(say(name), first, now)
    return table


def _print_turns(turned: Sequence[Turn], page: Page) -> None:
    """The first of the sentences that turned wrong, then of those that turned right."""
    say, label = words("exam", "against", page.lang), words("looks", "label", page.lang)
    for key, right in (("wrong_now", False), ("right_now", True)):
        own = [turn for turn in turned if turn.right is right]
        shown = [turn for turn in turned[:_LISTED] if turn.right is right]
        if not shown:
            continue
        table = figures(say(key, count=f"{len(own):,}"), *map(say, _TURNED))
        for turn in shown:
            gold = turn.gold or (Support.FULL if turn.supported else "rest")
            said = (label(each or UNSCORED) for each in (turn.first, turn.now))
            gold = say("rest") if gold == "rest" else label(gold)
            table.add_row(flat(turn.qid), str(turn.sentence + 1), gold, *said)
        page.table(table)
    if len(turned) > _LISTED:
        page.say(say("more", count=f"{len(turned) - _LISTED:,}"), hang=2)


def category(name: str, page: Page) -> str:
    """The word for a category that ships; the name itself of one's own."""
    texts, key = Messages.of("exam"), f"category.{name}"
    return texts(key, page.lang) if key in texts else flat(name)


def _blind(report: ExamReport, page: Page) -> Iterator[str]:
    """The categories that it does not see, in a line for each way of not seeing."""
    say, spots = words("exam", "blind", page.lang), report.fitness.blind
    for why in dict.fromkeys(spot.why for spot in spots):
        named = (
            say("spot", category=category(spot.category, page), **_counts(spot.found))
            for spot in spots
            if spot.why == why
        )
        yield say(why, spots=say("joint").join(named))
    if not spots:
        yield say("none")


def _thresholds(criteria: tuple[Criterion, ...], page: Page) -> Table:
    say, level = words("exam", "table", page.lang), words("exam", "level", page.lang)
    name = words("exam", "criterion", page.lang)
    table = figures(*map(say, ("threshold", "found", "gating", "watching", "fit")))
    for each in criteria:
        bounds = (f"{bound:g}" for bound in (each.gating, each.watching))
        side = "least" if each.least else "most"
        table.add_row(
            name(each.name),
            number(each.value),
            *(say(side, bound=bound) for bound in bounds),
            level(each.level or "open"),
            style=_STYLES[each.level] if each.level in {"unfit", "watching"} else "",
        )
    return table


def _groups(totals: ExamTotals, page: Page) -> Table:
    """Accuracy by category, and of each in both languages."""
    say = words("exam", "table", page.lang)
    heads = ("category", "interval", *LANGS, "binary", "traps", "sentences")
    table = figures("", *map(say, heads))
    found = {(each.category, each.language): each for each in totals.groups}
    for group in totals.groups:
        if group.language is not None:
            continue
        table.add_row(
            say("all") if group.category is None else category(group.category, page),
            number(group.accuracy.value),
            between(group.accuracy.low, group.accuracy.high),
            *(_right(found.get((group.category, language))) for language in LANGS),
            number(group.binary.value),
            _of(group.traps),
            f"{group.accuracy.of:,}",
            style="bold" if group.category is None else "",
        )
    return table


def _right(group: Group | None) -> str:
    return number(group.accuracy.value if group else None)


def _of(found: Rate | None) -> str:
    return f"{found.hits:,}/{found.of:,}" if found else "–"


def _confusion(totals: ExamTotals, page: Page) -> Table:
    say, label = words("exam", "table", page.lang), words("looks", "label", page.lang)
    columns = (*Support, *([UNSCORED] if totals.unscored else []))
    table = figures(say("confusion"), *map(label, columns))
    for gold, said in totals.confusion.items():
        cells = (f"{said[name]:,}" if name in said else "·" for name in columns)
        table.add_row(label(gold), *cells)
    return table


def _lines(report: ExamReport, page: Page) -> Iterator[str]:
    say, totals, cost = words("exam", "line", page.lang), report.totals, report.cost
    if Signature.parse(report.signature).source in NEVER_PARTIAL:
        yield say("coarse")
    yield say("scores", f1=number(totals.macro_f1), kappa=number(totals.kappa))
    rates = {"quotes": totals.quotes, "citations": totals.citations, "obeyed": totals.obeyed}
    for name, found in (rates | totals.flips).items():
        if found is not None:
            limits = {"low": number(found.low), "high": number(found.high)}
            yield say(name, rate=say("rate", **_counts(found), **limits))
    if totals.unscored:
        why = words("looks", "unscored", page.lang)
        told = (say("reason", count=n, reason=why(each)) for each, n in totals.unscored.items())
        yield say("unscored", reasons=say("joint").join(told))
    if cost.calls:
        yield say(
            "cost",
            calls=f"{cost.calls:,}",
            prompt=f"{cost.prompt_tokens:,}",
            reply=f"{cost.reply_tokens:,}",
            price="" if cost.cost is None else say("price", cost=f"{cost.cost:,.4g}"),
            seconds="" if cost.seconds is None else say("seconds", seconds=f"{cost.seconds:.1f}"),
        )


def _counts(found: Rate) -> dict[str, str]:
    return {"hits": f"{found.hits:,}", "of": f"{found.of:,}"}
