"""JSON values in a language model's reply: read as JSON, and where it is broken, not at all."""

import json
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

_THOUGHT_BEGINS: Final = "<think>"
_THOUGHT_ENDS: Final = "</think>"
# Only what can begin an object or a list of objects: prose has its own brackets, such as [1].
_BEGINS: Final = re.compile(rf'\{{(?=\s*+["}}])|\[(?=\s*+\{{)|{re.escape(_THOUGHT_ENDS)}')
_LONGEST_WHOLE: Final = 18


class Found(NamedTuple):
    """What JSON a text holds."""

    values: tuple[object, ...]
    """The outermost objects and lists of objects, in order; none where there is a fault."""
    fault: str
    """Why there are none, in a few words; empty where there are some."""


def find_values(text: str) -> Found:
    r"""Find the JSON values in a text that may hold prose, code fences and `<think>…</think>` too.

    Values may be glued together. What stands before the end of a thought is a draft and does not
    count. One broken value spoils the whole text: what seems to be a value inside a broken one may
    be part of a string, put there by whoever wrote the text that the model quotes. Broken are also
    a key that stands twice and a number that is none; line breaks within strings are tolerated.

    Takes time linear in the length of the text.

    >>> find_values('Here: ```json\n{"a": "}[1]"}\n```').values
    ({'a': '}[1]'},)
    """
    values: list[object] = []
    position = 0
    if text.lstrip().startswith(_THOUGHT_BEGINS):
        position = text.find(_THOUGHT_ENDS)
        if position < 0:
            return Found((), "it ends inside its thoughts")
    while match := _BEGINS.search(text, position):
        if match[0] == _THOUGHT_ENDS:
            values.clear()
            position = match.end()
            continue
        try:
            value, position = _DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            # Only a draft may be broken. The last end of a thought, for each try costs its length.
            position = text.rfind(_THOUGHT_ENDS, match.end())
            if position < 0:
                return Found((), "its JSON is broken")
        else:
            values.append(value)
    return Found(tuple(values), "" if values else "it holds no JSON")


def _unique(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _whole(digits: str) -> int | float:
    # Reading a whole number takes the square of its digits, and Python refuses the longest.
    return int(digits) if len(digits) <= _LONGEST_WHOLE else float(digits)


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_unique, parse_int=_whole, parse_constant=_refuse, strict=False
)
