"""Print what came of the grades of a pool: the gold set, agreement, and how complete it is."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from judge.cli.render.comparison import print_compared
from judge.cli.terminal import Page, figures, number, words
from judge.retrieval.batch import CONDENSED
from judge.review.grades import GoldReport
from judge.text.visible import short

_NAMED: Final = 5


def print_gold(found: GoldReport, path: Path, page: Page) -> None:
    """Print counts, agreement, the table of what is unjudged, and the measures."""
    say = words("gold", "import", page.lang)
    for line in (*_counts(found, page), *_agreement(found, page)):
        page.say(line, hang=2)
    table = figures(say("system"), say("unjudged"), say("of"), say("share"))
    for each in found.systems:
        share = number(each.unjudged / each.ranked if each.ranked else None)
        table.add_row(short(each.name), str(each.unjudged), str(each.ranked), share)
    page.blank()
    page.say(say("pool", k=found.k), style="bold")
    page.table(table)
    measured = found.measures and {run.name for run in found.measures.runs}
    for each in found.systems:
        if each.queries < found.queries:
            key = "lacks" if measured is None or each.name in measured else "unmeasured"
            line = say(key, name=short(each.name), queries=each.queries, all=found.queries)
            page.say(line, hang=2)
    if found.measures is None:
        page.say(say("nothing", gold_from=found.gold_from), hang=2, style="yellow")
    else:
        print_compared(found.measures, _names(found), page)
    style = "" if found.complete else "yellow"
    page.say(say("complete" if found.complete else "incomplete", k=found.k), hang=2, style=style)
    page.copied(say("written", path=path))
    page.copied(say("next", path=path, gold_from=found.gold_from))


def _counts(found: GoldReport, page: Page) -> Iterator[str]:
    say = words("gold", "import", page.lang)
    counts = (say("count", grade=grade, count=count) for grade, count in found.counts.items())
    yield say(
        "graded",
        graded=found.graded,
        rows=found.rows,
        queries=found.queries,
        counts=", ".join(counts),
    )
    if found.blank:
        yield say("blank", count=len(found.blank), places=_some(found.blank, page))
    if found.noted:
        yield say("noted", count=len(found.noted), places=_some(found.noted, page))
    if found.missing:
        yield say("missing", count=found.missing)
    if found.ungraded:
        yield say("ungraded", count=len(found.ungraded), qids=_some(found.ungraded, page))
    if found.unanswered:
        qids = _some(found.unanswered, page)
        count = len(found.unanswered)
        yield say("unanswered", count=count, qids=qids, gold_from=found.gold_from)
    if found.several:
        yield say("several", count=found.several)


def _agreement(found: GoldReport, page: Page) -> Iterator[str]:
    say, agreed = words("gold", "import", page.lang), found.agreement
    if not agreed.shared:
        yield say("alone")
        return

    def figure(value: float | None) -> str:
        return say("undefined") if value is None else number(value)

    def name(reviewer: str) -> str:
        return short(reviewer) or say("nameless")

    yield say("shared", equal=agreed.equal, shared=agreed.shared, alpha=figure(agreed.alpha))
    for pair in agreed.pairs[:_NAMED]:
        one, other = map(name, pair.reviewers)
        yield say("pair", one=one, other=other, kappa=figure(pair.kappa), shared=pair.shared)
    if agreed.apart:
        yield say("apart", count=len(agreed.apart))
    for row in agreed.apart[:_NAMED]:
        notes = {each: f" ({short(note)})" for each, note in row.notes.items()}
        grades = ", ".join(
            f"{name(each)} {grade}{notes.get(each, '')}" for each, grade in row.grades.items()
        )
        yield say("apart_row", row=row.review_id, qid=short(row.qid), grades=grades)


def _names(found: GoldReport) -> Sequence[str]:
    """The plain measures; and what leaves out what nobody graded, while there is any of it."""
    cut = [f"{measure}@{found.k}" for measure in ("hit", "recall", "precision", "ndcg")]
    plain = ["mrr", *cut]
    return plain if found.complete else [*plain, "bpref", *(f"{CONDENSED}{name}" for name in plain)]


def _some(names: Sequence[str], page: Page) -> str:
    shown = ", ".join(map(short, names[:_NAMED]))
    count = len(names) - _NAMED
    return shown + (words("gold", "import", page.lang)("more", count=count) if count > 0 else "")
