"""Chunks of one ranking that say the same twice, and such as may deny one another."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Final, NamedTuple
from unicodedata import normalize

from judge.records import Chunk
from judge.retrieval.conflicts import differ
from judge.retrieval.records import PairKind
from judge.retrieval.statements import Statement, state
from judge.text.fold import CJK
from judge.text.pieces import segments
from judge.text.words import CONTENT, stems, weight

_HAN: Final = re.compile(f"[{CJK}]{{2,}}")
_UNIT: Final = re.compile(rf"[{CJK}]|[^\W_{CJK}]+")
_LONGEST: Final = 20_000
"""So many characters of a chunk are read, from its start: pages are shorter."""
_SLICE: Final = 1000
_RUN: Final = 3
"""Words or CJK characters in a row: two are common phrases, and a changed word spoils each run."""
_LEAST: Final = 8
"""Runs: a shorter text, such as a heading, stands in others by chance."""
DUPLICATE: Final = 0.8
"""Containment from which two chunks are near-duplicates: with one word in fifteen changed, three
runs of three in fifteen are lost, and .8 is left."""
_ALIKE: Final = 0.5
"""Share of the telling words of two sentences from which they are laid side by side."""
_SENTENCES: Final = 400
"""So many sentences of a chunk are compared, from its start."""
_CROWD: Final = 32
"""So many sentences with one word in common are looked at: what more share is boilerplate."""
_COMPARED: Final = 2000
"""So many times two sentences of a ranking are laid side by side, those that rank high first."""


@dataclass(frozen=True, slots=True)
class ChunkPair:
    """Two chunks of one ranking, for a person to look at."""

    first: str
    """Id of the chunk that ranks higher."""
    second: str
    """Id of the other; the same where one id stands twice in the ranking."""
    first_rank: int
    """From 1."""
    second_rank: int
    """From 1, below the first."""
    kind: PairKind
    """A conflict is a possible one: nothing here knows whether both speak of one thing."""
    similarity: float
    """Of a duplicate, the share of the smaller chunk that stands in the other, 0.8 to 1. Of a
    conflict, the share of the words of both sentences that stand in both, 0.5 to 1."""
    detail: str = ""
    """Of a conflict, what each says: `500元 / 600元; not covered / covered`, as written there."""
    sentences: tuple[str, str] | None = None
    """Of a conflict, the first two sentences that differ so, as written."""


class _Line(NamedTuple):
    chunk: int
    text: str
    words: frozenset[str]
    """Stems that tell something, and two CJK characters in a row; figures are none."""


class _Hit(NamedTuple):
    one: _Line
    other: _Line
    detail: str


def pairs(chunks: Sequence[Chunk], k: int) -> tuple[ChunkPair, ...]:
    """Near-duplicate and possibly conflicting chunks among the first k of a ranking.

    A near-duplicate: of the runs of three words (or CJK characters), folded for case and width,
    |A ∩ B| / min(|A|, |B|) >= 0.8, 0 to 1 and in no direction; texts with under eight runs must be
    equal. So identical texts are found, one text within another, and copies with a few words
    changed (A. Z. Broder 1997, On the resemblance and containment of documents).

    A possible conflict: a sentence of each that says the same but for one figure, date, unit, name
    or negation; see `differ`. A sentence that one chunk says in several ways is a list of it, and
    no conflict. Two chunks may be both.

    No model and no network. It finds what was copied and altered, in English and Chinese, and not
    what is said in other words: of pairs it does not report nothing is known. Of a chunk the first
    20 000 characters and 400 sentences are read, and 2 000 times two sentences of a ranking are
    laid side by side: the time has a bound for each chunk, and one for each two of them.

    Args:
        chunks: in ranked order, with their texts.
        k: how many of them to look at, from 1.

    Returns:
        By rank of the first, then of the second, duplicates before conflicts; of each kind at most
        one a pair.

    >>> texts = ("差旅标准为500元。", "The standard is 500 yuan.", "差旅标准为600元。")
    >>> chunks = [Chunk(chunk_id=id_, text=text) for id_, text in zip("abc", texts, strict=True)]
    >>> [(pair.first, pair.second, pair.kind, pair.detail) for pair in pairs(chunks, 3)]
    [('a', 'c', 'conflict', '500元 / 600元')]
    """
    shown = chunks[:k]
    texts = [chunk.text[:_LONGEST] for chunk in shown]
    found = [*_duplicates(shown, texts), *_conflicts(shown, texts)]
    return tuple(sorted(found, key=lambda pair: (pair.first_rank, pair.second_rank)))


def _duplicates(chunks: Sequence[Chunk], texts: Sequence[str]) -> Iterator[ChunkPair]:
    units = [_units(text) for text in texts]
    runs = [frozenset(zip(*(own[at:] for at in range(_RUN)), strict=False)) for own in units]
    for at, to in combinations(range(len(runs)), 2):
        least = min(len(runs[at]), len(runs[to]))
        share = len(runs[at] & runs[to]) / least if least >= _LEAST else 0.0
        # Texts without a word or figure are alike only as written; what is blank is not known.
        written = bool(texts[at].strip()) and texts[at] == texts[to]
        same = units[at] == units[to] if units[at] else written
        if same or share >= DUPLICATE:
            first, second = chunks[at].chunk_id, chunks[to].chunk_id
            yield ChunkPair(first, second, at + 1, to + 1, "duplicate", 1.0 if same else share)


def _units(text: str) -> list[str]:
    # Normalizing a run of combining marks takes the square of its length.
    slices = (text[at : at + _SLICE] for at in range(0, len(text), _SLICE))
    return _UNIT.findall("".join(normalize("NFKC", part) for part in slices).casefold())


def _conflicts(chunks: Sequence[Chunk], texts: Sequence[str]) -> Iterator[ChunkPair]:
    for (at, to), hits in _hits(_lines(texts)).items():
        met = Counter(line for hit in hits for line in (hit.one, hit.other))
        told = [hit for hit in hits if met[hit.one] == met[hit.other] == 1]
        if told:
            one, other, _ = told[0]
            yield ChunkPair(
                chunks[at].chunk_id,
                chunks[to].chunk_id,
                at + 1,
                to + 1,
                "conflict",
                _overlap(one, other),
                "; ".join(dict.fromkeys(hit.detail for hit in told)),
                (one.text, other.text),
            )


def _lines(texts: Sequence[str]) -> list[_Line]:
    return [
        _Line(place, line, _telling(line))
        for place, text in enumerate(texts)
        # A sentence that a chunk says twice is said once.
        for line in dict.fromkeys(text[a:b] for a, b in segments(text)[:_SENTENCES])
    ]


def _telling(line: str) -> frozenset[str]:
    told = {key for key in stems(_HAN.sub(" ", line)) if weight(key) > CONTENT}
    for run in _HAN.findall(line):
        told.update(run[at : at + 2] for at in range(len(run) - 1))
    return frozenset(told)


def _hits(lines: Sequence[_Line]) -> dict[tuple[int, int], list[_Hit]]:
    """By two chunks, what their sentences say otherwise."""
    read: dict[str, Statement] = {}
    hits: dict[tuple[int, int], list[_Hit]] = defaultdict(list)
    for one, other in islice(_alike(lines), _COMPARED):
        read.update((text, state(text)) for text in {one.text, other.text}.difference(read))
        detail = differ(read[one.text], read[other.text])
        if detail is not None:
            hits[one.chunk, other.chunk].append(_Hit(one, other, " / ".join(detail)))
    return hits


def _alike(lines: Sequence[_Line]) -> Iterator[tuple[_Line, _Line]]:
    """Two sentences of different chunks with most of their telling words in common.

    Sets with a share s in common have one of their |set| (1 - s) + 1 rarest words in common
    (prefix filtering: Chaudhuri, Ganti and Kaushik 2006, ICDE), so the others need no look.
    """
    common = Counter(word for line in lines for word in line.words)
    holders: dict[str, list[int]] = defaultdict(list)
    for place, line in enumerate(lines):
        prefix = math.floor(len(line.words) * (1 - _ALIKE)) + 1
        met = [word for word in line.words if common[word] > 1]
        # Words that no other sentence has come first and find nothing.
        prefix = max(0, prefix - len(line.words) + len(met))
        near: set[int] = set()
        for word in sorted(met, key=lambda word: (common[word], word))[:prefix]:
            near.update(holders[word])
            if len(holders[word]) < _CROWD:
                holders[word].append(place)
        low, high = len(line.words) * _ALIKE, len(line.words) / _ALIKE
        for one in map(lines.__getitem__, sorted(near)):
            apart = one.chunk != line.chunk and one.text != line.text
            if apart and low <= len(one.words) <= high and _overlap(one, line) >= _ALIKE:
                yield one, line


def _overlap(one: _Line, other: _Line) -> float:
    both = len(one.words & other.words)
    return both / (len(one.words) + len(other.words) - both)
