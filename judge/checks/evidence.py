"""Holding quotes to account: a quote counts as evidence once code has found it in its chunk."""

import re
from collections.abc import Iterator, Mapping, Sequence

from judge.records import (
    SUPPORTED,
    Chunk,
    Evidence,
    JudgeOutcome,
    Rules,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.text.fold import Folded, count_cjk, fold

# What a judge writes where it leaves words out; NFKC has already turned … into three dots.
_ELLIPSIS = re.compile(r"\s*[\[(]?(?:\.{3,}|⋯+)[\])]?\s*")
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_LETTER = re.compile(r"[^\W_]")
_IN_NUMBER = re.compile(r"(?<=\d)[.,](?=\d)")
_STOPS = ".。!?;,、\"'"
"""Of a chunk that is quoted whole, a judge leaves these out, or puts one."""
MIN_WORDS = 4
MIN_CJK = 8


def verify(
    outcomes: Mapping[int, JudgeOutcome], chunks: Sequence[Chunk], rules: Rules
) -> dict[int, JudgeOutcome]:
    """Look up every quote of every verdict in the chunk it is said to stand in.

    Found, a quote becomes the chunk's own characters with their offsets; not found, it is kept as
    given, unverified. Labels stay, except under `rules.require_quotes`: there a `full` or
    `partial` without a verified quote becomes `Unscored(unverified)`.
    """
    shelf = _Shelf(chunks)
    return {
        index: _verify_one(outcome, shelf, rules) if isinstance(outcome, Verdict) else outcome
        for index, outcome in outcomes.items()
    }


def find_quote(quote: str, chunk: str) -> tuple[int, int] | None:
    """Where `quote` stands in `chunk`: (start, end) in characters of `chunk`, or None.

    Both are folded (NFKC, case, width, white space). An ellipsis joins parts that must follow one
    another. A quote whose longest part has under four words and under eight CJK characters could
    stand anywhere, so it counts only if it is the whole chunk, its last full stop aside.
    """
    return _find(fold(quote).text, fold(chunk))


class _Shelf:
    """The chunks by id, each folded at most once."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._texts: dict[str, list[str]] = {}
        self._folded: dict[str, Folded] = {}
        for chunk in chunks:
            self._texts.setdefault(chunk.chunk_id, []).append(chunk.text)

    def look_up(self, evidence: Evidence) -> Evidence:
        """The evidence with the chunk's own characters, or unverified."""
        for text in self._texts.get(evidence.chunk_id, ()):
            span = self._span(evidence, text)
            if span:
                start, end = span
                return evidence.model_copy(
                    update={"quote": text[start:end], "start": start, "end": end, "verified": True}
                )
        return evidence.model_copy(update={"start": None, "end": None, "verified": False})

    def _span(self, evidence: Evidence, text: str) -> tuple[int, int] | None:
        start, end = evidence.start, evidence.end
        # A similarity judge cuts its windows out of the chunk: they are checked, not searched.
        if (
            start is not None
            and end is not None
            and 0 <= start < end <= len(text)
            and text[start:end] == evidence.quote
        ):
            return start, end
        if text not in self._folded:
            self._folded[text] = fold(text)
        return _find(fold(evidence.quote).text, self._folded[text])


def _verify_one(verdict: Verdict, shelf: _Shelf, rules: Rules) -> JudgeOutcome:
    evidence = tuple(shelf.look_up(item) for item in verdict.evidence)
    checked = verdict.model_copy(update={"evidence": evidence})
    if rules.require_quotes and checked.support in SUPPORTED and not checked.backed:
        quotes = "no quote" if not evidence else "no quote that stands in its chunk"
        # Where another judge stood in, the first failure is the one to count.
        return verdict.fallback_from or Unscored(
            reason=UnscoredReason.UNVERIFIED, detail=f"{verdict.support.value} with {quotes}"
        )
    return checked


def _find(quote: str, chunk: Folded) -> tuple[int, int] | None:
    parts = [part for part in _ELLIPSIS.split(quote) if part]
    if not parts:
        return None
    if not any(_long_enough(part) for part in parts):
        bare = quote.rstrip(_STOPS)
        whole = bool(bare) and bare == chunk.text.rstrip(_STOPS)
        return chunk.span(0, len(chunk.text)) if whole else None
    first = position = -1
    for part in parts:
        found = _find_words(part, chunk.text, max(position, 0))
        if found < 0:
            return None
        first = found if first < 0 else first
        position = found + len(part)
    return chunk.span(first, position)


def _find_words(part: str, text: str, start: int) -> int:
    """Like `text.find`, but a match may not begin or end inside a Latin word or a number."""
    found = text.find(part, start)
    if found < 0 or _stands_alone(text, found, found + len(part)):
        return found
    places = _places(part, text, found + 1)
    return next((at for at in places if _stands_alone(text, at, at + len(part))), -1)


def _places(part: str, text: str, start: int) -> Iterator[int]:
    """Where `part` stands, overlaps too, by Knuth, Morris and Pratt: repeats cost no square."""
    borders = [0] * len(part)
    matched = 0
    for i in range(1, len(part)):
        while matched and part[i] != part[matched]:
            matched = borders[matched - 1]
        matched += part[i] == part[matched]
        borders[i] = matched
    matched = 0
    for i in range(start, len(text)):
        while matched and text[i] != part[matched]:
            matched = borders[matched - 1]
        matched += text[i] == part[matched]
        if matched == len(part):
            yield i + 1 - matched
            matched = borders[-1]


def _stands_alone(text: str, start: int, end: int) -> bool:
    return not _joined(text, start) and not _joined(text, end)


def _joined(text: str, position: int) -> bool:
    if not 0 < position < len(text):
        return False
    if _IN_NUMBER.match(text, position) or _IN_NUMBER.match(text, position - 1):
        return True
    before, after = text[position - 1], text[position]
    return bool(
        _LETTER.match(before)
        and _LETTER.match(after)
        and not count_cjk(before)
        and not count_cjk(after)
    )


def _long_enough(part: str) -> bool:
    wide = count_cjk(part)
    # A word that mixes scripts ("iPhone手机") is counted once, by its CJK characters.
    words = sum(1 for word in _WORD.findall(part) if not count_cjk(word))
    return words / MIN_WORDS + wide / MIN_CJK >= 1
