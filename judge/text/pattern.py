"""A reader's own regular expression: what `re` takes and finds, and no more time than is fair."""

import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import regex

SECONDS: Final = 1.0
"""Of computing that a pattern may take for any text …"""
SECONDS_A_CHARACTER: Final = 1e-6
"""… and for each of its characters; an honest one takes a tenth of that."""
_LARGEST: Final = 100_000
"""Atoms of a pattern whose least repeats are written out, as `regex` does to compile it."""


class Found(NamedTuple):
    """One match."""

    start: int
    end: int
    content: str
    """What the first group holds, else all of it; white space around it is gone."""


@dataclass(frozen=True)
class Pattern:
    """A compiled expression, made by `compile_pattern`."""

    _compiled: "regex.Pattern[str]"

    def find(self, text: str) -> list[Found]:
        """Every match that is not empty, in order.

        Raises:
            TimeoutError: it takes too much computing; the message says how much is allowed.
        """
        allowed = patience = SECONDS + SECONDS_A_CHARACTER * len(text)
        while True:
            began = time.thread_time()
            try:
                matches = self._compiled.finditer(text, timeout=patience)
                return [self._found(match) for match in matches if match.end() > match.start()]
            except (TimeoutError, MemoryError) as error:
                # Its clock runs for all threads together: where others used it up, once more.
                own = time.thread_time() - began
                if isinstance(error, MemoryError) or own >= allowed / 2:
                    raise TimeoutError(f"takes more than {allowed:.1f} s of computing") from None
                patience *= 2

    def _found(self, match: "regex.Match[str]") -> Found:
        held = match[1] if self._compiled.groups else None
        return Found(match.start(), match.end(), (held or match[0]).strip())


@lru_cache(maxsize=8)
def compile_pattern(pattern: str) -> Pattern:
    """Compile what a user wrote; `ValueError` where it is no regular expression, or too much."""
    import regex  # noqa: PLC0415  for those who have a pattern

    try:
        compiled = re.compile(pattern)
        parts = _parts(pattern, compiled)
        if _size(parts) > _LARGEST:
            raise ValueError(f"repeats what it seeks more than {_LARGEST:,} times; repeat it less")
        inside, outside = (_INSIDE, _OUTSIDE) if compiled.flags & re.UNICODE else (_LITERAL,) * 2
        translated = "".join(_translated(part, inside, outside) for part in parts)
        return Pattern(regex.compile(translated, regex.VERSION0))
    except RecursionError:
        raise ValueError("has too many brackets within brackets; give a simpler one") from None
    except (re.error, regex.error, OverflowError) as error:
        raise ValueError(f"is no regular expression: {error}") from None


# An escape, a set, a comment, a repeat, or one character.
_PART: Final = (
    r"(?s:\\(?:N\{[^}]*\}|.)|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?#[^)]*\)"
    r"|\{(?=[0-9,])[0-9]*,?[0-9]*\}|.)"
)
_IN_SET: Final = re.compile(r"(?s:\\.|[\[{])")

# What `re` means by them, which `regex` reads by another chapter of Unicode: to it a combining mark
# is part of a word, and ² and ① are not.
_WORD: Final = r"\p{L}\p{N}_"
_NO_WORD: Final = (
    r"\p{M}\p{S}\p{Z}\p{C}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}\u203f\u2040\u2054\ufe33\ufe34"
    r"\ufe4d-\ufe4f\uff3f"
)
_SPACE: Final = r"\s\x1c-\x1f"
_NO_SPACE: Final = (
    r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Cs}\p{Co}\p{Cn}\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"
)
_EDGE: Final = rf"(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}])"
# Signs of more than `re` knows, where they are no part of a repeat or a set: fuzziness, classes.
_LITERAL: Final = {"{": r"\{", "[": r"\["}
_INSIDE: Final = _LITERAL | {r"\w": _WORD, r"\W": _NO_WORD, r"\s": _SPACE, r"\S": _NO_SPACE}
_OUTSIDE: Final = _LITERAL | {
    r"\w": f"[{_WORD}]",
    r"\W": f"[^{_WORD}]",
    r"\s": f"[{_SPACE}]",
    r"\S": f"[^{_SPACE}]",
    r"\b": f"(?:{_EDGE})",
    r"\B": f"(?!{_EDGE})",
}


def _parts(pattern: str, compiled: re.Pattern[str]) -> list[str]:
    comment = r"#[^\n]*|" if compiled.flags & re.VERBOSE else ""
    return re.findall(comment + _PART, pattern)


def _translated(part: str, inside: Mapping[str, str], outside: Mapping[str, str]) -> str:
    """A part of what `re` takes, as `regex` takes it."""
    if len(part) > 1 and part[0] == "[":
        return "[" + _IN_SET.sub(lambda found: inside.get(found[0], found[0]), part[1:])
    return outside.get(part, part)


def _size(parts: Iterable[str]) -> int:
    """How many atoms a pattern has where what is repeated is written out, each the least often."""
    open_, last = [0], 0
    for part in parts:
        if part == "(":
            open_.append(1)
        elif part == ")" and len(open_) > 1:
            last = open_.pop()
            open_[-1] += last
        elif part[0] == "{" and len(part) > 1:
            least = int(part[1:-1].split(",")[0] or 0) or 1
            open_[-1] += last * (least - 1)
            last *= least
        elif part not in "*+?|":
            last = 1
            open_[-1] += 1
    return sum(open_)
