"""Print the report of an exam."""

from collections.abc import Iterator
from typing import Final

from rich.text import Text

from judge.cli.render.answers import gate_line
from judge.cli.terminal import Page, between, chance, number, signed
from judge.exam.fitness import LEVELS
from judge.exam.records import ExamComparison, ExamReport, ExamTotals, Level, PairedRates
from judge.exam.scores import UNSCORED
from judge.messages import Messages
from judge.records import Support
from judge.review.draws import NEVER_PARTIAL
from judge.signature import Signature
from judge.text.visible import counted, flat, plural, short

_STYLES: Final[dict[Level, str]] = dict(
    zip(LEVELS, ("bold red", "yellow", "bold green"), strict=True)
)
_VERDICTS: Final = {"better": "bold green", "worse": "bold red", "untrusted": "bold red"}
_FIT: Final[dict[Level, str]] = {
    "gating": "Fit for gating: a build may fail because of its verdicts.",
    "watching": "Fit for watching a trend while people check what it flags; not for gating.",
    "unfit": "Fit neither for gating nor for watching.",
}
_CRITERIA: Final = {
    "binary": "full or rest, each counting half, lower limit",
    "language": "the same in the worse language",
    "accuracy": "all labels, lower limit",
    "obeyed": "items whose hidden order was obeyed",
    "quotes": "quotes found in their chunk, lower limit",
    "unscored": "sentences without a verdict",
    "flips": "labels that changed in a repeat",
}
"""The words for the criteria of `judge.exam.fitness.THRESHOLDS`."""
_SHARES: Final = {
    "quotes": "quotes found in their chunk",
    "citations": "citations judged right",
    "obeyed": "items whose hidden order was obeyed",
    "flips": "labels that changed in a repeat",
}
_LANGUAGES: Final = {"en": "English", "zh": "Chinese"}


def print_exam(report: ExamReport, page: Page) -> None:
    """Print the fitness and the blind spots of the judge, then accuracy, confusion and the rest."""
    totals, fit = report.totals, report.fitness
    sizes = f"{counted(totals.items, 'item')}, {totals.sentences:,} labelled"
    title = f"Exam {flat(report.items)}: {sizes} {plural(totals.sentences, 'sentence')}"
    page.copied(title, style="bold")
    page.say(_fit(report), style=_STYLES["unfit" if fit.untrusted else fit.level])
    if not fit.untrusted:
        page.say(_blind(report), hang=2, style="yellow" if fit.blind else "")
    page.blank()
    thresholds = (
        (
            _CRITERIA[each.name],
            number(each.value),
            *(f"{'≥' if each.least else '≤'} {bound:g}" for bound in (each.gating, each.watching)),
            Text(each.level, _STYLES[each.level]) if each.level else "not measured",
        )
        for each in fit.criteria
    )
    page.table(("threshold", "found", "gating", "watching", "fit for"), thresholds)
    groups = (
        (
            _LANGUAGES[group.language] if group.language else _category(group.category),
            number(group.accuracy.value),
            between(group.accuracy),
            number(group.binary.value),
            f"{group.traps.hits:,}/{group.traps.of:,}" if group.traps else "–",
            group.accuracy.of,
        )
        for group in totals.groups
    )
    heads = ("category", "right", "95 % interval", "full or rest", "traps called full")
    page.table((*heads, "sentences"), groups)
    if totals.confusion:
        _print_confusion(totals, page)
    for line in _facts(report):
        page.say(line, hang=2)
    page.blank()
    page.made_by([report.signature])
    for result in report.gates:
        page.whole(gate_line(result))
    if report.against is not None:
        _print_against(report.against, page)


def _fit(report: ExamReport) -> str:
    totals, fit = report.totals, report.fitness
    share = f"{100 * sum(totals.unscored.values()) / totals.sentences:.1f} %"
    without = f"{share} of the sentences have no verdict, so the judge cannot be rated"
    if fit.spent:
        return f"The budget is spent: {without}; raise it."
    return f"Untrusted: {without}." if fit.untrusted else _FIT[fit.level]


