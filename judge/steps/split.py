"""Splitting an answer into sentences, with their places in it."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

from judge.records import Sentence
from judge.text.abbreviations import abbreviations
from judge.text.blocks import Block, blocks
from judge.text.enumerations import items
from judge.text.fold import CJK_CHAR
from judge.text.terminators import (
    MARKER,
    Candidate,
    candidates,
    enclosed,
    ends_sentence,
    full_width,
)

EDITION: Final = 1
"""Part of every signature: a change of where sentences end makes numbers incomparable."""

_PIECE = 20_000
_HEAD = 100
_LEAD_IN_WORDS = 4
# "At 5 a.m. Mr. Smith" is no sentence as far as the hour; with a few more words it is one.
_CLAUSE_WORDS = 4
_MASKED = re.compile(r"[\"“”‘«»()\[\]{}*_`]|(?<=[.!?])['’]")
_LAST_WORD = re.compile(r"[^\s\"“”‘'«»(\[{*_`/]+$")
_NEXT_WORD = re.compile(r"[\s\"“”‘'’«»(\[{*_`]*+([^\s,.!?;:)\]}\"'”’*_`]*+)")
_ACRONYM = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]{1,3}$")
_HOUR = re.compile(r"[ap]\.m$", re.IGNORECASE)
_NUMERAL = re.compile(r"[#§]?\d|[IVXLC]+\b|[A-Z]\b")
_ENUMERATOR = re.compile(r"\W{0,5}(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})[.)]?")
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
        if closing < len(closed) and closed[closing][0] < candidate.start:
            continue
        if candidate.end == len(text):
            break
        wide = full_width(text, candidate)
        place = _Place(text, candidate, since)
        if ends_sentence(text, candidate, since) if wide else _latin_end(place, punkt):
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

    def __contains__(self, place: int) -> bool:
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


class _Place(NamedTuple):
    """A candidate and its surroundings."""

    text: str
    candidate: Candidate
    since: int

    @property
    def head(self) -> str:
        """The beginning of the sentence, as far as the stop."""
        start = self.candidate.start
        return self.text[self.since : min(start, self.since + _HEAD)].lstrip()

    @property
    def leads_in(self) -> bool:
        """Whether the stop only closes a list marker (`1.`) or a title in bold (`**Note.**`)."""
        head, candidate = self.head, self.candidate
        if candidate.stop == "." and _ENUMERATOR.fullmatch(head):
            return True
        bold = head.startswith("**") and candidate.close.startswith("**")
        return bold and len(head.split()) <= _LEAD_IN_WORDS

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


def _latin_end(place: _Place, punkt: _Punkt) -> bool:
    """Whether a sentence of Latin script ends at a candidate that is not the end of the text."""
    candidate = place.candidate
    following = place.text[candidate.end]
    if place.leads_in:
        return False
    if not following.isspace():
        return _ends_unspaced(place, following)
    word = place.next_word
    lower = word[:1].islower() and not _BRAND.match(word)
    if candidate.stop == ".":
        quoted = bool(candidate.close.strip("*_`"))
        return not (quoted and lower) and _full_stop(place, word, lower=lower, punkt=punkt)
    if candidate.stop[0] == "…" or ".." in candidate.stop or ". ." in candidate.stop:
        return not lower or word.startswith("http")
    # Yahoo! in mid-sentence is a name, and so may be any capitalised word there.
    named = place.word[:1].isupper() and " " in place.head
    return not (lower and (candidate.close or named))


def _ends_unspaced(place: _Place, following: str) -> bool:
    """The same where no white space follows: a new sentence only if it plainly is one."""
    text, candidate, _ = place
    before = text[max(0, candidate.start - 2) : candidate.start]
    if MARKER.search(text[candidate.start : candidate.end]):
        return not following.islower() and following.isalpha()
    if CJK_CHAR.match(following):
        return not before[-1:].isdigit()
    found = _GLUED.match(text[candidate.end : candidate.end + 30])
    plain = before.isalpha() and before.islower()
    return bool(plain and found and found[0].lower() in abbreviations().starters)


def _full_stop(place: _Place, following: str, *, lower: bool, punkt: _Punkt) -> bool:
    """A single full stop with white space behind it: the one case that abbreviations decide."""
    word = place.word.lower()
    words = abbreviations()
    starter = not lower and following.lower() in words.starters and following[:1].isupper()
    if word in words.never_end:
        return False
    if word in words.before_number and _NUMERAL.match(following):
        return False
    if _HOUR.search(word):
        bracket = place.text[place.candidate.end : place.candidate.end + 2].strip() in {"(", "["}
        return following[:1].isupper() and not bracket and len(place.head.split()) >= _CLAUSE_WORDS
    if _ACRONYM.match(word) or (len(word) == 1 and word.isalpha()):
        return starter
    if word[-1:].isdigit():
        return True
    return place.candidate.start + 1 in punkt
