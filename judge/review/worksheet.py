"""Worksheets: the questions of the label page, and the labels given there, as CSV in the run."""

import hashlib
import os
import re
from pathlib import Path
from typing import Final

from judge.answer.sentences import split
from judge.errors import RunError
from judge.inputs.runs import REVIEW, hold, origins
from judge.inputs.tables import LONGEST, legible, replacing, sync_folder
from judge.messages import use_language
from judge.records import Record, Sample, SentenceResult
from judge.review.draws import draw_names, draw_rows, fingerprint, read_draw, write_draw
from judge.review.records import Draw
from judge.review.sheet import (
    READ,
    around,
    chunk_title,
    folded,
    ranked,
    read_label,
    read_sheet,
    shared_weight,
    word_weights,
    write_sheet,
)

_SIZE: Final = 60
"""The size of a new draw if the run has none, as in `judge review draw`."""
_LOCK_SECONDS: Final = 5.0
"""The time in which another process may write its label."""
_FILE_NAME_CHARACTERS: Final = 40
_STEP: Final = "mend that first"
_ID_CHARACTERS: Final = 200


class Passage(Record):
    """A text, and the part of it to look at."""

    name: str
    """The name of the text."""
    before: str
    """The text before the part."""
    part: str
    """The part; may be empty."""
    after: str
    """The text after the part."""
    left_out: int
    """Characters that are not shown, far from the part."""


class Question(Record):
    """A row of a sheet: the claim and its evidence."""

    query: str
    """The user's question."""
    claim: Passage
    """The text with the sentence."""
    evidence: tuple[Passage, ...]
    """The chunks, the most similar first; in the first chunk the most similar part is marked."""


class Questions:
    """The questions of a draw, which do not show the judge's verdicts."""

    def __init__(self, run: Path, draw: Draw) -> None:
        self._draw = draw
        self._rows = {each.review_id: each for each in draw.sentences}
        wanted = {each.qid for each in draw.sentences}
        self._origins: dict[str, tuple[Sample, tuple[SentenceResult, ...]]] = {}
        for sample, result in origins(run):
            if result.qid in wanted:
                self._origins[result.qid] = sample, result.sentences
                if len(self._origins) == len(wanted):
                    break

    def of(self, review_id: str) -> Question:
        """Return the question of a row; raise RunError if there is no such row."""
        row = self._rows.get(review_id)
        if row is None:
            raise RunError(f"{review_id[:60]!r} is no row of draw {self._draw.draw}")
        sample, sentences = self._origins[row.qid]
        sentence = sentences[row.sentence]
        evidence = []
        for rank, position in enumerate(ranked(sample, sentence)):
            text = sample.chunks[position].text
            start, end = (0, 0) if rank else _best(text, sentence.text)
            evidence.append(_passage(chunk_title(sample, position), text, start, end))
        return Question(
            query=legible(sample.query or "")[:LONGEST],
            claim=_passage("answer", sample.answer, sentence.start, sentence.end),
            evidence=tuple(evidence),
        )


class LabelEntry(Record):
    """A reviewer's label for one sentence, or that it was skipped."""

    label: str = ""
    """A label of the scale, or another text in the sheet; may be empty."""
    skip: bool = False
    """Whether the reviewer skipped it."""
    note: str = ""
    """The reviewer's note."""


