"""From the rows of filled-in sheets to labels: all of them, or none."""

import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from judge.errors import InputError
from judge.records import Support
from judge.review.records import Draw, DrawnSentence, Label
from judge.review.sheet import Row
from judge.review.words import read_label
from judge.text.visible import clip

_MOST: Final = 50
"""Problems that are listed; a person mends them in one go."""
_LONGEST: Final = 60
_COMPARED: Final = 2_000
"""Letters of a sentence: a cell may be cut behind them."""
_SAID: Final = "human_support"
_LOST: Final = "?"


class Filled(NamedTuple):
    """A row that came back from people."""

    path: Path
    row: Row

    def __str__(self) -> str:
        return f"{self.path}, row {self.row.number}"

    @property
    def id(self) -> str:
        """What it says it is."""
        return self.row.cells.get("review_id", "").strip()

    @property
    def said(self) -> str:
        """The label."""
        return self.row.cells.get(_SAID, "").strip()

    @property
    def note(self) -> str:
        """What was added."""
        return self.row.cells.get("human_note", "").strip()


class _Found(NamedTuple):
    label: Label
    row: Filled


def labels_of(draw: Draw, filled: Sequence[Filled]) -> list[Label]:
    """One label a reviewer and row.

    Raises:
        InputError: rows cannot be right; all are named.
    """
    rows = {sentence.review_id: sentence for sentence in draw.sentences}
    found: dict[tuple[str, str], _Found] = {}
    problems: list[str] = []
    for row in filled:
        if not row.id and not row.said:
            continue
        try:
            label = _label(draw, rows.get(row.id), row)
            if label is not None:
                key = (label.review_id, folded(label.reviewer))
                found[key] = _both(found.get(key), _Found(label, row))
        except ValueError as error:
            problems.append(f"{row}: {error}")
    if problems:
        raise InputError(_listed(problems))
    return [each.label for each in found.values()]


def folded(name: str) -> str:
    """A reviewer by any spelling of the name.

    >>> folded(" Ａnn"), folded("ann")
    ('ann', 'ann')
    """
    plain = unicodedata.normalize("NFKC", name).casefold()
    seen = "".join(char for char in plain if unicodedata.category(char) != "Cf")
    return " ".join(seen.split())


def shown(review_id: str) -> str:
    """An id that anybody may have written."""
    return repr(clip(review_id, _LONGEST))


def _label(draw: Draw, sentence: DrawnSentence | None, row: Filled) -> Label | None:
    if sentence is None:
        raise ValueError(f"review_id {shown(row.id)} {_stranger(draw, row.id)}")
    if not _is_of(row, sentence):
        # Somebody sorted the texts, and left the ids where they were.
        raise ValueError(
            f"holds another sentence than {row.id!r} was drawn for; put its own text back"
        )
    try:
        reading = read_label(row.said)
    except ValueError as error:
        raise ValueError(f"{_SAID} {error}") from None
    if reading is None:
        return None
    return Label(
        review_id=sentence.review_id,
        qid=sentence.qid,
        sentence=sentence.sentence,
        support=reading.support,
        supported=reading.supported,
        reviewer=" ".join(row.row.cells.get("reviewer", "").split()),
        note=row.note,
    )


def _stranger(draw: Draw, review_id: str) -> str:
    if not review_id:
        return "is empty beside a label; put the row's own back"
    if review_id.startswith(f"{draw.draw}-"):
        return "is no row of this run: it was changed, or is of another run like it"
    return "is a row of another draw or run; import it there"


def _is_of(row: Filled, sentence: DrawnSentence) -> bool:
    text = row.row.cells.get("sentence", "")
    if not text:
        return True
    found, drawn = _letters(text), _letters(sentence.text)
    if text.count(_LOST) > sentence.text.count(_LOST):
        # Saved in an old code page, which has no sign for some of the letters.
        rest = iter(drawn)
        return all(letter in rest for letter in found)
    return found == drawn


def _letters(text: str) -> str:
    """What no spreadsheet changes."""
    return "".join(filter(str.isalnum, text))[:_COMPARED]


def _both(earlier: _Found | None, now: _Found) -> _Found:
    """The finer of two labels on a row by one reviewer, with what was noted on either."""
    if earlier is None:
        return now
    first, second = earlier.label, now.label
    if _contradict(first, second):
        raise ValueError(_doubled(earlier, second))
    finer = second if first.support is None else first
    notes = dict.fromkeys(filter(None, (*first.note.split("\n"), *second.note.split("\n"))))
    update = {"note": "\n".join(notes), "reviewer": first.reviewer}
    return _Found(finer.model_copy(update=update), earlier.row)


def _contradict(first: Label, second: Label) -> bool:
    if first.support is None or second.support is None:
        return first.supported != second.supported
    return first.support is not second.support


def _doubled(earlier: _Found, label: Label) -> str:
    who = f"reviewer {label.reviewer!r}" if label.reviewer else "a nameless reviewer"
    step = "keep one" if label.reviewer else "keep one, or fill in the column reviewer"
    return (
        f"{label.review_id!r} is {_word(label)!r} and in {earlier.row} "
        f"{_word(earlier.label)!r}, both of {who}; {step}"
    )


def _word(label: Label) -> str:
    if label.support is None:
        return "yes" if label.supported else "no"
    return label.support.value if label.support is not Support.NONE else "not supported"


def _listed(problems: Sequence[str]) -> str:
    rows = "1 row" if len(problems) == 1 else f"{len(problems)} rows"
    more = len(problems) - _MOST
    lines = [f"{rows} cannot be right, and nothing was imported:", *problems[:_MOST]]
    return "\n  ".join([*lines, *([f"… and {more} more"] if more > 0 else [])])
