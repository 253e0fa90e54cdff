"""Splitting an answer into sentences, with their places in it."""

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

from judge.records import Sentence
from judge.text.blocks import Block, blocks, marker
from judge.text.enumerations import items
from judge.text.terminators import (
    CJK,
    MARKER,
    Candidate,
    candidates,
    enclosed,
    ends_sentence,
    full_width,
)

_PIECE = 20_000
_HEAD = 100
_NEVER, _MAY_END, _NUMBER, _STARTER = (
    "never ends a sentence",
    "may end a sentence",
    "before a number",
    "begins a sentence",
)
_MASKED = re.compile(r"[\"“”‘«»()\[\]{}*_`]|(?<=[.!?])['’]")
_LAST_WORD = re.compile(r"[^\s\"“”‘'«»(\[{*_`/]+$")
_NEXT_WORD = re.compile(r"[\s\"“”‘'’«»(\[{*_`]*+([^\s,.!?;:)\]}\"'”’*_`]*+)")
_ACRONYM = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]{1,3}$")
_HOUR = re.compile(r"[ap]\.m$", re.IGNORECASE)
_NUMERAL = re.compile(r"[#§]?\d|[IVXLC]+\b|[A-Z]\b")
_ENUMERATOR = re.compile(r"\W*(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})[.)]?$")
_BRAND = re.compile(r"[a-z]{1,2}[A-Z]")
_GLUED = re.compile(r"(?:I|[A-Z][a-z]+)(?=[\s,'’])")


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
    forced = items(text)
    closed = list(enclosed(text))
    punkt: set[int] | None = None
    since = closing = item = 0
    for candidate in candidates(text, spaced_marks=not MARKER.match(text)):
        while item < len(forced) and forced[item] <= candidate.start:
            since = forced[item]
            item += 1
            yield since
        while closing < len(closed) and closed[closing][1] <= candidate.end:
            closing += 1
        if closing < len(closed) and closed[closing][0] < candidate.start:
            continue
        if full_width(text, candidate):
            end = ends_sentence(text, candidate, since)
        else:
            if punkt is None:
                punkt = _punkt_ends(text)
            end = _latin_end(_Place(text, candidate, since), punkt)
        if end and candidate.end < len(text):
            since = candidate.end
            yield since
    yield from forced[item:]


class _Place(NamedTuple):
    """A candidate and its surroundings."""

    text: str
    candidate: Candidate
    since: int

    @property
    def word(self) -> str:
        """The word before the stop."""
        start = self.candidate.start
        found = _LAST_WORD.search(self.text[max(self.since, start - 40) : start])
        return found[0] if found else ""

    @property
    def next_word(self) -> str:
        """The word behind it, opening quotes and brackets left out."""
        end = self.candidate.end
        found = _NEXT_WORD.match(self.text[end : end + 60])
        return found[1] if found else ""


def _latin_end(place: _Place, punkt: set[int]) -> bool:
    """Whether a sentence of Latin script ends at a candidate."""
    text, candidate, since = place
    following = text[candidate.end : candidate.end + 1]
    if not following:
        return True
    head = text[since : min(candidate.start, since + _HEAD)].lstrip()
    if not following.isspace():
        return _ends_unspaced(place, following)
    word = place.next_word
    lower = word[:1].islower() and not _BRAND.match(word)
    if head.startswith("**") and candidate.close.startswith("**") and len(head.split()) < 5:
        return False
    if candidate.stop[0] == "…" or ".." in candidate.stop or ". ." in candidate.stop:
        return not lower or word.startswith("http")
    if candidate.stop != ".":
        return not (lower and (candidate.close or (place.word[:1].isupper() and " " in head)))
    if _ENUMERATOR.match(head[:12]) and len(head) < 12:
        return False
    if candidate.close.strip("*_`") and lower:
        return False
    return _full_stop(place, word, lower=lower, punkt=punkt)


def _ends_unspaced(place: _Place, following: str) -> bool:
    """The same where no white space follows: a new sentence only if it plainly is one."""
    text, candidate, _ = place
    if MARKER.search(text[candidate.start : candidate.end]) or CJK.match(following):
        return not following.islower() and following.isalpha()
    found = _GLUED.match(text[candidate.end : candidate.end + 30])
    before = text[max(0, candidate.start - 2) : candidate.start]
    plain = before.isalpha() and before.islower()
    return bool(plain and found and found[0].lower() in _words()[_STARTER])


def _full_stop(place: _Place, following: str, *, lower: bool, punkt: set[int]) -> bool:
    """A single full stop with white space behind it: the one case that abbreviations decide."""
    word = place.word.lower()
    words = _words()
    starter = not lower and following.lower() in words[_STARTER] and following[:1].isupper()
    if word in words[_NEVER]:
        return False
    if word in words[_NUMBER] and _NUMERAL.match(following):
        return False
    if _HOUR.search(word):
        head = place.text[place.since : min(place.candidate.start, place.since + _HEAD)]
        bracket = place.text[place.candidate.end : place.candidate.end + 2].strip() in {"(", "["}
        return following[:1].isupper() and not bracket and len(head.split()) > 3
    if _ACRONYM.match(word) or (len(word) == 1 and word.isalpha()):
        return starter
    if word[-1:].isdigit():
        return True
    return place.candidate.start + 1 in punkt


@cache
def _words() -> dict[str, frozenset[str]]:
    """The sections of the abbreviations file."""
    sections: dict[str, set[str]] = {}
    section: set[str] = set()
    source = files("judge").joinpath("data", "abbreviations.txt")
    for raw in source.read_text(encoding="utf-8").splitlines():
        line = raw.strip()
        if line.startswith("["):
            section = sections.setdefault(line.strip("[]"), set())
        elif line and not line.startswith("#"):
            section.add(line)
    return {name: frozenset(words) for name, words in sections.items()}


@cache
def _tokenizer() -> PunktSentenceTokenizer:
    parameters = PunktParameters()
    parameters.abbrev_types = set(_words()[_NEVER] | _words()[_MAY_END])
    parameters.sent_starters = set(_words()[_STARTER])
    return PunktSentenceTokenizer(parameters)


def _punkt_ends(text: str) -> set[int]:
    """Where Punkt ends sentences.

    Quotes, brackets and markers are blanked first, so that it sees the words on either side. It
    works under a clock of five seconds and is given pieces: cut at white space, a cut is no end.
    """
    masked = MARKER.sub(lambda found: " " * len(found[0]), _MASKED.sub(" ", text))
    ends: set[int] = set()
    start = 0
    while start < len(masked):
        stop = _cut(masked, start)
        piece = masked[start:stop]
        spans = list(_tokenizer().span_tokenize(piece, realign_boundaries=False))
        ends.update(start + end for _, end in spans[:-1])
        start = stop
    return ends


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
