"""Marks: the words of grammar that govern others, by `judge/data/contrasts.toml`."""

import re
from typing import Final, NamedTuple

from judge.checks.contrasts import lexicon
from judge.text.words import Words

_NOT_MEANT: Final = re.compile(r"May(?![^\W_])|No\.|[Bb]y \w{1,20}ing(?!\w)")
"""The month, `No. 3`, and `by doing so`."""
_LIMITS: Final = frozenset(("at-least", "at-most"))


class Mark(NamedTuple):
    """A word of grammar that governs others."""

    name: str
    """Its class in the table."""
    start: int
    end: int


def marks_of(text: str, said: Words) -> list[Mark]:
    """The marks of a text, in reading order; `said` are its words."""
    known = lexicon()
    written = [
        text[a:b].lower().replace("’", "'") for a, b in zip(said.starts, said.ends, strict=True)
    ]
    written = ["not" if each.endswith("n't") else each for each in written]
    found = []
    past = 0
    for at, first in enumerate(written):
        if at < past:
            continue
        for spelled, name in known.english.get(first, ()):
            if written[at : at + len(spelled)] == spelled and not _NOT_MEANT.match(
                text, said.starts[at]
            ):
                past = at + len(spelled)
                found.append(Mark(name, said.starts[at], said.ends[past - 1]))
                break
    if not text.isascii():
        # `不如` is one word.
        poles = known.own_poles(text, compared=True)
        whole = {at for place, _ in poles if len(place) > 1 for at in place}
        read = (Mark(known.han_class[m[0]], *m.span()) for m in known.han.finditer(text))
        found += [
            mark
            for mark in read
            if (mark.start not in whole or mark.name in _LIMITS) and mark.name != "word"
        ]
        found.sort(key=lambda mark: mark.start)
    return found
