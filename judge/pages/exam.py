"""An exam as one page: what a judge is fit for, how good it is at what, and what it got wrong."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from judge.exam.items import CANARY, Item, Items
from judge.exam.records import ExamReport, ExamRow, Passage, Turn
from judge.exam.scores import UNSCORED
from judge.exam.words import Words, categories, changed
from judge.messages import Lang
from judge.pages.html import pieces
from judge.reports.gate import told
from judge.text.visible import clip

_LONGEST: Final = 4_000
"""Characters of a sentence, question or chunk that are shown."""
_MOST: Final = 500
"""Items, and sentences that turned, that are shown; the rest stands in the report's JSON."""


class Quote(NamedTuple):
    """A passage that the judge gave for its verdict."""

    chunk: str
    """The chunk it stands in."""
    text: str
    """What it says."""


class Answered(NamedTuple):
    """A labelled sentence, as it is shown."""

    row: ExamRow
    """What the exam says of it."""
    text: str
    """What it says; empty where its item is not at hand."""
    label: str
    """What was said of it."""
    gold: str
    """What is right, in words."""
    quotes: list[Quote]
    """Its quotes that were found, where the item is at hand."""


class Case(NamedTuple):
    """An item of which a sentence was judged wrong."""

    qid: str
    """Its name."""
    query: str
    """The question; empty where the item is not at hand."""
    chunks: list[tuple[str, str]]
    """Ids and texts."""
    sentences: list[Answered]
    """Those that are labelled."""


def exam(report: ExamReport, items: Items, lang: Lang) -> Iterator[str]:
    """The page of an exam, piece by piece, to be written as UTF-8.

    Args:
        report: what was found.
        items: those whose texts are shown beside it; of others the page names the qid alone.
        lang: in which the page speaks.
    """
    words = Words(lang)
    known = {(item.sample.qid, item.digest): item for item in items.items}
    wrong: dict[str, list[Case]] = {}
    shown = gone = more = 0
    for (qid, digest), group in groupby(report.rows, key=lambda row: (row.qid, row.item)):
        rows = list(group)
        if all(row.right for row in rows):
            continue
        if shown == _MOST:
            more += 1
            continue
        item = known.get((qid, digest))
        wrong.setdefault(rows[0].category, []).append(_case(rows, item, words))
        shown, gone = shown + 1, gone + (item is None)
    against = report.against
    return pieces(
        "exam.html",
        lang,
        report=report,
        words=words,
        canary=CANARY,
        wrong=wrong,
        gone=gone,
        more=more,
        groups=list(zip(words.groups(report.totals).rows, categories(report.totals), strict=True)),
        languages={(each.category, each.language): each for each in report.totals.groups},
        changed=list(zip(words.changes(against).rows, changed(against), strict=True))
        if against
        else [],
        turned=_turned(against.turned if against else (), known, words),
        gates=[told(result, lang) for result in report.gates],
    )


def _case(rows: Sequence[ExamRow], item: Item | None, words: Words) -> Case:
    sample = item.sample if item else None
    return Case(
        rows[0].qid,
        clip(sample.query, _LONGEST) if sample else "",
        [(c.chunk_id, clip(c.text, _LONGEST)) for c in sample.chunks] if sample else [],
        [
            Answered(
                row,
                _text(item, row.start),
                row.said or UNSCORED,
                words.gold(row.gold, supported=row.supported),
                [_quote(each, item) for each in row.found] if item else [],
            )
            for row in rows
        ],
    )


def _text(item: Item | None, start: int) -> str:
    labels = item.labels if item else ()
    return next((clip(label.text, _LONGEST) for label in labels if label.start == start), "")


def _quote(found: Passage, item: Item) -> Quote:
    texts = {chunk.chunk_id: chunk.text for chunk in item.sample.chunks}
    return Quote(found.chunk_id, texts.get(found.chunk_id, "")[found.start : found.end])


def _turned(
    turns: Sequence[Turn], known: dict[tuple[str, str], Item], words: Words
) -> list[tuple[Turn, str, str]]:
    """Sentences that turned, each with its text and its right label in words."""
    return [
        (
            turn,
            _text(known.get((turn.qid, turn.item)), turn.start),
            words.gold(turn.gold, supported=turn.supported),
        )
        for turn in turns[:_MOST]
    ]
