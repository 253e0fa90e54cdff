"""What a reviewer is shown of a drawn sentence: what its sheet shows, in the same order."""

from pathlib import Path
from typing import Final

from judge.answer.sentences import split
from judge.errors import RunError
from judge.files.tables import legible
from judge.messages import Lang, Messages
from judge.records import Record, Sample, SentenceResult
from judge.review.records import Draw
from judge.review.sheet import parts_of, ranked, shared
from judge.review.targets import origins_of

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
    """What it is called."""
    before: str
    """What stands before the part."""
    part: str
    """The part; may be empty."""
    after: str
    """What stands behind it."""
    left_out: int
    """Characters that are not shown, far from the part."""


class Question(Record):
    """A row of a sheet: what is claimed, and what it is held against."""

    query: str
    """What was asked of the system."""
    claim: Passage
    """The text with the sentence."""
    evidence: tuple[Passage, ...]
    """Those first that share most with the sentence; of the first the part that does so."""
    asked: str
    """What is asked, where that is not whether the chunks support the sentence."""
    titles: tuple[str, str]
    """Which column the claim and the evidence stand in."""


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

    def of(self, review_id: str, lang: Lang) -> Question:
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
            chunk, number = sample.chunks[position], str(position + 1)
            name = f"[{number}]" if chunk.chunk_id == number else f"[{number}] {chunk.chunk_id}"
            start, end = (0, 0) if rank else _best(chunk.text, sentence.text)
            evidence.append(_passage(name if held == "chunks" else "", chunk.text, start, end))
        asked = "" if held == "chunks" else Messages.of("sheet")(f"asked.{target}", lang)
        return Question(
            query=legible(sample.query or "")[:_ROOM],
            claim=own,
            evidence=tuple(evidence),
            asked=asked,
            titles=(claimed, held),
        )


def _best(text: str, sentence: str) -> tuple[int, int]:
    """Where the sentence of a text stands that shares most with another; (0, 0) for none."""
    wanted, best, place = parts_of(sentence), 0.0, (0, 0)
    for each in split(text):
        if (found := shared(wanted, each.text)) > best:
            best, place = found, (each.start, each.end)
    return place


def _passage(name: str, text: str, start: int, end: int) -> Passage:
    """The part of a text with what stands around it, as much as there is room for."""
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
