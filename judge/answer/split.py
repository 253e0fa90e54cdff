"""Splitting an answer into sentences, with their places in it."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Final

from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

from judge.answer.blocks import Block, blocks
from judge.answer.enumerations import items
from judge.answer.latin import Place, latin_end
from judge.answer.letters import lines
from judge.answer.terminators import MARKER, candidates, enclosed, ends_sentence, full_width
from judge.records import Sentence
from judge.text.words import abbreviations

EDITION: Final = 3
"""Part of every signature: a change of where sentences end, or of what counts as a claim, makes
numbers incomparable."""

_PIECE = 20_000
_MASKED = re.compile(r"[\"“”‘«»()\[\]{}*_`]|(?<=[.!?])['’]")


def split(answer: str) -> tuple[Sentence, ...]:
    """Cut an answer into sentences.

    Layout is obeyed first (lines, list items, table rows, headings, code fences), then Latin
    script is cut by Punkt (Kiss and Strunk 2006) with this package's abbreviations, and CJK
    script at its stops. Time is linear in the length of the answer.

    Args:
        answer: any text.

    Returns:
        Sentences in order, not overlapping, without white space at their ends; together they hold
        every non-blank character. Their kind is left at claim.

    >>> [s.text for s in split("Paris is big. [1] 人口为210万。面积不大。")]
    ['Paris is big. [1]', '人口为210万。', '面积不大。']
    """
    spans = (span for block in blocks(answer) for span in _spans(answer, block))
    return tuple(
        Sentence(index=index, start=start, end=end, text=answer[start:end])
        for index, (start, end) in enumerate(spans)
    )


def _spans(answer: str, block: Block) -> Iterator[tuple[int, int]]:
    """Spans of the sentences of one block, into the answer."""
    if block.whole:
        yield block.start, block.end
        return
    text = answer[block.start : block.end]
    for start, end in pairwise((0, *_ends(text), len(text))):
        stripped = text[start:end].strip()
        if stripped:
            first = block.start + text.index(stripped, start)
            yield first, first + len(stripped)


def _ends(text: str) -> Iterator[int]:
    """Where sentences end in running text, ascending, without the end of the text itself."""
    listed = items(text)
    forced = sorted({*listed.begin, *lines(text)})
    closed = list(enclosed(text))
    punkt = _Punkt(text)
    since = closing = item = 0
    for candidate in candidates(text, spaced_marks=not MARKER.match(text)):
        while item < len(forced) and forced[item] <= candidate.start:
            if forced[item] > since:
                since = forced[item]
                yield since
            item += 1
        while closing < len(closed) and closed[closing][1] <= candidate.end:
            closing += 1
        inside = closing < len(closed) and closed[closing][0] < candidate.start
        if inside or candidate.start in listed.stops:
            continue
        if candidate.end == len(text):
            break
        wide = full_width(text, candidate)
        place = Place(text, candidate, since)
        if ends_sentence(text, candidate, since) if wide else latin_end(place, punkt):
            since = candidate.end
            yield since
    yield from (place for place in forced[item:] if place > since)


@cache
def _tokenizer() -> PunktSentenceTokenizer:
    parameters = PunktParameters()
    words = abbreviations()
    parameters.abbrev_types = set(words.never_end | words.may_end)
    parameters.sent_starters = set(words.starters)
    return PunktSentenceTokenizer(parameters)


class _Punkt:
    """Where Punkt ends sentences in a text; not asked before it is needed.

    Quotes, brackets and markers are blanked first, so that it sees the words on either side. It
    works under a clock of five seconds and is given pieces: cut at white space, a cut is no end.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends: set[int] | None = None

    def __contains__(self, place: object) -> bool:
        if self._ends is None:
            self._ends = set(self._find())
        return place in self._ends

    def _find(self) -> Iterator[int]:
        unmarked = MARKER.sub(lambda found: " " * len(found[0]), self._text)
        masked = _MASKED.sub(" ", unmarked)
        start = 0
        while start < len(masked):
            stop = _cut(masked, start)
            spans = _tokenizer().span_tokenize(masked[start:stop], realign_boundaries=False)
            yield from [start + end for _, end in spans][:-1]
            start = stop


def _cut(text: str, start: int) -> int:
    """End of the piece of `text` that begins at `start`."""
    limit = start + _PIECE
    if limit >= len(text):
        return len(text)
    space = max(text.rfind(" ", start, limit), text.rfind("\n", start, limit))
    while space > start and text[space - 1] in ".!? \n":
        space -= 1
        if text[space] not in " \n":
            space = max(text.rfind(" ", start, space), text.rfind("\n", start, space))
    return space if space > start else limit