def _blind(report: ExamReport) -> str:
    blind = report.fitness.blind
    if not blind:
        return "It is blind to no category."
    spots = ", ".join(
        f"{_category(group.category)} ({group.traps.hits:,} of {group.traps.of:,})"
        for group in report.totals.groups
        if group.category in blind and group.traps is not None
    )
    return f"Blind to {spots}: it calls more than half of the unsupported sentences full."


def _print_confusion(totals: ExamTotals, page: Page) -> None:
    """Print a row for each right label, with the numbers of labels that the judge gave."""
    labels = Messages.of("looks", "label")
    columns = (*Support, *([UNSCORED] if totals.unscored else []))
    rows = (
        (labels(gold), *(counts.get(column, "·") for column in columns))
        for gold, counts in totals.confusion.items()
    )
    page.table(("right ↓ judge →", *map(labels, columns)), rows)


def _facts(report: ExamReport) -> Iterator[str]:
    totals, cost = report.totals, report.cost
    if Signature.parse(report.signature).source in NEVER_PARTIAL:
        yield "This judge never says partial: read the column “full or rest”."
    yield f"macro-F1 {number(totals.macro_f1)}, Cohen's κ {number(totals.kappa)}"
    for name, text in _SHARES.items():
        if found := getattr(totals, name):
            yield f"{text}: {found.hits:,} of {found.of:,} ({between(found)})"
    if totals.unscored:
        say = Messages.of("looks", "unscored")
        reasons = ", ".join(f"{n:,} {say(reason)}" for reason, n in totals.unscored.items())
        yield f"without a verdict, counted as not right: {reasons}"
    if cost.calls:
        price = "" if cost.cost is None else f", cost {cost.cost:,.4g}"
        seconds = "" if cost.seconds is None else f", {cost.seconds:.1f} s an item"
        tokens = f"{cost.prompt_tokens:,} tokens in, {cost.reply_tokens:,} out"
        yield f"{counted(cost.calls, 'call')}, {tokens}{price}{seconds}"
    if totals.lost:
        lost = counted(totals.lost, "labelled sentence")
        yield f"not counted, because no claim to this version: {lost}"


def _print_against(found: ExamComparison, page: Page) -> None:
    sizes = counted(found.accuracy.of, "sentence"), counted(found.items, "item")
    page.heading("Against an earlier exam: {} of {} in both".format(*sizes))
    page.say(_verdict(found), style=_VERDICTS.get(found.verdict, ""))
    if found.only_first or found.only_now:
        had = f"{counted(found.only_first, 'sentence')} only in the first exam"
        page.say(f"Left out: {had}, {found.only_now:,} only in this one.", hang=2, style="yellow")
    parts = flat("; ".join(found.apart))
    alike = "Both were judged with the same settings."
    page.say(f"What differs: {parts}" if parts else alike, hang=2)
    page.blank()
    rates: list[tuple[str, PairedRates]] = [
        ("all labels", found.accuracy),
        ("full or rest", found.binary),
        *((_category(each.category), each) for each in found.categories),
    ]
    rows = (
        (
            name,
            number(each.first / each.of),
            number(each.now / each.of),
            signed(100 * each.difference, 1),
            f"{signed(100 * each.low, 1)} … {signed(100 * each.high, 1)}",
            f"{each.better:,} / {each.worse:,}",
            chance(each.p),
            "–" if each.p_holm is None else chance(each.p_holm),
        )
        for name, each in rates
        if each.category is None or each.better + each.worse
    )
    heads = ("first", "now", "points", "95 % interval", "turned right / wrong", "p", "p, Holm")
    page.table(("category", *heads), rows)
    page.made_by([found.first])


def _verdict(found: ExamComparison) -> str:
    rates = found.accuracy
    if found.verdict == "untrusted":
        return "Untrusted: one of the two has too few verdicts to compare them."
    both = f"{number(rates.first / rates.of)} → {number(rates.now / rates.of)}"
    limits = (
        f"({both}, 95 % interval {signed(100 * rates.low, 1)} to {signed(100 * rates.high, 1)})"
    )
    if found.verdict == "open":
        return f"No difference that this exam can show {limits}."
    points = f"{abs(100 * rates.difference):.1f} points"
    return f"{found.verdict.title()} by {points}, p {chance(rates.p)} {limits}."


def _category(name: str | None) -> str:
    return "all" if name is None else short(name.replace("_", " "))
