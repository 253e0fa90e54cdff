"""A run as one page: its scores, charts of them, and the answers to search, worst first."""

import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Final, NamedTuple

from judge.inputs.runs import finished_run, pairs
from judge.messages import Messages
from judge.pages.agreement import Findings
from judge.pages.answers import LONGEST, LONGEST_CHUNK, SHOWN_SENTENCES, Answers
from judge.pages.html import PageWords, pieces
from judge.records import QuadrantTable, Status, Summary, UnscoredReason
from judge.reports.gate import describe
from judge.reports.totals import (
    quadrant_lines,
    quadrant_notes,
    reading,
    score_tables,
    spent_lines,
)
from judge.reports.worst import SUPPORTS, Highlights, WorstSentences
from judge.review.labels import read_agreement
from judge.scores.answer import support_of
from judge.signature import Signature
from judge.text.visible import clip, flat

_MAX_WORST: Final = 100
_MAX_DOUBTFUL: Final = 10
_BINS: Final = 10
_NAME_CHARACTERS: Final = 80
_LOOKS: Final = ("label", "mark", "status", "citation", "flag", "unscored", "kind")


def report(folder: Path) -> Iterator[str]:
    """Yield the page of a finished run piece by piece; raise RunError if there is no such run."""
    run, summary = finished_run(folder)
    worst, bins, gone = WorstSentences(_MAX_WORST), [0] * (_BINS + 1), 0
    highlights = Highlights(_MAX_DOUBTFUL)
    with tempfile.TemporaryFile() as file:
        answers = Answers(file)
        for result, sample in pairs(folder):
            answers.add(result, sample)
            worst.add(result)
            highlights.add(result)
            gone += sample is None
            if (score := result.scores.faithfulness) is not None:
                bins[int(score * _BINS)] += 1
        words, agreement, found = PageWords("report"), read_agreement(folder), summary.breakdown
        tables = dict(score_tables(summary))
        trec = tables.pop("support", None)
        yield from pieces(
            "report.html",
            run=run,
            summary=summary,
            words=words,
            quadrants=PageWords("quadrants"),
            script_texts=_script_texts(offline=summary.by_similarity),
            describe=describe,
            # The page shows no path of this machine, because it is sent to others.
            title=words("title.page", run=clip(flat(run.folder.resolve().name), _NAME_CHARACTERS)),
            file=PurePath(run.record.input.path).name,
            makers=dict.fromkeys(Signature.parse(made).maker for made in summary.signatures),
            spent=list(spent_lines(summary, run.record)),
            tables=tables.items(),
            trec=[("support", trec)] if trec else [],
            agreement=agreement,
            findings=Findings(agreement, summary) if agreement else None,
            cells=quadrant_lines(summary, found) if found else [],
            cell_notes=list(quadrant_notes(summary, found)) if found else [],
            bins=_score_bars(bins, summary),
            bars=_label_bars(summary),
            failures=highlights.failures,
            doubtful=highlights.doubtful,
            worst=worst.sentences(),
            gone=gone,
            choices=_choices(answers, found, words),
            answers=answers,
            label_of=support_of,
            limits={"chunk": LONGEST_CHUNK, "text": LONGEST, "sentences": SHOWN_SENTENCES},
        )


class Bar(NamedTuple):
    """One bar of a chart."""

    label: str
    size: int
    look: str = "plain"
    """The fill of the bar: a label of sentences, or `plain`."""


def _label_bars(summary: Summary) -> list[Bar]:
    """Return the claims by label, those without a label last."""
    counts: dict[str, int] = {each.value: n for each, n in summary.supports.items()}
    undecided = summary.unscored.get(UnscoredReason.UNDECIDED, 0)
    counts["undecided"] = undecided
    counts["unscored"] = sum(summary.unscored.values()) - undecided
    return [Bar(name, counts.get(name, 0), name) for name in SUPPORTS if name != "no_claim"]


def _score_bars(bins: list[int], summary: Summary) -> list[Bar]:
    """Return the answers by faithfulness in tenths, then those without faithfulness."""
    bars = [Bar(str(10 * low), count) for low, count in enumerate(bins)]
    unscored = summary.statuses[Status.UNSCORED]
    rest = summary.answers - sum(bins) - unscored
    return [*bars, Bar("◌", unscored, "unscored"), Bar("·", rest, "excluded")]


def _choices(
    answers: Answers, cells: QuadrantTable | None, words: PageWords
) -> dict[str, list[tuple[str, str, int]]]:
    """Return facet, name and number of answers for each value of a filter, most frequent first."""
    choices: dict[str, list[tuple[str, str, int]]] = {}
    readings = {
        ",".join(cell.words): reading(cell.words) for cell in (cells.cells if cells else ())
    }
    for facet, count in answers.counts.most_common():
        kind, _, name = facet.partition(":")
        if kind in {"cell", "flag"}:
            shown = readings.get(name, name)
        else:
            shown = words.looks("label" if kind == "support" else kind, name)
        choices.setdefault(kind, []).append((facet, shown, count))
    return choices


def _script_texts(*, offline: bool) -> dict[str, str]:
    """Return the texts of the page's script by key, and the words for labels and statuses."""
    own, looks = Messages.of("report"), Messages.of("looks")
    texts = {key: own.template(key) for key in own if key.startswith("script.")}
    if offline:
        texts["script.faithfulness"] = texts["script.looks_supported"]
    texts["script.percent"] = Messages.of("agreement").template("figure.percent")
    return texts | {key: looks.template(key) for key in looks if key.partition(".")[0] in _LOOKS}
