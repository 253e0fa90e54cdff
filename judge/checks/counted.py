"""What a number counts: `45 days` days, `三个孩子` 孩, `3.5 %` hundredths, `in 1995` years."""

from bisect import bisect_left
from typing import Final

from judge.checks.numbers import Number
from judge.text.words import LIGHT, Words, is_classifier, weight

_NEAR: Final = 2
_FIRST_YEAR: Final = 1000
_LAST_YEAR: Final = 2100
_SIGNS: Final = {"％": "%", "￥": "¥"} | {sign: sign for sign in "%‰°℃$€£¥"}
_HUNDREDTHS: Final = "百分之"
_YEAR: Final = "年"


def counted(text: str, number: Number, said: Words) -> str:
    """What stands behind a number, or its sign; "" where that says nothing.

    Args:
        text: where the number stands.
        number: one of it.
        said: the words of it.

    Returns:
        The stem of a word, the character of a sign, `年` for a lone number that may be a year.

    >>> from judge.checks.numbers import numbers
    >>> from judge.text.words import words
    >>> text = "In 1995 it rained for 45 days, 70 % of 三个孩子"
    >>> [counted(text, number, words(text)) for number in numbers(text)]
    ['年', 'day', '%', '孩']
    """
    before = text[max(number.start - _NEAR, 0) : number.start].rstrip()[-1:]
    behind = text[number.end : number.end + _NEAR].lstrip()[:1]
    for sign in (behind, before):
        if sign in _SIGNS:
            return _SIGNS[sign]
    if text.startswith(_HUNDREDTHS, number.start):
        return "%"
    at = bisect_left(said.starts, number.end)
    if at < len(said.stems) and is_classifier(said.stems[at]):
        at += 1
    near = at < len(said.stems) and said.starts[at] - number.end <= _NEAR
    if near and weight(said.stems[at]) > 2 * LIGHT:
        return said.stems[at]
    year = _FIRST_YEAR <= number.value < _LAST_YEAR and number.value % 1 == 0
    return _YEAR if year else ""
