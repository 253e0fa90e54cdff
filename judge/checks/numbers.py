"""Numbers by value, `1,200`, `twenty-five`, `三千万`, and the units beside them: `km`, `公里`."""

import math
import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from judge.text.fold import CJK_CHAR

MEASURES: Final = (
    "个個位名人次年月日天号號岁歲小分秒周週元块塊美角吨公千米里克斤升倍成种種类類项項件家所条條第届屆代"
    "层層楼樓部本篇章节節页頁点點度级級期季股只隻头頭辆輛台架艘座间間张張片％%"
)
"""Characters that make a lone Chinese numeral before them a quantity: `三天`, unlike `三明治`."""

_ONES: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
)
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
SPELLED: Final = {word: value for value, word in enumerate(_ONES.split())} | {
    word: 10 * value for value, word in enumerate(_TENS.split(), 2)
}
"""English words of one number each."""
_SCALES: Final = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_SHORT: Final = {"k": 1e3, "m": 1e6, "bn": 1e9}
_HAN: Final = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
    "兩": 2,
}
_HAN_SCALES: Final = dict(
    zip("十百千万萬亿億", (10, 100, 1000, 10_000, 10_000, 10**8, 10**8), strict=True)
)
# `一个` is an article as much as a count; `十分` means "very", `万一` "in case".
_COUNTING: Final = frozenset("二三四五六七八九十两兩")
_IDIOMS: Final = frozenset(("十分", "万一", "千万"))
_HUNDRED: Final = 100
_MYRIADS: Final = "亿億万萬"
# Beyond that many characters it is no quantity.
_LONGEST: Final = 40
_LONGEST_SPELLED: Final = 120

_NO_VALUE: Final = str.maketrans("", "", ",， ")
_WORD: Final = "|".join(sorted(SPELLED, key=len, reverse=True))
_SCALE: Final = "hundred|" + "|".join(_SCALES)
_SIGNS: Final = "".join(_HAN)
_HAN_SIGNS: Final = "".join(_HAN_SCALES)
_PARTS: Final = re.compile(rf"(\d*)([{_HAN_SIGNS}]+)")
# `26, 000` and `1. 1 million` stand in text that was cut into tokens; no list goes on like that.
# The first character stands before all conditions: the engine skips to the next of its kind.
_DIGITS: Final = rf"""(?P<digits> \d (?:
        (?<![\d.,]\d) \d{{0,2}} (?:[,，]\d{{3}}|,[ ]0\d\d)+ (?!\d) (?:\.\d+)?
      | \d* (?: \.\d+ | \.[ ]\d{{1,2}}(?=[ ](?:million|billion|trillion|per[ ]?cent)) )? ) )
    (?: [ -]?(?P<scale>{_SCALE})(?![^\W_]) | (?P<short>bn|[km])(?![^\W_])
      | \s?(?P<han_scale>[{_HAN_SIGNS}]+ (?:\d{{1,4}}[{_HAN_SIGNS}]+)* ) )?"""
_FIRST_LETTERS: Final = "".join(sorted({word[0] for word in SPELLED}))
_OPENING: Final = "|".join(
    f"(?<={first})(?:{'|'.join(word[1:] for word in SPELLED if word[0] == first)})"
    for first in _FIRST_LETTERS
)
_SPELLED: Final = rf"""(?P<word> [{_FIRST_LETTERS}] (?<![^\W_].) (?:{_OPENING})
    (?: [ -](?:and[ ])?(?:{_WORD}|{_SCALE})(?![^\W_]) )* ) (?![^\W_])"""
_HAN_WRITTEN: Final = rf"(?P<percent>百分之)? (?P<han> [{_SIGNS}{_HAN_SIGNS}]+ (?:点[{_SIGNS}]+)? )"
_NUMBER: Final = re.compile(f"{_DIGITS} | {_SPELLED} | {_HAN_WRITTEN}", re.VERBOSE)


class Number(NamedTuple):
    """A number and its place."""

    value: float
    """What it comes to; a percentage counts its hundredths, so that `3 %` is 3."""
    start: int
    """First character."""
    end: int
    """One past the last."""
    certain: bool
    """False where it may be a mere word: `one`, or a lone Chinese numeral that measures nothing."""


