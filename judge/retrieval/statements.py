"""A sentence as its telling words, figures and denials, so that two can be laid side by side."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from judge.checks.dates import Date, dates
from judge.checks.denials import negations
from judge.checks.labels import blank_labels
from judge.checks.quantities import Quantity, quantities
from judge.checks.sequence import Token
from judge.text.fold import CJK_CHAR
from judge.text.words import LIGHT, blank_markup, is_auxiliary, stems, weight, words

_FIGURE: Final = "#"
_HAN: Final = 0.5
_NEAR: Final = 1
"""Characters between a name and its number."""
_REACH: Final = 6
"""Characters before a number in which its label stands."""
# `p. 22`, `vol. 3`.
_ABBREVIATED: Final = re.compile(r"(?<![^\W_])[A-Za-z]{1,3}\.\s?\Z")
_ENDS: Final = re.compile(r"[.。!！;；…][\"'”’」』）)\]】]*\Z")
_ASKS: Final = re.compile(r"[?？][\"'”’」』）)\]】]*\Z")
# Grammar to a search, yet with another one of these a sentence says something else.
_APART: Final = frozenset(
    stems(
        "before after above below over under up down in out on off more most few other some all any"
        " each both only between during while against until from to as than such he she his her"
        " 上中从到被把将对更最等"
    )
)
_IF: Final = frozenset(stems("if unless whether when where may might"))
_HAN_IF: Final = ("如果", "若", "是否", "倘", "假如", "的话", "除非", "无论", "不管", "可能")


class Part(NamedTuple):
    """A word or a figure, and its place."""

    key: str
    """A stem; for all figures the same."""
    start: int
    """First character."""
    end: int
    """One past the last."""
    what: Date | Quantity | None = None
    """The figure; None of a word."""
    mere: bool = False
    """Whether it is a figure that counts as a word."""


class Statement(NamedTuple):
    """What a sentence says, in an order in which two can be laid side by side."""

    text: str
    """The sentence as written."""
    parts: tuple[Part, ...]
    """Its words but for grammar and denials, and its figures."""
    denials: tuple[tuple[int, int], ...]
    """Of each denial, the part behind it and its first character."""
    supposes: bool
    """Whether it says so only in a case: `if`, `whether`, `如果`."""
    asks: bool
    """Whether it is a question."""


def state(sentence: str) -> Statement:
    """Read a sentence, in time linear in its characters; citations and list numbers say nothing."""
    text = blank_labels(blank_markup(sentence))
    found = _found(text)
    denied = set(negations(text, [Token(p.key, p.start, p.end, None) for p in found]))
    parts: list[Part] = []
    denials = []
    for at, part in enumerate(found):
        if at in denied:
            denials.append((len(parts), part.start))
        elif part.what is not None or part.mere or _tells(part.key):
            parts.append(part)
    keys = {part.key for part in found}
    supposes = not keys.isdisjoint(_IF) or any(word in text for word in _HAN_IF)
    asks = _ASKS.search(sentence) is not None
    return Statement(sentence, tuple(_literal(parts, text)), tuple(denials), supposes, asks)


def _found(text: str) -> list[Part]:
    """Words and figures in reading order, each character in one of them at most."""
    dated = dates(text)
    figures = [Part(_FIGURE, each.start, each.end, each) for each in dated if each.certain]
    for each in quantities(text, dated):
        written = text[each.start : each.end]
        if each.certain:
            figures.append(Part(_FIGURE, each.start, each.end, each))
        elif written.isdecimal():
            figures.append(Part(written, each.start, each.end, mere=True))
    said = (Part(*word) for word in zip(*words(text), strict=True))
    found: list[Part] = []
    for part in sorted((*figures, *said), key=lambda part: part.start):
        if not found or part.start >= found[-1].end:
            found.append(part)
        elif part.key == _FIGURE and found[-1].what is None:
            found[-1] = part
    return found


def _tells(key: str) -> bool:
    if is_auxiliary(key):
        return False
    return key in _APART or weight(key) > LIGHT


def _literal(parts: Sequence[Part], text: str) -> Iterator[Part]:
    """The parts, those figures as mere words that are no statement of their own."""
    opening = True
    for part, before, behind in zip(parts, (None, *parts), (*parts[1:], None), strict=False):
        if isinstance(part.what, Date):
            # The setting, or when it was written.
            last = behind is None and not _ENDS.search(text)
            mere = opening or last or _is_titled(part, (before, behind), text)
        elif isinstance(part.what, Quantity):
            mere = part.what.readings[0].unit is None and _is_label(part, before, text)
        else:
            mere = part.mere
        word = text[part.start : part.end].casefold()
        yield part._replace(key=word, what=None, mere=True) if mere else part
        opening = opening and (part.what is not None or part.key in _APART)


def _is_titled(date: Part, around: Sequence[Part | None], text: str) -> bool:
    """Whether a year belongs to a name: `the 2020 Olympics`."""
    yearly = isinstance(date.what, Date) and date.what.readings[0].years is not None
    return yearly and any(
        side and capitalised(side, text) and _beside(date, side) for side in around
    )


def _is_label(part: Part, before: Part | None, text: str) -> bool:
    """Whether a bare number names a thing or a place in a list: `Model 3`, `p. 22`, `3 Press`."""
    if not text[: part.start].strip():
        return text[part.end :].lstrip()[:1].isupper()
    lead = text[max(0, part.start - _REACH) : part.start]
    named = before is not None and capitalised(before, text) and _beside(part, before)
    return named or _ABBREVIATED.search(lead) is not None


def capitalised(part: Part, text: str) -> bool:
    """Whether it is a word with a capital letter."""
    written = text[part.start : part.end]
    return part.what is None and written != written.lower()


def _beside(part: Part, side: Part) -> bool:
    return max(side.start - part.end, part.start - side.end) <= _NEAR


def telling(parts: Sequence[Part]) -> float:
    """How many words say something, the unit of a figure being one and a CJK character half."""
    told = 0.0
    for part in parts:
        if isinstance(part.what, Quantity):
            told += part.what.readings[0].unit is not None
        elif part.what is None and not part.mere and part.key not in _APART:
            told += _HAN if CJK_CHAR.match(part.key) else 1.0
    return told
