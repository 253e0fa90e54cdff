"""Numbers by value: `1,200`, `3.5 %`, `2 million`, `twenty-five`, `三千万`, `2亿`, `２０２３年`."""

import math
import re
from typing import Final, NamedTuple

MEASURES: Final = (
    "个個位名人次年月日天号號岁歲小分秒周週元块塊美角吨公千米里克斤升倍成种種类類项項件家所条條第届屆代"
    "层層楼樓部本篇章节節页頁点點度级級期季股只隻头頭辆輛台架艘座间間张張片％%"
)
"""Characters that make a lone Chinese numeral before them a quantity: `三天`, unlike `三明治`."""

SPELLED: Final = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20,
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
"""English words of one number each."""
_SCALES: Final = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_SHORT: Final = {"k": 1e3, "m": 1e6, "bn": 1e9}
_HAN: Final = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
    "兩": 2,
}
_HAN_SCALES: Final = {
    "十": 10, "百": 100, "千": 1000, "万": 10_000, "萬": 10_000, "亿": 10**8, "億": 10**8,
}  # fmt: skip
# `一个` is an article as much as a count; `十分` means "very", `万一` "in case".
_COUNTING: Final = frozenset("二三四五六七八九十两兩")
_IDIOMS: Final = frozenset(("十分", "万一", "千万"))
_HUNDRED: Final = 100
_MYRIADS: Final = "亿億万萬"
_CURRENCIES: Final = "$€£¥￥"
# Beyond that many characters it is no quantity.
_LONGEST: Final = 40
_LONGEST_SPELLED: Final = 120

_NO_VALUE: Final = str.maketrans("", "", ",， ")

_WORD: Final = "|".join(sorted(SPELLED, key=len, reverse=True))
_SCALE: Final = "hundred|" + "|".join(_SCALES)
_SIGNS: Final = "".join(_HAN)
_HAN_SIGNS: Final = "".join(_HAN_SCALES)
_PARTS: Final = re.compile(rf"(\d*)([{_HAN_SIGNS}]+)")
# Most characters begin no number, and need not be tried.
_STARTS: Final = "".join(sorted({word[0] for word in SPELLED})) + _SIGNS + "".join(_HAN_SCALES)
# `26, 000` and `1. 1 million` stand in text that was cut into tokens; no list goes on like that.
_NUMBER: Final = re.compile(
    rf"""(?=[\d{_STARTS}]) (?:
      (?P<digits> (?<![\d.,]) \d{{1,3}} (?:[,，]\d{{3}}|,[ ]0\d\d)+ (?!\d) (?:\.\d+)?
        | \d+ (?: \.\d+ | \.[ ]\d{{1,2}}(?=[ ](?:million|billion|trillion|per[ ]?cent)) )? )
      (?: [ -]?(?P<scale>{_SCALE})(?![^\W_]) | (?P<short>bn|[km])(?![^\W_])
        | \s?(?P<han_scale>[{_HAN_SIGNS}]+ (?:\d{{1,4}}[{_HAN_SIGNS}]+)* ) )?
    | (?<![^\W_])
      (?P<word> (?:{_WORD}) (?: [ -](?:and[ ])?(?:{_WORD}|{_SCALE})(?![^\W_]) )* ) (?![^\W_])
    | (?P<percent>百分之)? (?P<han> [{_SIGNS}{"".join(_HAN_SCALES)}]+ (?:点[{_SIGNS}]+)? )
    )""",
    re.VERBOSE | re.IGNORECASE,
)


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


def numbers(text: str) -> list[Number]:
    """Find the numbers of a text, in reading order.

    >>> [number.value for number in numbers("1,200 of 3.5 million, twenty-five; 三千万, 2亿")]
    [1200.0, 3500000.0, 25.0, 30000000.0, 200000000.0]
    """
    found = []
    for match in _NUMBER.finditer(text):
        if len(match.group()) <= (_LONGEST_SPELLED if match["word"] else _LONGEST):
            value = _value(match)
            if math.isfinite(value):
                found.append(Number(value, match.start(), match.end(), _certain(match, text)))
    return found


def _certain(match: re.Match[str], text: str) -> bool:
    if match["word"]:
        return match["word"].lower() != "one"
    before = text[max(match.start() - 1, 0) : match.start()]
    # `5m` may be metres.
    if (match["short"] or "").lower() == "m":
        return before in _CURRENCIES and before != ""
    if match["digits"] or match["percent"]:
        return True
    behind = text[match.end() : match.end() + 1]
    if match["han"] + behind in _IDIOMS or match["han"] in _IDIOMS:
        return False
    if len(match["han"]) > 1 or before == "第":
        return True
    return match["han"] in _COUNTING and behind != "" and behind in MEASURES


def _value(match: re.Match[str]) -> float:
    if match["word"]:
        return _spelled(match["word"].lower())
    if match["han"]:
        return _han(match["han"])
    value = float(match["digits"].translate(_NO_VALUE))
    if match["scale"]:
        value *= _SCALES.get(match["scale"].lower(), 100)
    if match["short"]:
        value *= _SHORT[match["short"].lower()]
    first, *others = _PARTS.findall(match["han_scale"] or "") or [("", "")]
    value *= _scale(first[1])
    return value + sum(float(digits) * _scale(signs) for digits, signs in others)


def _scale(signs: str) -> float:
    return math.prod((_HAN_SCALES[sign] for sign in signs), start=1.0)


def _spelled(phrase: str) -> float:
    total = current = 0.0
    for part in re.split(r"[ -]", phrase):
        if part in SPELLED:
            current += SPELLED[part]
        elif part == "hundred":
            current = (current or 1) * 100
        elif part in _SCALES:
            total += (current or 1) * _SCALES[part]
            current = 0.0
    return total + current


def _han(written: str) -> float:
    if not written:
        return 0.0
    whole, _, fraction = written.partition("点")
    tail = float("0." + "".join(str(_HAN[sign]) for sign in fraction)) if fraction else 0.0
    if not any(sign in _HAN_SCALES for sign in whole):
        return float("".join(str(_HAN[sign]) for sign in whole)) + tail
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
