"""What a reviewer is shown of a drawn sentence: what its sheet shows, in the same order."""

import math
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Final

from judge.answer.sentences import split
from judge.errors import RunError
from judge.files.tables import LONGEST, legible
from judge.messages import Lang, Messages
from judge.records import Record, Sample, SentenceResult, Verdict
from judge.review.records import Draw, Target
from judge.review.targets import origins_of
from judge.text.words import stems, weight

_ROOM: Final = 30_000
"""Characters of a text that are shown."""
_NAME: Final = 200
_CUT: Final = "…"
_CELL: Final = LONGEST - 100
"""Characters of an answer around its sentence, in a sheet; the rest is for the marks."""
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
            name, text = _named(sample, position), sample.chunks[position].text
            start, end = (0, 0) if rank else _best(text, sentence.text)
            evidence.append(_passage(name if held == "chunks" else "", text, start, end))
        asked = "" if held == "chunks" else Messages.of("sheet")(f"asked.{target}", lang)
        return Question(
            query=legible(sample.query or "")[:_ROOM],
            claim=own,
            evidence=tuple(evidence),
            asked=asked,
            titles=(claimed, held),
        )


def row_of(
    review_id: str, sample: Sample, sentence: SentenceResult, target: Target = "faithfulness"
) -> dict[str, str]:
    """The texts of a row by column; columns that people fill in are left out.

    For correctness the one chunk is the other text, as `judge.review.targets` has it.
    """
    found = ((_named(sample, each), sample.chunks[each].text) for each in ranked(sample, sentence))
    chunks = (f"{name}\n{text}" for name, text in found)
    outcome = sentence.outcome
    support: str = outcome.type
    quotes: list[str] = []
    if isinstance(outcome, Verdict):
        support = outcome.support.value
        quotes = [f"[{evidence.chunk_id}] {evidence.quote}" for evidence in outcome.evidence]
        if outcome.fallback_from is not None:
            support = f"unscored ({outcome.source}: {support})"
    own = marked(sample.answer, sentence.start, sentence.end)
    answer, beside = own, {"chunks": "\n\n".join(chunks)}
    if target == "correctness_precision":
        beside = {"reference": sample.chunks[0].text}
    if target == "correctness_recall":
        answer, beside = sample.chunks[0].text, {"reference": own}
    return {
        "review_id": review_id,
        "query": sample.query or "",
        "answer": answer,
        "sentence": sentence.text,
        **beside,
        "judge_support": support,
        "judge_quote": "\n".join(quotes),
    }


def marked(answer: str, start: int, end: int) -> str:
    """The answer with the sentence between marks; what is too long is cut far from it.

    >>> marked("It rains. Roads are wet.", 10, 24)
    'It rains. ▶Roads are wet.◀'
    """
    room = max(0, _CELL - (end - start)) // 2
    low, high = max(0, start - room), min(len(answer), end + room)
    before = _CUT * (low > 0) + answer[low:start]
    after = answer[end:high] + _CUT * (high < len(answer))
    return f"{before}▶{answer[start:end]}◀{after}"


def ranked(sample: Sample, sentence: SentenceResult) -> list[int]:
    """Positions of the chunks, those first that share most with the sentence.

    By the weight of the words and pairs of words they share, and not by what the judge cites: that
    would tell what it thinks.
    """
    wanted = parts_of(sentence.text)
    return sorted(
        range(len(sample.chunks)), key=lambda each: -_shared(wanted, sample.chunks[each].text)
    )


def _shared(wanted: Mapping[str, float], text: str) -> float:
    """The weight of the words and pairs of words that a text has of those wanted."""
    # Exact, for the order of a set is not that of another process.
    return math.fsum(wanted[part] for part in wanted.keys() & parts_of(text).keys())


def _named(sample: Sample, position: int) -> str:
    """What a chunk is called: its number, and its id where that is another."""
    name, number = sample.chunks[position].chunk_id, str(position + 1)
    return f"[{number}]" if name == number else f"[{number}] {name}"


def parts_of(text: str) -> Mapping[str, float]:
    """The words and pairs of words of a text, by weight."""
    found = stems(text)
    single = {stem: weight(stem) for stem in found}
    pairs = {f"{a} {b}": (single[a] + single[b]) / 2 for a, b in pairwise(found)}
    return single | pairs


def _best(text: str, sentence: str) -> tuple[int, int]:
    """Where the sentence of a text stands that shares most with another; (0, 0) for none."""
    wanted, best, place = parts_of(sentence), 0.0, (0, 0)
    for each in split(text):
        if (found := _shared(wanted, each.text)) > best:
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
