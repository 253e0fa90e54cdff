"""Parts of a sentence: what of it each of its citations stands behind."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Final

from judge.records import Chunk, Citation, CitedPart, Sentence
from judge.text.fold import CJK_CHAR
from judge.text.words import CONTENT, blank, weight, words

_LEAST: Final = 2
"""Telling words and figures, or pairs of Chinese characters, that a clause has."""
_LEAST_CLAUSE: Final = 3
"""The same of a clause that is looked at by itself: less may stand in any text of the field."""
_MOST: Final = 32
"""Clauses of one part that are looked at by themselves; more are a table."""
_ALONE: Final = 0.8
"""Share of what a claim says by which a passage carries it alone."""
_ADDED: Final = 0.15
"""Share that a passage adds to what the others say, where it carries a part."""
_JOINS: Final = (
    r"[,，](?!\d)|[;；、]|\b(?:and|but|while|whereas|or)\b|以及|同时|而且|并且|但是|此外"
)
_BREAK: Final = re.compile(_JOINS)
_BREAK_NEXT: Final = re.compile(rf"\s*+[)）\]】*_`\"”’]*+\s*+(?:{_JOINS}|[:：而但且并和])")
_BETWEEN: Final = re.compile(r"(?:\s|[,，;；、&]|\band\b|和|与)*")
_FIGURE: Final = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(slots=True)
class _Group:
    """Markers that stand side by side; places are in the sentence."""

    start: int
    end: int
    citations: list[Citation]


def cited_parts(
    sentences: Sequence[Sentence], citations: Sequence[Citation], chunks: Sequence[Chunk]
) -> dict[int, tuple[CitedPart, ...]]:
    """For a sentence index what its citations stand behind, if that is not the sentence as a whole.

    Markers side by side stand behind one part. A part reaches from the one before it to its
    markers, or, where the markers stand in front of what they cite, to those of the next. What
    stands behind the last marker and a comma nobody cites. Where one chunk is cited for all of a
    sentence, the sentence is absent.
    """
    places: dict[str, list[int]] = {}
    for position, chunk in enumerate(chunks):
        places.setdefault(chunk.chunk_id, []).append(position)
    found: dict[int, tuple[CitedPart, ...]] = {}
    for index, own in groupby(citations, attrgetter("sentence")):
        sentence, named = sentences[index], tuple(own)
        resolved = {each.chunk_id for each in named} - {None}
        inside = named[-1].end < sentence.end - 1
        if resolved and (len(named) > 1 or inside):
            parts = tuple(_parts(sentence, named, places))
            if len(resolved) > 1 or [(each.start, each.end) for each in parts] != [
                (sentence.start, sentence.end)
            ]:
                found[index] = parts
    return found


def telling(text: str) -> dict[str, float]:
    """What a text says: its telling words and figures, and pairs of Chinese characters, weighed."""
    said = words(text)
    found = {text[each.start() : each.end()]: 1.0 for each in _FIGURE.finditer(text)}
    before = -1
    for stem, start, end in zip(*said, strict=True):
        if CJK_CHAR.match(stem):
            if start == before:
                found[text[start - 1 : end]] = (weight(text[start - 1]) + weight(stem)) / 2
            before = end
        elif weight(stem) > CONTENT:
            found[stem] = weight(stem)
    return found


def carriers(claim: str, said: Mapping[str, Iterable[str]], whole: float = 0.0) -> set[str]:
    """The names of the texts that carry a claim: alone, or what no other of them says.

    `said` are passages by name; where all of them together say less than the share `whole` of the
    claim, none does.
    """
    weights = telling(claim)
    total = sum(weights.values())
    found = {
        name: {key for passage in passages for key in weights.keys() & telling(passage).keys()}
        for name, passages in said.items()
    }
    count = Counter(key for keys in found.values() for key in keys)

    def share(keys: Iterable[str]) -> float:
        return sum(weights[key] for key in keys) / total if total else 0.0

    if share(count) < whole:
        return set()
    return {
        name
        for name, keys in found.items()
        if share(keys) >= _ALONE or share(key for key in keys if count[key] == 1) >= _ADDED
    }


def _parts(
    sentence: Sentence, citations: Sequence[Citation], places: dict[str, list[int]]
) -> Iterator[CitedPart]:
    groups = _groups(sentence, citations)
    spans = [(each.start - sentence.start, each.end - sentence.start) for each in citations]
    bare = blank(sentence.text, sorted(set(spans)))
    for start, end, named in _spans(bare, groups):
        yield CitedPart(
            start=sentence.start + start,
            end=sentence.start + end,
            clauses=tuple(
                (sentence.start + low, sentence.start + high)
                for low, high in _clauses(bare, start, end)
            ),
            cites=tuple(
                sorted({at for each in named for at in places.get(each.chunk_id or "", ())})
            ),
            markers=tuple(dict.fromkeys(each.start for each in named)),
        )


def _groups(sentence: Sentence, citations: Sequence[Citation]) -> list[_Group]:
    found: list[_Group] = []
    for each in citations:
        start, end = each.start - sentence.start, each.end - sentence.start
        if found and _BETWEEN.fullmatch(sentence.text, found[-1].end, max(start, found[-1].end)):
            found[-1].end = max(end, found[-1].end)
            found[-1].citations.append(each)
        else:
            found.append(_Group(start, end, [each]))
    return found


def _spans(bare: str, groups: Sequence[_Group]) -> Iterator[tuple[int, int, list[Citation]]]:
    """Each part with its citations; where nothing tells parts from each other they are one."""
    front = not _says(bare[: groups[0].start])
    whole = _Whole(bare, 0)
    waiting: list[Citation] = []
    for group, after in zip(groups, [*groups[1:], None], strict=True):
        waiting += group.citations
        limit = after.start if after else len(bare)
        cut = _cut(bare, group.end, limit, front=front, last=after is None)
        if cut is not None and whole.says(cut):
            yield whole.start, cut, waiting
            whole, waiting = _Whole(bare, cut), []
    if waiting:
        yield whole.start, len(bare), waiting


def _cut(bare: str, place: int, limit: int, *, front: bool, last: bool) -> int | None:
    """Where the part of the markers that end at `place` ends; None where nothing tells."""
    if front:
        if last:
            return len(bare)
        return max((each.start() for each in _BREAK.finditer(bare, place, limit)), default=limit)
    if _BREAK_NEXT.match(bare, place):
        return place
    if last:
        return len(bare)
    found = _BREAK.search(bare, place, limit)
    return found.start() if found else None


def _clauses(bare: str, start: int, end: int) -> list[tuple[int, int]]:
    """The clauses of a part that say enough by themselves, where there are several."""
    found, whole = list[tuple[int, int]](), _Whole(bare, start)
    for cut in (*(each.start() for each in _BREAK.finditer(bare, start, end)), end):
        if whole.says(cut, _LEAST_CLAUSE):
            found.append((whole.start, cut))
            whole = _Whole(bare, cut)
    return found if 1 < len(found) <= _MOST else []


class _Whole:
    """What begins at a place, and grows until it says enough; each character is read once."""

    def __init__(self, bare: str, start: int) -> None:
        self.start = self._read = start
        self._bare = bare
        self._told: set[str] = set()

    def says(self, end: int, least: int = _LEAST) -> bool:
        """Whether it says enough to be judged if it ends there."""
        self._told.update(telling(self._bare[self._read : end]))
        self._read = end
        return len(self._told) >= least


def _says(text: str) -> bool:
    """Whether a text says enough to be judged."""
    return len(telling(text)) >= _LEAST