def numbers(text: str, taken: frozenset[int] = frozenset()) -> list[Number]:
    """Find the numbers of a text, in reading order; none with a character at a place that is taken.

    >>> [number.value for number in numbers("1,200 of 3.5 million, twenty-five; 三千万, 2亿")]
    [1200.0, 3500000.0, 25.0, 30000000.0, 200000000.0]
    """
    low = text.lower()
    if len(low) != len(text):  # İ has two characters in lower case.
        low = "".join(sign.lower()[0] for sign in text)
    free = (match for match in _NUMBER.finditer(low) if taken.isdisjoint(range(*match.span())))
    return [number for match in free if (number := _read(match, text))]


def _read(match: re.Match[str], text: str) -> Number | None:
    """The number; None where it is too long to be one."""
    (start, end), last = match.span(), match.lastgroup
    if end - start > (_LONGEST_SPELLED if last == "word" else _LONGEST):
        return None
    certain = True
    if last == "word":
        value, certain = _spelled(match[0]), match[0] != "one"
    elif last == "han":
        value = _han(match["han"])
        certain = match["percent"] is not None or _measures(match["han"], text, start, end)
    else:
        value = float(match["digits"].translate(_NO_VALUE))
        if last == "scale":
            value *= _SCALES.get(match["scale"], _HUNDRED)
        elif last == "short":
            value *= _SHORT[match["short"]]
            # `5m` may be metres.
            certain = match["short"] != "m" or text[max(start - 1, 0) : start] in set("$€£¥￥")
        elif last == "han_scale":
            value = _scaled(value, match["han_scale"])
    return Number(value, start, end, certain) if math.isfinite(value) else None


def _measures(han: str, text: str, start: int, end: int) -> bool:
    """Whether a Chinese numeral is more than part of a word: `三天`, unlike `三明治`."""
    behind = text[end : end + 1]
    if han + behind in _IDIOMS or han in _IDIOMS:
        return False
    if len(han) > 1 or text[max(start - 1, 0) : start] == "第":
        return True
    return han in _COUNTING and behind != "" and behind in MEASURES


def _scaled(value: float, written: str) -> float:
    """`2万5千`: the digits of the first part are the value so far."""
    for place, (digits, signs) in enumerate(_PARTS.findall(written)):
        scale = math.prod((_HAN_SCALES[sign] for sign in signs), start=1.0)
        value = value + float(digits) * scale if place else value * scale
    return value


def _spelled(phrase: str) -> float:
    total = current = 0.0
    for part in re.split(r"[ -]", phrase):
        if part in SPELLED:
            current += SPELLED[part]
        elif part == "hundred":
            current = (current or 1) * _HUNDRED
        elif part in _SCALES:
            total += (current or 1) * _SCALES[part]
            current = 0.0
    return total + current


def _han(written: str) -> float:
    whole, _, fraction = written.partition("点")
    tail = float("0." + "".join(str(_HAN[sign]) for sign in fraction)) if fraction else 0.0
    if not any(sign in _HAN_SCALES for sign in whole):
        return float("0" + "".join(str(_HAN[sign]) for sign in whole)) + tail
    # `一万二` is 12 000: a last digit is of the next scale down.
    last = _HAN_SCALES.get(whole[-2:-1], 0)
    if last >= _HUNDRED and whole[-1] in _HAN:
        return _han(whole[:-1]) + _HAN[whole[-1]] * last / 10
    for sign in _MYRIADS:
        before, found, behind = whole.rpartition(sign)
        if found:
            return (_han(before) if before else 1.0) * _HAN_SCALES[sign] + _han(behind) + tail
    total = digit = 0.0
    for sign in whole:
        if sign in _HAN:
            digit = _HAN[sign]
        else:
            total += (digit or 1) * _HAN_SCALES[sign]
            digit = 0.0
    return total + digit + tail


# Units by what they measure: `km`, `kilometres` and `公里` are the same unit.

_LONGEST_HAN: Final = 5
_UNIT_WORD: Final = "[a-zµμ]{1,20}"
# Three words at most, or signs: `per cent`, `U.S. dollars`, `sq. ft.`, `°C`, `km/h`, `m²`. A stop
# behind a word is a sentence's or an abbreviation's, and no part of the unit.
_BEHIND: Final = re.compile(
    rf"[ \u00a0-]?({_UNIT_WORD}(?:[./]{_UNIT_WORD}){{0,3}}[²³23]?|°\s?[cf]?(?![a-z])|[%％‰℃℉$€£])"
    rf"(?:\.?[ \u00a0-]({_UNIT_WORD}))?(?:\.?[ \u00a0-]({_UNIT_WORD}))?",
    re.IGNORECASE,
)
_FIRST: Final = re.compile(rf"[ \u00a0-]?({_UNIT_WORD}(?:/{_UNIT_WORD})?)(?=\.)", re.IGNORECASE)
_PREPOSITIONS: Final = frozenset(("in", "at", "on", "to", "by", "of"))
_FRONT: Final = re.compile(
    r"(?<![^\W_])((?:[A-Za-z.]{1,4})?[$€£¥￥＄₩₹₽]|[A-Za-z]{2,3}\.?|人民币)\s?\Z"
)
_FRONT_REACH: Final = 8
_LONGEST_CODE: Final = 3


