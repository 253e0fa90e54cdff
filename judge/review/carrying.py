"""Labels of earlier draws of the same results: nobody labels a sentence twice."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from judge.messages import Lang
from judge.review.drawing import Drawing, fingerprint
from judge.review.folder import draw_names, read_draw, read_labels
from judge.review.records import Draw, Label
from judge.review.weighed import by_row
from judge.review.words import choices

_NO: Final[dict[Lang, str]] = {"en": "no", "zh": "否"}
_LABELS: Final = ("full", "partial", "none", "contradicted", "no_claim")
"""As `choices` orders its words."""


def labelled_draws(run: Path) -> Iterator[tuple[Draw, dict[str, list[Label]]]]:
    """The draws of these results that have labels, and those by row.

    Raises:
        RunError: no finished run, or what it keeps of reviews is damaged.
    """
    results = fingerprint(run)
    for name in draw_names(run):
        labels = read_labels(run, name)
        draw = read_draw(run, name) if labels else None
        if draw is not None and draw.results == results:
            yield draw, by_row(labels)


def carried(run: Path, drawing: Drawing, lang: Lang) -> list[dict[str, str]]:
    """The rows of a draw, filled in where a sentence was labelled in another and nobody disagreed.

    Raises:
        RunError: as of `labelled_draws`.
    """
    known: dict[tuple[str, int], list[Label]] = {}
    for _, rows in labelled_draws(run):
        for labels in rows.values():
            known.setdefault((labels[0].qid, labels[0].sentence), []).extend(labels)
    filled = []
    for row, sentence in zip(drawing.rows, drawing.draw.sentences, strict=True):
        labels = known.get((sentence.qid, sentence.sentence), [])
        agreed = len({(label.support, label.supported) for label in labels}) == 1
        filled.append(row | _cells(labels[0], lang) if agreed else row)
    return filled


def _cells(label: Label, lang: Lang) -> dict[str, str]:
    word = _NO[lang] if label.support is None else choices(lang)[_LABELS.index(label.support)]
    return {"human_support": word, "human_note": label.note, "reviewer": label.reviewer}
