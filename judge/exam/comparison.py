"""The comparison of two sittings of an exam, sentence by sentence."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from judge.errors import ConfigError
from judge.exam.items import ExamItems
from judge.exam.records import ExamComparison, ExamReport, ExamRow, PairedRates
from judge.exam.scores import on_right_side
from judge.inputs.runs import read_document
from judge.review.coefficients import mcnemar
from judge.scores.intervals import holm, share_limits
from judge.signature import parts_apart

_ALPHA: Final = 0.05

_Pair = tuple[ExamRow, ExamRow]
"""The rows of one sentence in both sittings."""


def read_report(path: str | Path) -> ExamReport:
    """Read a report from a file; raise RunError if it has none."""
    return read_document(Path(path), ExamReport, "name what judge exam -o FILE.json wrote")


def check_common(first: ExamReport, items: ExamItems) -> None:
    """Raise ConfigError if no item is in the first report, before any is judged."""
    known = {(row.qid, row.item) for row in first.rows}
    if known.isdisjoint((item.sample.qid, item.digest) for item in items.items):
        raise _nothing_common(first.items, items.version)


def compare(first: ExamReport, now: ExamReport) -> ExamComparison:
    """Compare two sittings over the sentences of equal items in both; ConfigError without any.

    Accuracy is tested by McNemar's exact test of the sentences that turned right and those that
    turned wrong. The interval is that of the mean over items of the difference in right sentences,
    because the sentences of one item are not independent.
    """
    known = {(row.qid, row.item, row.start): row for row in first.rows}
    pairs = [
        (earlier, row) for row in now.rows if (earlier := known.get((row.qid, row.item, row.start)))
    ]
    if not pairs:
        raise _nothing_common(first.items, now.items)
    accuracy = _rates(pairs, [(one.right, two.right) for one, two in pairs])
    found = accuracy.p < _ALPHA and not accuracy.low <= 0 <= accuracy.high
    change = "better" if accuracy.difference > 0 else "worse"
    untrusted = first.fitness.untrusted or now.fitness.untrusted
    return ExamComparison(
        first=first.signature,
        items=len({row.qid for row, _ in pairs}),
        apart=tuple(parts_apart([first.signature, now.signature])),
        only_first=len(first.rows) - len(pairs),
        only_now=len(now.rows) - len(pairs),
        accuracy=accuracy,
        binary=_rates(pairs, [(on_right_side(one), on_right_side(two)) for one, two in pairs]),
        categories=_categories(pairs),
        verdict="untrusted" if untrusted else change if found else "open",
    )


def _nothing_common(first: str, now: str) -> ConfigError:
    message = f"--against: the report is about {first}, and no item of it is in {now}"
    return ConfigError(f"{message}; use the same items")


def _rates(
    pairs: Sequence[_Pair], right: Sequence[tuple[bool, bool]], category: str | None = None
) -> PairedRates:
    better = sum(two and not one for one, two in right)
    worse = sum(one and not two for one, two in right)
    changes = dict.fromkeys((row.qid for row, _ in pairs), 0)
    for (row, _), (one, two) in zip(pairs, right, strict=True):
        changes[row.qid] += two - one
    # Scaled so that the mean over items is a share of sentences.
    scaled = [change * len(changes) / len(pairs) for change in changes.values()]
    low, high = share_limits(scaled) or (-1.0, 1.0)
    return PairedRates(
        category=category,
        of=len(pairs),
        first=sum(one for one, _ in right),
        now=sum(two for _, two in right),
        difference=(better - worse) / len(pairs),
        low=max(-1.0, low),
        high=min(1.0, high),
        better=better,
        worse=worse,
        p=mcnemar(worse, better),
    )


def _categories(pairs: Sequence[_Pair]) -> tuple[PairedRates, ...]:
    found = []
    for name in dict.fromkeys(row.category for _, row in pairs):
        own = [pair for pair in pairs if pair[1].category == name]
        found.append(_rates(own, [(one.right, two.right) for one, two in own], name))
    corrected = holm([each.p for each in found])
    return tuple(
        each.model_copy(update={"p_holm": p}) for each, p in zip(found, corrected, strict=True)
    )
