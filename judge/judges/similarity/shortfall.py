"""What a sentence says that the passages lack, in words for a reader."""

from collections.abc import Sequence
from typing import Final

from judge.checks.numbers import MEASURES
from judge.judges.similarity.terms import Term
from judge.text.fold import CJK_CHAR
from judge.text.words import CONTENT

_NAMED: Final = 4


def no_passages(sentence: str) -> str:
    """The same where there is not one passage."""
    return "没有段落" if CJK_CHAR.search(sentence) else "no chunks"


def shortfall(sentence: str, missing: Sequence[Term], scattered: Sequence[Term]) -> str:
    """Why a sentence is not supported, in its own language and in a few words.

    Args:
        sentence: as written.
        missing: its terms that stand in no passage; the weightiest four are named.
        scattered: its terms that do not stand in the best place, named where none is missing.
    """
    chinese = CJK_CHAR.search(sentence) is not None
    for lost, english, han in (
        (missing, "not in the passage", "段落中没有"),
        (scattered, "not in one place", "不在同一处"),
    ):
        named = _named(sentence, lost)
        if named:
            return f"{han}：{'、'.join(named)}" if chinese else f"{english}: {', '.join(named)}"
    return "与段落相似度低" if chinese else "too little in common with the passages"


def _named(text: str, lost: Sequence[Term]) -> list[str]:
    """The weightiest of the lost, as written, in reading order; Chinese neighbours go together."""
    runs: list[tuple[int, int, float]] = []
    for term in sorted(lost, key=lambda term: (term.start, -term.end)):
        start, end, weight = runs[-1] if runs else (-1, -1, 0.0)
        touching = term.start == end and (
            CJK_CHAR.match(text[end]) or CJK_CHAR.match(text[end - 1])
        )
        if term.start < end or touching:
            runs[-1] = (start, max(end, term.end), max(weight, term.weight))
        else:
            runs.append((term.start, term.end, term.weight))
    top = sorted((run for run in runs if run[2] > CONTENT), key=lambda run: -run[2])[:_NAMED]
    return [_rounded(text, start, end) for start, end, _ in sorted(top)]


def _rounded(text: str, start: int, end: int) -> str:
    """`45` with the measure behind it; half a Chinese word with the character before it."""
    if text[end - 1].isdigit() and text[end : end + 1] in set(MEASURES):
        return text[start : end + 1]
    if (
        end - start == 1
        and start
        and CJK_CHAR.match(text[start])
        and CJK_CHAR.match(text[start - 1])
    ):
        return text[start - 1 : end]
    return text[start:end]
