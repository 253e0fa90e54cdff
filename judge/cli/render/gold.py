"""Print what came of the grades of a pool: counts, agreement, and the gold set."""

from collections.abc import Iterator
from pathlib import Path

from judge.cli.terminal import Page, number, some
from judge.messages import Messages
from judge.review.grades import GoldReport


def print_gold(found: GoldReport, path: Path, page: Page) -> None:
    """Print counts, how far people agree, and where the gold set lies."""
    say = Messages.of("gold", "import")
    for line in (*_counts(found), *_agreement(found)):
        page.say(line, hang=2)
    page.copied(say("written", path=path))
    page.copied(say("next", path=path, gold_from=found.gold_from))


def _counts(found: GoldReport) -> Iterator[str]:
    say = Messages.of("gold", "import")
    counts = (say("count", grade=grade, count=count) for grade, count in found.counts.items())
    yield say(
        "graded",
        graded=found.graded,
        rows=found.rows,
        queries=found.queries,
        counts=", ".join(counts),
    )
    if found.blank:
        yield say("blank", count=len(found.blank), places=some(found.blank, len(found.blank)))
    if found.unanswered:
        count = len(found.unanswered)
        qids = some(found.unanswered, count)
        yield say("unanswered", count=count, qids=qids, gold_from=found.gold_from)


def _agreement(found: GoldReport) -> Iterator[str]:
    say, agreed = Messages.of("gold", "import"), found.agreement
    if not agreed.shared:
        yield say("alone")
        return

    alpha = say("undefined") if agreed.alpha is None else number(agreed.alpha)
    yield say("shared", equal=agreed.equal, shared=agreed.shared, alpha=alpha)
