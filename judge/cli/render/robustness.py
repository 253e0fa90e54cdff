"""What `judge compare --by variant` found, printed."""

from collections.abc import Iterator

from judge.cli.render.comparison import signed
from judge.cli.terminal import Page, between, figures, number, words
from judge.reports.robustness import (
    ORIGINAL,
    WAYS,
    PairedShare,
    Robustness,
    Share,
    VariantScores,
)

_REMOVED = "gold_removed"
_LEAST_P = 0.0001


def print_robustness(report: Robustness, page: Page) -> None:
    """Print the table, what each variant says, and who is left out."""
    say = words("robustness", "read", page.lang)
    headers = ("variant", "answers", "accuracy", "interval", "f1", "difference", "limits", "p")
    table = figures(*map(say, headers), say("better_worse"), title=report.run)
    table.padding = (0, 1, 0, 0)
    for each in report.variants:
        if each.variant != _REMOVED:
            table.add_row(each.variant, *_accuracy(each), *_difference(each.accuracy_difference))
    page.table(table)
    for line in (*_lines(report, page), *_notes(report, page)):
        page.say(line, hang=2)
    page.made_by((), report.signatures)
    page.blank()


def _accuracy(each: VariantScores) -> tuple[str, ...]:
    if each.accuracy is None or each.correctness is None:
        return ("0", "–", "", "–")
    return (f"{each.accuracy.answers:,}", *_of(each.accuracy), number(each.correctness.value))


def _of(share: Share) -> tuple[str, str]:
    return number(share.value), between(share.interval.low, share.interval.high)


def _difference(found: PairedShare | None) -> tuple[str, ...]:
    if found is None:
        return ("", "", "", "")
    limits = found.interval
    span = "–" if limits is None else f"{signed(limits.low)} … {signed(limits.high)}"
    p = "<.0001" if found.p < _LEAST_P else f"{found.p:.4f}"
    return (signed(found.difference), span, p, f"{found.better} / {found.worse}")


def _lines(report: Robustness, page: Page) -> Iterator[str]:
    """Negative rejection, counterfactual robustness and order sensitivity."""
    say = words("robustness", "read", page.lang)

    def told(key: str, share: Share, **values: object) -> str:
        value, limits = _of(share)
        count = round(share.value * share.answers)
        figures = {"count": count, "of": share.answers, "value": value, "limits": limits}
        return say(key, **figures, **values)

    by_name = {each.variant: each for each in report.variants}
    if removed := by_name.get(_REMOVED):
        yield told("rejection", removed.abstained)
        if original := by_name.get(ORIGINAL):
            yield told("refusal", original.abstained)
    if report.counterfactual is not None:
        for way in WAYS:
            yield told(way, report.counterfactual[way])
        if report.both:
            yield say("both", count=report.both)
    if report.changed is not None:
        yield told("order", report.changed)


def _notes(report: Robustness, page: Page) -> Iterator[str]:
    say = words("robustness", "read", page.lang)
    why = words("robustness", "left_out", page.lang)
    for each in report.variants:
        if each.variant != _REMOVED:
            for reason, count in each.left_out.items():
                yield why("line", variant=each.variant, count=count, why=why(reason))
        if each.unpaired:
            yield why("line", variant=each.variant, count=each.unpaired, why=why("no_original"))
    for reason, count in report.counterfactual_left_out.items():
        if reason == "no_change":
            yield why("line", variant="counterfactual", count=count, why=why(reason))
    if report.without_variant:
        yield say("without", count=report.without_variant)
    yield say("how", least=f"{report.correct_from:g}")
