"""Worksheets: what the label page shows a reviewer, and the labels given, a CSV in the run."""

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal, get_args

from judge.answer.sentences import split
from judge.errors import RunError
from judge.inputs.runs import REVIEW, hold
from judge.inputs.tables import legible, replacing, sync_folder
from judge.messages import Messages, use_language
from judge.records import Record, Sample, SentenceResult
from judge.review.draws import Drawing, carried, take
from judge.review.folder import draw_names, fingerprint, read_draw, write_draw
from judge.review.records import Draw, Target
from judge.review.sheet import (
    READ,
    folded,
    named,
    parts_of,
    ranked,
    read_label,
    read_sheet,
    shared,
    write_sheet,
)
from judge.review.targets import TARGETS, For, origins_of

Skip = Literal["cannot tell", "too long", "no time"]
"""Why a reviewer leaves a sentence blank."""
SKIPS: Final[tuple[Skip, ...]] = get_args(Skip)
_SIZE: Final = 60
"""The size of a new draw if the run has none, as in `judge review draw`."""
_PATIENCE: Final = 5.0
"""Seconds in which another process may write its label."""
_LONGEST: Final = 40
_STEP: Final = "mend that first"
_ROOM: Final = 30_000
"""Characters of a text that are shown."""
_NAME: Final = 200
_NAMES: Final = {
    "faithfulness": ("answer", "chunks"),
    "correctness_precision": ("answer", "reference"),
    "correctness_recall": ("reference", "answer"),
}


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
    """A row of a sheet: what is claimed, and what it is held against."""

    query: str
    """The user's question."""
    claim: Passage
    """The text with the sentence."""
    evidence: tuple[Passage, ...]
    """The chunks, the most similar first; in the first chunk the most similar part is marked."""
    asked: str
    """The question to the reviewer, if it is not whether the chunks support the sentence."""
    titles: tuple[str, str]
    """The column names of claim and evidence."""


class Questions:
    """The questions of a draw. The judge's verdicts are not in them.

    RunError where the run's samples are gone or have changed.
    """

    def __init__(self, run: Path, draw: Draw) -> None:
        self._draw = draw
        self._rows = {each.review_id: each for each in draw.sentences}
        wanted = {each.qid for each in draw.sentences}
        self._origins: dict[str, tuple[Sample, tuple[SentenceResult, ...]]] = {}
        for sample, result in origins_of(run, draw.target):
            if result.qid in wanted:
                self._origins[result.qid] = sample, result.sentences
                if len(self._origins) == len(wanted):
                    break

    def of(self, review_id: str) -> Question:
        """The question of a row; RunError where there is no such row."""
        row = self._rows.get(review_id)
        if row is None:
            raise RunError(f"{review_id[:60]!r} is no row of draw {self._draw.draw}")
        sample, sentences = self._origins[row.qid]
        sentence, target = sentences[row.sentence], self._draw.target
        claimed, held = _NAMES[target]
        own = _passage(claimed, sample.answer, sentence.start, sentence.end)
        evidence = []
        for rank, position in enumerate(ranked(sample, sentence)):
            name, text = named(sample, position), sample.chunks[position].text
            start, end = (0, 0) if rank else _best(text, sentence.text)
            evidence.append(_passage(name if held == "chunks" else "", text, start, end))
        asked = "" if held == "chunks" else Messages.of("sheet", "asked")(target)
        return Question(
            query=legible(sample.query or "")[:_ROOM],
            claim=own,
            evidence=tuple(evidence),
            asked=asked,
            titles=(claimed, held),
        )


class Entry(Record):
    """A reviewer's label, or reason to skip, for one sentence."""

    label: str = ""
    """A label of the scale, or another text in the sheet; may be empty."""
    skip: str = ""
    """The reason for a missing label, one of `SKIPS`."""
    note: str = ""
    """The reviewer's note."""


class Worksheet:
    """One reviewer's labels of a draw; each entry is on disk before `put` returns.

    The file is replaced as a whole, so a crash leaves the last entry or the one before, and never
    half a row. Labels that were imported earlier, under the same name, stand in it from the start.

    Args:
        run: folder of the run.
        draw: what was drawn.
        reviewer: the name; may be empty.
    """

    def __init__(self, run: Path, draw: Draw, reviewer: str = "") -> None:
        self._run = run
        self._draw = draw
        self._reviewer = " ".join(reviewer.split())
        self.path = run / REVIEW / f"{draw.draw}{_suffix(self._reviewer)}.csv"

    def entries(self) -> dict[str, Entry]:
        """Return the entries so far by `review_id`, in the order of the draw.

        Raises:
            InputError: the file was changed, and is no sheet now.
        """
        if not self.path.exists():
            return self._carried()
        rows = {row.cell("review_id"): row for row in read_sheet(self.path)}
        return {
            each.review_id: Entry(
                label=_canonical(row.cell("human_support")),
                skip=row.cell("human_skip"),
                note=row.cell("human_note"),
            )
            for each in self._draw.sentences
            if (row := rows.get(each.review_id)) is not None
        }

    def put(self, review_id: str, entry: Entry) -> dict[str, Entry]:
        """Keep an entry in place of that it had, and return all; an empty one takes it back.

        Raises:
            RunError: the file cannot be written.
        """
        (self._run / REVIEW).mkdir(exist_ok=True)
        with hold(self._run / REVIEW, patience=_PATIENCE):
            entries = {**self.entries(), review_id: entry}
            with replacing(self.path, _STEP, follow=False) as part:
                with use_language("en"):
                    write_sheet(part, self._rows(entries), READ)
                with part.open("rb+") as file:
                    os.fsync(file.fileno())
            sync_folder(self.path.parent)
        return entries

    def _rows(self, entries: dict[str, Entry]) -> Iterable[dict[str, str]]:
        for each in self._draw.sentences:
            entry = entries.get(each.review_id, Entry())
            if entry != Entry():
                said = {
                    "human_support": entry.label,
                    "human_skip": entry.skip,
                    "human_note": entry.note,
                    "reviewer": self._reviewer,
                }
                yield {"review_id": each.review_id, "sentence": each.text, **said}

    def _carried(self) -> dict[str, Entry]:
        blank = Drawing([{} for _ in self._draw.sentences], self._draw)
        filled = zip(self._draw.sentences, carried(self._run, blank), strict=True)
        return {
            each.review_id: Entry(label=_canonical(row["human_support"]), note=row["human_note"])
            for each, row in filled
            if row and folded(row["reviewer"]) == folded(self._reviewer)
        }


