"""Quotes: a quote is evidence only if code finds it in the chunk that the judge names."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from operator import is_
from typing import Final

from judge.records import (
    SUPPORTED,
    Chunk,
    Evidence,
    Flag,
    FlagName,
    JudgeOutcome,
    Rules,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.text.fold import CJK, PLAIN, Folded, count_cjk, fold
from judge.text.patterns import lazy_pattern

_LEAST_WORDS: Final = 4
_LEAST_CJK: Final = 8
# The mark of omitted words. Folding has turned … into three dots, and white space into one space.
_ELLIPSIS: Final = re.compile(r" ?[\[(]?(?:\.{3,}|⋯+)[\])]? ?")
_LOOSE: Final = re.compile(r" (?=[.,;:!?)\]](?!\w))")
_WORD: Final = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
# A quote must not begin or end inside an atom: a Latin word, or a number with its separators.
_ATOM: Final = lazy_pattern(rf"(?:[^\W_{CJK}]|(?<=\d)[.,](?=\d))+|.", re.DOTALL)
_PLAIN: Final = re.compile(f"[{PLAIN}]*")
_CONTEXT: Final = 2
"""The characters on either side that decide whether an offset is the edge of an atom."""
_MOST_PLACES: Final = 1000
"""The most places where a quote is looked for, so that the time stays linear."""
_STOPS: Final = ".。!?;,、\"'"
"""Marks that a judge may add or omit at the end of a whole chunk."""


def verify(
    outcomes: Mapping[int, JudgeOutcome], chunks: Sequence[Chunk], rules: Rules
) -> dict[int, JudgeOutcome]:
    """Look up every quote of every verdict in the chunk that it names.

    A quote that is found becomes the chunk's own characters with their offsets; another one is kept
    as given, unverified. Labels stay, except under `rules.require_quotes`: there a `full` or
    `partial` without a verified quote becomes `Unscored(unverified)`.
    """
    texts = _ChunkTexts(chunks)
    return {
        index: _verify_one(outcome, texts, rules) if isinstance(outcome, Verdict) else outcome
        for index, outcome in outcomes.items()
    }


def flag_quotes(outcomes: Mapping[int, JudgeOutcome]) -> tuple[Flag, ...]:
    """Flag each `full` or `partial` of which no quote was found, in the order of the sentences."""
    return tuple(
        Flag(name=FlagName.UNVERIFIED_QUOTE, sentence=index)
        for index, outcome in sorted(outcomes.items())
        if isinstance(outcome, Verdict) and outcome.support in SUPPORTED and not outcome.backed
    )


def find_quote(quote: str, chunk: str) -> tuple[int, int] | None:
    """Return the (start, end) of `quote` in characters of `chunk`, or None if it is not there.

    Both are folded (NFKC, case, width, white space, and no space before a stop). An ellipsis joins
    parts that must follow one another. No part begins or ends inside a Latin word or a number. A
    quote whose longest part has under four words and under eight CJK characters counts only if it
    is the whole chunk, its last full stop aside. Time is linear in the length of both.
    """
    return _Text(chunk).find(quote)


def find_words(quotes: Sequence[str], text: str) -> list[tuple[int, int] | None]:
    """Return the span of each quote in a text as `find_quote` does, also of very short quotes."""
    read = _Text(text)
    return [read.find(quote, short=True) for quote in quotes]


class _ChunkTexts:
    """The chunks by id, each folded at most once."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._texts: dict[str, list[_Text]] = {}
        for chunk in chunks:
            self._texts.setdefault(chunk.chunk_id, []).append(_Text(chunk.text))

    def look_up(self, evidence: Evidence) -> Evidence:
        """Return the evidence with the chunk's own characters, or unverified."""
        for text in self._texts.get(evidence.chunk_id, ()):
            if span := _span(evidence, text):
                start, end = span
                if evidence.verified and span == (evidence.start, evidence.end):
                    return evidence
                name, quote = evidence.chunk_id, text.whole[start:end]
                return Evidence(chunk_id=name, quote=quote, start=start, end=end, verified=True)
        return Evidence(chunk_id=evidence.chunk_id, quote=evidence.quote)


