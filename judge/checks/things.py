"""The first word of what a number counts: `men` of `three men`, `工人` of `三名工人`."""

from typing import Final

from judge.checks.numbers import MEASURES
from judge.text.fold import CJK_CHAR
from judge.text.words import LIGHT, stems, weight

_REACH: Final = 30
_MAN: Final = "人"


def thing(text: str, position: int) -> str | None:
    """The stem of the first telling word behind a number that ends at `position`.

    In Chinese two characters, as one alone is shared by many words; `人` stands for itself. None
    where no such word stands near.

    >>> thing("two of the men left", 3)
    'men'
    """
    behind = stems(text[position : position + _REACH])
    if behind and behind[0] in MEASURES and behind[0] != _MAN:
        behind = behind[1:]
    first = next((place for place, own in enumerate(behind) if weight(own) > LIGHT), None)
    if first is None or behind[first] == _MAN or not CJK_CHAR.match(behind[first]):
        return None if first is None else behind[first]
    return "".join(behind[first : first + 2]) if first + 1 < len(behind) else None