class Worksheet:
    """A reviewer's labels for a draw; each entry is on disk before `put` returns.

    The file is replaced as a whole, so that a crash never leaves half a row.
    """

    def __init__(self, run: Path, draw: Draw, reviewer: str = "") -> None:
        self._run = run
        self._draw = draw
        self._reviewer = " ".join(reviewer.split())
        self.path = run / REVIEW / f"{draw.draw}{_suffix(self._reviewer)}.csv"

    def entries(self) -> dict[str, LabelEntry]:
        """Return the entries so far by `review_id`, in the order of the draw."""
        if not self.path.exists():
            return {}
        rows = {row.cell("review_id"): row for row in read_sheet(self.path)}
        return {
            each.review_id: LabelEntry(
                label=_canonical(row.cell("human_support")),
                skip=bool(row.cell("human_skip")),
                note=row.cell("human_note"),
            )
            for each in self._draw.sentences
            if (row := rows.get(each.review_id)) is not None
        }

    def put(self, review_id: str, entry: LabelEntry) -> None:
        """Keep the entry of a row; an empty entry removes the earlier one."""
        (self._run / REVIEW).mkdir(exist_ok=True)
        with hold(self._run / REVIEW, patience=_LOCK_SECONDS):
            entries = {**self.entries(), review_id: entry}
            rows = [
                {
                    "review_id": each.review_id,
                    "sentence": each.text,
                    "human_support": found.label,
                    "human_skip": "yes" * found.skip,
                    "human_note": found.note,
                    "reviewer": self._reviewer,
                }
                for each in self._draw.sentences
                if (found := entries.get(each.review_id, LabelEntry())) != LabelEntry()
            ]
            with replacing(self.path, _STEP, follow=False) as part:
                with use_language("en"):
                    write_sheet(part, rows, READ)
                with part.open("rb+") as file:
                    os.fsync(file.fileno())
            sync_folder(self.path.parent)


def draw_to_label(run: Path, name: str | None = None) -> tuple[Draw, bool]:
    """Return the draw to label, and whether it is new.

    The default is the last draw of the present results, or else a new one. It raises RunError if
    the run is not finished, has no such draw, or has nothing to draw.
    """
    results = fingerprint(run)
    found = {each.draw: each for each in _current(run, results)}
    if name is not None:
        if name not in found:
            known = ", ".join(found) or "none"
            raise RunError(f"{run}: has no draw {name!r} of its results; it has {known}")
        return found[name], False
    if found:
        return found.popitem()[1], False
    draw = draw_rows(run, size=_SIZE).draw
    with hold(run, patience=_LOCK_SECONDS):
        write_draw(run, draw)
    return draw, True


def worksheets(run: str | Path) -> list[Path]:
    """Return the worksheets of the draw that was labelled last, for `import_labels`."""
    run = Path(run)
    sheets = [
        sorted((run / REVIEW).glob(f"{draw.draw}.*csv")) for draw in _current(run, fingerprint(run))
    ]
    return max(filter(None, sheets), key=lambda paths: max(map(_changed, paths)), default=[])


def _current(run: Path, results: str) -> list[Draw]:
    """Return the draws of the present results, the newest last."""
    names = sorted(draw_names(run), key=lambda name: _changed(run / REVIEW / f"{name}.json"))
    draws = (read_draw(run, name) for name in names)
    return [draw for draw in draws if draw.results == results]


def _changed(path: Path) -> int:
    return path.stat().st_mtime_ns


def _canonical(word: str) -> str:
    """Return the name of a label on the judge's scale, or the word if it names none."""
    try:
        reading = read_label(word)
    except ValueError:
        return word
    return word if reading is None or reading.support is None else reading.support.value


def _suffix(reviewer: str) -> str:
    """Return the part of a file name that identifies a reviewer."""
    name = folded(reviewer)
    plain = re.sub(r"\W+", "_", name)[:_FILE_NAME_CHARACTERS]
    # Two names may be equal without their special characters, so a hash is added.
    mark = "" if plain == name else f"-{hashlib.sha256(name.encode()).hexdigest()[:6]}"
    return f".{plain}{mark}" if name else ""


def _best(text: str, sentence: str) -> tuple[int, int]:
    """Return the offsets of the most similar sentence in a text; (0, 0) if none is similar."""
    wanted = word_weights(sentence)
    found = [(shared_weight(wanted, each.text), each) for each in split(text)]
    weight, best = max(found, key=lambda each: each[0], default=(0.0, None))
    return (best.start, best.end) if best and weight > 0 else (0, 0)


def _passage(name: str, text: str, start: int, end: int) -> Passage:
    """Return part of a text with its surroundings, shortened to a fixed length."""
    before, part, after = around(text, start, end)
    return Passage(
        name=legible(name)[:_ID_CHARACTERS],
        before=legible(before),
        part=legible(part),
        after=legible(after),
        left_out=len(text) - len(before) - len(part) - len(after),
    )
