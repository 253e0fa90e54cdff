"""Flags of samples that no judge can judge fairly: no chunk text, unjudged text, conflicts."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple

from judge.checks.mismatch import ValueIndex, kinds, read_values
from judge.checks.polarity import read
from judge.checks.values import HAN_NUMERALS, SPELLED, Value
from judge.records import Chunk, Flag, FlagName, Sample
from judge.text.patterns import lazy_pattern
from judge.text.pieces import segments
from judge.text.visible import clip, flat

_MARKER: Final = lazy_pattern(r"[\[【（(][^\[\]【】（）()\n]{1,80}[\]】）)]")
"""A citation, number or aside in brackets, which is no omitted sentence."""
_FEWEST_WORDS: Final = 2
"""Content words that both sentences have: `$900` and `$970` alone are about different things."""
_UNCOMPARED: Final = frozenset(("", "clock", "date"))
"""Kinds of values that name things (room 5, the train at 8:21) as often as they measure them."""
_PREFIX: Final = 5
"""Characters of a word by which sentences are grouped; shorter words do not count."""
_OPENING_WORDS: Final = 2
_COMPARED: Final = 20
"""The number of earlier sentences with the same words that a sentence is compared with."""
_VALUE_CHARACTERS: Final = 40
_ID_CHARACTERS: Final = 80
_NUMERALS: Final = re.compile(rf"[\d.,{HAN_NUMERALS}]+")
_LONG_WORD: Final = re.compile(rf"([^\W\d_{HAN_NUMERALS}]{{{_PREFIX}}})\S*")
_SPELLED: Final = frozenset(word[:_PREFIX] for word in SPELLED)


def flag_chunks(sample: Sample, *, claims: bool) -> Iterator[Flag]:
    """Flag claims without any chunk text, and a chunk id that has two texts."""
    if claims and not any(chunk.text.strip() for chunk in sample.chunks):
        yield Flag(name=FlagName.NO_CHUNKS)
    texts: dict[str, str] = {}
    twice = {c.chunk_id for c in sample.chunks if texts.setdefault(c.chunk_id, c.text) != c.text}
    if twice:
        yield Flag(name=FlagName.AMBIGUOUS_CHUNK_ID, detail="; ".join(sorted(twice)))


def flag_gaps(sample: Sample) -> Iterator[Flag]:
    """Flag words outside the sentences that came with the answer."""
    if sample.sentences is None:
        return
    starts = [*(each.start for each in sample.sentences), len(sample.answer)]
    ends = [0, *(each.end for each in sample.sentences)]
    gaps = (sample.answer[end:start] for end, start in zip(ends, starts, strict=True))
    words = ["".join(_MARKER.sub("", gap).split()) for gap in gaps]
    if count := sum(len(each) for each in words if any(map(str.isalpha, each))):
        yield Flag(name=FlagName.UNJUDGED_TEXT, detail=str(count))


class _Statement(NamedTuple):
    """A sentence of a chunk: its content words in order, and its values."""

    chunk: int
    text: str
    words: tuple[tuple[str, tuple[str, ...]], ...]
    """Each content word, with the words of grammar that govern it; the key of a value is empty."""
    values: list[Value]


def flag_conflicts(chunks: Sequence[Chunk]) -> Iterator[Flag]:
    """Flag the first two chunks that contradict each other by a measured value.

    The sentences have the same content words in the same order, and the same values but for one.
    It is an amount with a unit: "5 days" in one chunk, "10 days" in the other. A chunk that says
    both contradicts neither.
    """
    for sides in _candidates(chunks):
        if values := _conflict(*sides):
            details = []
            for side, value in zip(sides, values, strict=True):
                written = clip(flat(side.text[value.start : value.end]), _VALUE_CHARACTERS)
                name = clip(chunks[side.chunk].chunk_id, _ID_CHARACTERS)
                details.append(f"{name}: {written}")
            yield Flag(name=FlagName.CONFLICTING_CHUNKS, detail="; ".join(details))
            return


def _candidates(chunks: Sequence[Chunk]) -> Iterator[tuple[_Statement, _Statement]]:
    """Yield statements of different chunks that may differ by a value alone."""
    sentences = (
        (number, chunk.text[start:end])
        for number, chunk in enumerate(chunks)
        for start, end in segments(chunk.text)
    )
    # Most sentences begin like those of no other chunk, and need no outline.
    alike = _alike(sentences, _opening)
    for group in chain.from_iterable(_alike(group, _outline) for group in alike):
        statements = [_statement(*each) for each in group]
        contents = [(each.words, tuple(v.readings for v in each.values)) for each in statements]
        contents_by_chunk = {
            (each.chunk, own) for each, own in zip(statements, contents, strict=True)
        }
        for place, other in enumerate(statements):
            for before in range(max(0, place - _COMPARED), place):
                one = statements[before]
                both = {(one.chunk, contents[place]), (other.chunk, contents[before])}
                if one.chunk != other.chunk and contents_by_chunk.isdisjoint(both):
                    yield one, other


def _alike(
    sentences: Iterable[tuple[int, str]], key: Callable[[str], object]
) -> list[list[tuple[int, str]]]:
    """Return the groups of sentences that have one key and come from two or more chunks."""
    groups: dict[object, list[tuple[int, str]]] = {}
    for number, text in sentences:
        groups.setdefault(key(text), []).append((number, text))
    return [group for group in groups.values() if group[0][0] != group[-1][0]]


def _opening(text: str) -> tuple[str, ...]:
    """Return how the first two long words begin, which is the same in conflicting sentences.

    Spelled numbers do not count: `Eleven trains leave every morning` gives `train` and `leave`.
    Chinese text without a space is one word: `退款申请将在3天内处理` gives `退款申请将`.
    """
    starts: list[str] = []
    for found in _LONG_WORD.finditer(text):
        start = found[1].lower()
        if start not in _SPELLED:
            starts.append(start)
            if len(starts) == _OPENING_WORDS:
                break
    return tuple(starts)


def _outline(text: str) -> tuple[str, ...]:
    """Return how the long words but numbers begin, which is the same in conflicting sentences."""
    words = _NUMERALS.sub("", text.lower()).split()
    starts = [word[:_PREFIX] for word in words if len(word) >= _PREFIX]
    if not _SPELLED.isdisjoint(starts):
        starts = [start for start in starts if start not in _SPELLED]
    return tuple(starts)


def _statement(chunk: int, text: str) -> _Statement:
    values = read_values(text)
    places = {at for value in values for at in range(value.start, value.end)}
    words = tuple(
        ("" if token.start in places else token.key, tuple(mark.name for mark in token.marks))
        for token in read(text).tokens
        if token.start not in places or token.marks
    )
    return _Statement(chunk, text, words, values)


def _conflict(one: _Statement, other: _Statement) -> tuple[Value, Value] | None:
    """Return the values by which two statements contradict each other, or None."""
    same = one.words == other.words and len(one.values) == len(other.values)
    if not same or sum(bool(key) for key, _ in one.words) < _FEWEST_WORDS:
        return None
    pairs = zip(one.values, other.values, strict=True)
    differing = [pair for pair in pairs if not _are_equal(*pair)]
    if len(differing) == 1 and _are_comparable(*differing[0]):
        return differing[0]
    return None


def _are_equal(one: Value, other: Value) -> bool:
    return ValueIndex([one]).has(other) or ValueIndex([other]).has(one)


def _are_comparable(one: Value, other: Value) -> bool:
    """Return whether both surely measure the same kind of thing."""
    return one.certain and other.certain and bool((kinds(one) & kinds(other)) - _UNCOMPARED)
