"""Sentences of an answer, with their places in it."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache, partial
from itertools import islice, pairwise
from typing import Any, Final, NamedTuple

from judge.answer.blocks import Block, blocks
from judge.answer.markers import MARKER, unmarked
from judge.answer.stops import Place, candidates, enclosed, ends_sentence
from judge.records import MOST_SENTENCES, Sample, Sentence
from judge.text import toolkit
from judge.text.words import abbreviations

EDITION: Final = 5
"""Part of every signature: a change of where sentences end, or of what counts as a claim, makes
numbers incomparable."""

_PIECE = 20_000
_MASKED = str.maketrans(dict.fromkeys('"“”‘«»()[]{}*_`', " "))
_QUOTE_BEHIND = re.compile("(?<=[.!?])['’]")


def split(answer: str, most: int = MOST_SENTENCES) -> tuple[Sentence, ...]:
    """Cut an answer into sentences, in time linear in its length.

    Layout is obeyed first (lines, list items, table rows, headings, code fences), then Latin
    script is cut by Punkt (Kiss and Strunk 2006) with this package's abbreviations, and CJK
    script at its stops. The sentences do not overlap, have no white space at their ends, and
    together hold every non-blank character; their kind is left at claim. Where there would be more
    than `most`, the whole is one.

    >>> [s.text for s in split("Paris is big. [1] 人口为210万。面积不大。")]
    ['Paris is big. [1]', '人口为210万。', '面积不大。']
    """
    all_spans = (span for block in blocks(answer) for span in _spans(answer, block))
    spans = list(islice(all_spans, most + 1))
    if len(spans) > most:
        start = spans[0][0]
        spans = [(start, start + len(answer[start:].rstrip()))]
    return tuple(
        Sentence(index=index, start=start, end=end, text=answer[start:end])
        for index, (start, end) in enumerate(spans)
    )


def sentences_of(sample: Sample) -> tuple[Sentence, ...]:
    """The sentences of an answer: as they came, or else cut."""
    if sample.sentences is None:
        return split(sample.answer)
    return tuple(
        Sentence(index=n, start=at.start, end=at.end, text=sample.answer[at.start : at.end])
        for n, at in enumerate(sample.sentences)
    )


def _spans(answer: str, block: Block) -> Iterator[tuple[int, int]]:
    """Spans of the sentences of one block, into the answer."""
    if block.whole:
        yield block.start, block.end
        return
    text = answer[block.start : block.end]
    for start, end in pairwise((0, *_ends(text), len(text))):
        part = text[start:end]
        if stripped := part.strip():
            first = block.start + start + len(part) - len(part.lstrip())
            yield first, first + len(stripped)


def _ends(text: str) -> Iterator[int]:
    """Where sentences end in running text, ascending, without the end of the text itself."""
    listed = inline_items(text)
    forced = listed.begin
    stops = list(candidates(text, spaced_marks=not MARKER.match(text)))
    if not stops:
        yield from forced
        return
    closed = list(enclosed(text))
    punkt = partial(_punkt_ends, text)
    since = closing = item = 0
    for candidate in stops:
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
        if ends_sentence(Place(text, candidate, since), punkt):
            since = candidate.end
            yield since
    yield from (place for place in forced[item:] if place > since)


@lru_cache(maxsize=2)  # two threads may cut
def _punkt_ends(text: str) -> frozenset[int]:
    return frozenset(_punkt(text))


@cache
def _tokenizer() -> Any:  # noqa: ANN401  nltk ships no types
    words = abbreviations()
    return toolkit.punkt(words.never_end | words.may_end, words.starters)


def _punkt(text: str) -> Iterator[int]:
    """Where Punkt ends sentences in a text.

    Quotes, brackets and markers are blanked first, so that it sees the words on either side. It
    works under a clock of five seconds and is given pieces: cut at white space, a cut is no end.
    """
    masked = _QUOTE_BEHIND.sub(" ", unmarked(text, " ").translate(_MASKED))
    start = 0
    while start < len(masked):
        stop = _cut(masked, start)
        spans = _tokenizer().span_tokenize(masked[start:stop], realign_boundaries=False)
        yield from [start + end for _, end in spans][:-1]
        start = stop


def _cut(text: str, start: int) -> int:
    """End of the piece of `text` that begins at `start`: white space, and no stop before it."""
    limit = start + _PIECE
    if limit >= len(text):
        return len(text)
    space = max(text.rfind(" ", start, limit), text.rfind("\n", start, limit))
    while space > start and text[space - 1] in ".!? \n":
        space -= 1
        if text[space] not in " \n":
            space = max(text.rfind(" ", start, space), text.rfind("\n", start, space))
    return space if space > start else limit


# Lists inside running text: `1) … 2) …`, `• … • …`, and rows of signs that part sections.

_BEFORE = r"(?<![^\s：。！？；，、])"
_NUMBERED = re.compile(
    _BEFORE + r"(?P<bullet>[•⁃]\s?)?(?P<number>\d{1,2})(?P<style>\.\)|\)|\.)(?=\s)"
)
_LETTERED = re.compile(_BEFORE + r"(?P<number>[a-z])(?P<style>\.\)|\)|\.)(?=\s)")
# Capitals are most often initials: `A.` counts behind a colon, `B.` behind a stop.
_CAPITALS = re.compile(
    r"(?:(?<=[:.!?,]\s)|(?<=[：。！？；，、]))(?P<number>[A-Z])(?P<style>\.\)|\)|\.)(?=\s)"
)
_BULLET = re.compile(r"(?<=\s)[•⁃▪●◦‣](?=\s)")
_RULE = re.compile(r"(?<!\S)(?:\*{3,}+|([-=_~*])\1{4,}+)(?!\S)")
_SAME_SENTENCE = re.compile(r"(?:[,，、]|\band|\bor|\bof|\bin)\s*+$")
_URL_BEFORE_URL = re.compile(r"(?<!\S)https?://\S++\s++(?=https?://)")
_FACE_BEFORE_SENTENCE = re.compile(r"(?<=\w)\s++[:;]-?[)(DP]\s++(?=[A-Z])")
# One look tells most texts from lists, which the looks below would take apart at length; and plain
# words are looked for far quicker than patterns.
_SIGNS_OF_ITEMS = (
    *("•", "⁃", "▪", "●", "◦", "‣", "***", "-----", "=====", "_____", "~~~~~", "http"),
    *(f"{number}{stop}" for number in "2bB" for stop in (".", ")")),
    *(f"{eyes}{nose}" for eyes in ":;" for nose in "-)(DP"),
)
_WORTH_A_LOOK = re.compile(
    r"[•⁃▪●◦‣]|\*{3}|([-=_~])\1{4}|https?://|[2bB]\.?[.)]\s|\s[:;]-?[)(DP]\s"
)


class Items(NamedTuple):
    """Where the items of inline lists stand."""

    begin: list[int]
    """Ascending places, the beginning and the end of the text left out."""
    stops: frozenset[int]
    """Places of the signs that close their enumerators: `.` of `1.`. They end no sentence."""


def inline_items(text: str) -> Items:
    """Find the items of inline lists.

    A list counts only if its numbers or letters follow one another; with full stops or in capitals,
    only if it also begins the text or stands behind a colon. Where one stands behind a comma or
    "and", they count the parts of one sentence, which begin no item. A row of signs is an item,
    and so is what follows it.

    >>> inline_items("Steps: 1. Wash it. 2. Dry it.")
    Items(begin=[7, 19], stops=frozenset({8, 20}))
    """
    if not (any(map(text.__contains__, _SIGNS_OF_ITEMS)) and _WORTH_A_LOOK.search(text)):
        return Items([], frozenset())
    places = {found.start() for found in _BULLET.finditer(text)}
    places.update(place for found in _RULE.finditer(text) for place in found.span())
    stops: set[int] = set()
    for pattern, first in ((_NUMBERED, "1"), (_LETTERED, "a"), (_CAPITALS, "A")):
        run = _sequence(text, pattern, first)
        stops.update(enumerator.start("style") for enumerator in run)
        starts = [enumerator.start() for enumerator in run]
        if not any(_SAME_SENTENCE.search(text[max(0, at - 5) : at]) for at in starts):
            places.update(starts)
    for pattern in (_URL_BEFORE_URL, _FACE_BEFORE_SENTENCE):
        places.update(found.end() for found in pattern.finditer(text))
    return Items(sorted(place for place in places if 0 < place < len(text)), frozenset(stops))


def _sequence(text: str, pattern: re.Pattern[str], first: str) -> Sequence[re.Match[str]]:
    """The enumerators that count on from the first of the text."""
    run: list[re.Match[str]] = []
    for enumerator in pattern.finditer(text):
        if run and _follows(run[-1], enumerator):
            run.append(enumerator)
        elif not run and _opens(text, enumerator, first):
            run = [enumerator]
    return run if len(run) > 1 else ()


def _opens(text: str, found: re.Match[str], first: str) -> bool:
    at_start = not found.start()
    if found["number"] != first and not (at_start and found.groupdict().get("bullet")):
        return False
    before = text[max(0, found.start() - 3) : found.start()].rstrip()
    if found["style"] == "." or first == "A":
        return at_start or before.endswith((":", "："))
    # Behind a comma the numbers only count the parts of one sentence: 1) this, 2) that.
    return at_start or not before.endswith((",", "("))


def _follows(one: re.Match[str], other: re.Match[str]) -> bool:
    rank, next_rank = (
        int(each["number"]) if each["number"].isdigit() else ord(each["number"])
        for each in (one, other)
    )
    return one["style"] == other["style"] and next_rank == rank + 1