def draws_for(run: Path, target: For, name: str | None = None) -> tuple[list[Draw], bool]:
    """Return the draws to label, and whether they are new.

    That is the draw of this name; without one the last that was made of these results for the
    target, and where there is none a new one, as `judge review draw` makes it.

    Raises:
        RunError: no finished run, no such draw, or nothing to draw.
    """
    results = fingerprint(run)
    if name is not None:
        draw = read_draw(run, name) if name in draw_names(run) else None
        if draw is None or draw.results != results:
            known = ", ".join(each.draw for each in _current(run, results)) or "none"
            raise RunError(f"{run}: has no draw {name!r} of its results; it has {known}")
        return [draw], False
    halves, found = TARGETS[target], _current(run, results)
    last = {each.target: each for each in found}
    fresh = [half for half in halves if half not in last]
    for half in fresh:
        last[half] = take(run, size=_SIZE // len(halves), target=half).draw
        with hold(run, patience=_PATIENCE):
            write_draw(run, last[half])
    return [last[half] for half in halves], bool(fresh)


def worksheets(run: str | Path) -> list[Path]:
    """The worksheets of the draw that was labelled last, for `import_labels`.

    Of correctness those of the other half, too. RunError where there is no finished run.
    """
    run = Path(run)
    sheets: defaultdict[str, list[Path]] = defaultdict(list)
    for path in sorted((run / REVIEW).glob("*.csv")):
        sheets[path.name.partition(".")[0]].append(path)
    last: dict[Target, list[Path]] = {}
    found = [(sheets[each.draw], each.target) for each in _current(run, fingerprint(run))]
    for paths, target in sorted(found, key=lambda each: max(map(_changed, each[0]), default=0)):
        if paths:
            last.pop(target, None)
            last[target] = paths
    if not last:
        return []
    newest = next(reversed(last))
    together = next(halves for halves in TARGETS.values() if newest in halves)
    return [path for half in together for path in last.get(half, ())]


def _current(run: Path, results: str) -> list[Draw]:
    """Return the draws of the present results, the newest last."""
    names = sorted(draw_names(run), key=lambda name: _changed(run / REVIEW / f"{name}.json"))
    draws = (read_draw(run, name) for name in names)
    return [draw for draw in draws if draw is not None and draw.results == results]


def _changed(path: Path) -> int:
    return path.stat().st_mtime_ns


def _canonical(word: str) -> str:
    """A label by its name on the judge's scale, where the word says as much."""
    try:
        reading = read_label(word)
    except ValueError:
        return word
    return word if reading is None or reading.support is None else reading.support.value


def _suffix(reviewer: str) -> str:
    """Return the part of a file name that identifies a reviewer."""
    name = folded(reviewer)
    plain = re.sub(r"\W+", "_", name)[:_LONGEST]
    # A hash keeps names apart whose file names are equal.
    mark = "" if plain == name else f"-{hashlib.sha256(name.encode()).hexdigest()[:6]}"
    return f".{plain}{mark}" if name else ""


def _best(text: str, sentence: str) -> tuple[int, int]:
    """Return the offsets of the most similar sentence in a text; (0, 0) if none is similar."""
    wanted, best, place = parts_of(sentence), 0.0, (0, 0)
    for each in split(text):
        if (found := shared(wanted, each.text)) > best:
            best, place = found, (each.start, each.end)
    return place


def _passage(name: str, text: str, start: int, end: int) -> Passage:
    """Return part of a text with its surroundings, shortened to a fixed length."""
    room = _ROOM - min(end - start, _ROOM)
    low = max(0, start - max(room // 2, room - (len(text) - end)))
    high = min(len(text), end + room - (start - low))
    part = text[start : min(end, start + _ROOM)]
    left_out = low + len(text) - high + (end - start - len(part))
    return Passage(
        name=legible(name)[:_NAME],
        before=legible(text[low:start]),
        part=legible(part),
        after=legible(text[end:high]),
        left_out=left_out,
    )