def _span(evidence: Evidence, text: "_Text") -> tuple[int, int] | None:
    start = -1 if evidence.start is None else evidence.start
    end = -1 if evidence.end is None else evidence.end
    # A similarity judge cuts its windows out of the chunk: they are checked, not searched.
    if 0 <= start < end <= len(text.whole) and text.whole[start:end] == evidence.quote:
        return start, end
    return text.find(evidence.quote)


def _verify_one(verdict: Verdict, texts: _ChunkTexts, rules: Rules) -> JudgeOutcome:
    evidence = tuple(texts.look_up(item) for item in verdict.evidence)
    same = all(map(is_, evidence, verdict.evidence))
    checked = verdict if same else verdict.model_copy(update={"evidence": evidence})
    if rules.require_quotes and checked.support in SUPPORTED and not checked.backed:
        quotes = "no quote" if not evidence else "no quote that stands in its chunk"
        # After a fallback the first judge's failure is counted.
        return verdict.fallback_from or Unscored(
            reason=UnscoredReason.UNVERIFIED, detail=f"{verdict.support.value} with {quotes}"
        )
    return checked


class _Text:
    """A chunk in which quotes are looked for."""

    def __init__(self, whole: str) -> None:
        self.whole = whole

    @cached_property
    def _folded(self) -> Folded:
        return _closed(fold(self.whole))

    def find(self, given: str, *, short: bool = False) -> tuple[int, int] | None:
        """Return the span of a quote in characters of the original chunk; None if absent."""
        quote = _LOOSE.sub("", fold(given).text)
        # A search for dots alone is much faster than the pattern.
        joined = "..." in quote or "⋯" in quote
        parts = [part for part in (_ELLIPSIS.split(quote) if joined else (quote,)) if part]
        long = any(map(_WORD.search if short else _long_enough, parts))
        exact = given.strip()
        at = _find_whole(exact, self.whole, 0) if long and not joined else -1
        # Most quotes are exact copies, for which the chunk need not be folded.
        if at >= 0 and _is_plain_around(self.whole, at, at + len(exact)):
            return at, at + len(exact)
        text = self._folded.text
        if not long:
            core = quote.rstrip(_STOPS) if parts else ""
            whole = core and core == text.rstrip(_STOPS)
            return self._folded.span(0, len(text)) if whole else None
        first, end = -1, 0
        for part in parts:
            at = _find_whole(part, text, end)
            if at < 0:
                return None
            first, end = at if first < 0 else first, at + len(part)
        return self._folded.span(first, end)


def _find_whole(part: str, text: str, low: int) -> int:
    """Return the first offset, `low` or more, of a part that cuts no atom at its ends; or -1."""
    for _ in range(_MOST_PLACES):
        at = text.find(part, low)
        if at < 0 or (_is_edge(text, at) and _is_edge(text, at + len(part))):
            return at
        low = at + 1
    return -1


def _closed(folded: Folded) -> Folded:
    """Return the text without spaces before a stop, which a blanked marker leaves behind."""
    closed = _LOOSE.sub("", folded.text)
    if closed == folded.text:
        return folded
    gaps = {gap.start() for gap in _LOOSE.finditer(folded.text)}
    kept = [at for at in range(len(folded.text)) if at not in gaps]
    starts, ends = (tuple(places[at] for at in kept) for places in (folded.starts, folded.ends))
    return Folded(closed, starts, ends)


def _is_plain_around(text: str, start: int, end: int) -> bool:
    """Return whether folding joins no character of a passage with those beside it."""
    beside = text[max(start - _CONTEXT, 0) : start] + text[end : end + _CONTEXT]
    return bool(_PLAIN.fullmatch(beside))


def _is_edge(text: str, place: int) -> bool:
    """Return whether a quote may begin or end at an offset."""
    if text[place - 1 : place + 1].strip() != text[place - 1 : place + 1]:
        return True  # beside a space, as most begin and end
    low = max(place - _CONTEXT, 0)
    within = text[low : place + _CONTEXT]
    return place == len(text) or any(low + atom.start() == place for atom in _ATOM.finditer(within))


def _long_enough(part: str) -> bool:
    words = _WORD.findall(part)
    if part.isascii():
        return len(words) >= _LEAST_WORDS
    # A word that mixes scripts ("iPhone手机") is counted once, by its CJK characters.
    own = sum(1 for word in words if not count_cjk(word))
    return own / _LEAST_WORDS + count_cjk(part) / _LEAST_CJK >= 1