class Unit(NamedTuple):
    """What is measured, and how many of its base unit this one is."""

    kind: str
    """`length`, `usd`, `percent`: values of one kind can be compared."""
    factor: float
    """Above 0."""


PERCENT: Final = Unit("percent", 1.0)


class Found(NamedTuple):
    """A unit beside a number."""

    units: tuple[Unit, ...]
    """What it may mean, one at least: a pound is money or weight."""
    edge: int
    """Where it ends, behind a number; where it starts, before one."""


def unit_behind(text: str, position: int) -> Found | None:
    """The unit that follows a number ending at `position`: `5 km`, `40-hour`, `3.5％`, `5公里`."""
    after = _units().after
    lead = position + (text[position : position + 1] in {" ", "\u00a0"})
    if not text.isascii() and CJK_CHAR.match(text, lead):
        for size in range(_LONGEST_HAN, 0, -1):
            word = text[lead : lead + size]
            if word in after:
                return Found(after[word], lead + len(word))
    match = _BEHIND.match(text, position)
    if match is None:
        return None
    for last in (3, 2, 1) if _begins(match[1]) else ():
        if match[last] is None or (last == 1 and not _ends(text, match.end(1))):
            continue
        words = "".join(match[0][: match.end(last) - position].lstrip(" \u00a0-").lower().split())
        spelled = " ".join(part for part in match.groups()[:last] if part)
        # `3,000 m in the air`: a preposition is no part of a unit, `min`.
        closed = None if last > 1 and match[2].lower() in _PREPOSITIONS else after.get(words)
        if units := _listed(spelled) or closed:
            return Found(units, match.end(last))
    # `30 minutes.Then`: no space behind the full stop.
    dotted = "." in match[1] or text.startswith(".", match.end(1))
    match = _FIRST.match(text, position) if dotted else None
    units = _listed(match[1]) if match else None
    return Found(units, match.end()) if match and units else None


def _begins(word: str) -> bool:
    """Whether a unit may begin with that word, as most words behind a number do not."""
    own, heads = word.lower(), _units().heads
    plain = own.replace(".", "")
    return "".join(own.split()) in heads or plain in heads or plain.removesuffix("s") in heads


def unit_before(text: str, position: int) -> Found | None:
    """The currency that stands before a number starting at `position`: `$5`, `US$5`, `EUR 5`."""
    low = max(0, position - _FRONT_REACH)
    lead = text[low:position]
    word = lead.rstrip().rpartition(" ")[2]
    if word.isascii() and word.isalpha() and len(word) > _LONGEST_CODE:
        return None
    match = _FRONT.search(lead)
    units = _units().before.get(match[1].lower()) if match else None
    return Found(units, low + match.start()) if match and units else None


def _listed(spelled: str) -> tuple[Unit, ...] | None:
    plain, after = spelled.lower().replace(".", ""), _units().after
    # `The iPhone 12 has …`: of all plurals this one alone is a common word.
    return after.get(plain) or after.get(plain if plain == "has" else plain.removesuffix("s"))


def _ends(text: str, position: int) -> bool:
    behind = text[position : position + 1]
    return not text[position - 1].isalpha() or not (behind.isalnum() and behind.isascii())


class _Units(NamedTuple):
    after: dict[str, tuple[Unit, ...]]
    """By their spelling behind a number."""
    before: dict[str, tuple[Unit, ...]]
    """By that before one."""
    heads: frozenset[str]
    """What any of the first begins with."""


@cache
def _units() -> _Units:
    table: dict[str, dict[str, tuple[Unit, ...]]] = {"after": {}, "before": {}}
    source = files("judge").joinpath("data", "units.toml").read_text("utf-8")
    for entry in tomllib.loads(source)["units"]:
        unit = Unit(entry["kind"], float(entry["factor"]))
        for place, spellings in table.items():
            for spelling in entry.get(place, ()):
                spellings[spelling] = (*spellings.get(spelling, ()), unit)
    heads = {spelling[: at + 1] for spelling in table["after"] for at in range(len(spelling))}
    return _Units(table["after"], table["before"], frozenset(heads))
