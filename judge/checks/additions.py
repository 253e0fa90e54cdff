"""Additions: what a claim says beside what its evidence says, in words that stand nowhere."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from judge.checks.clauses import Clause, Word

_JOINT: Final = re.compile(
    r"(?<![^\W_])(?:and|or|with|by|which)(?![^\W_])|、|和|以及|及|并|由", re.IGNORECASE
)
_LISTED: Final = ("and", "or")
"""What joins the last of several things; two that it joins may be one thing said twice."""
_SHORT: Final = {True: 10, False: 20}
"""Words of a claim, and characters of a Chinese one: a longer one says more in words of its own."""
_TELLING: Final = 0.5
"""What is added weighs as much, or it may be only another way to put it."""
_REST: Final = 0.8
"""The evidence has so much of the rest, by weight, or it speaks of something else."""


def addition(own: Sequence[Clause], near: Sequence[Clause]) -> str | None:
    """A part of a claim whose words stand nowhere, beside what the evidence has.

    It stands in a list, or behind `by` or `with`: nothing else that says it in other words can be
    left out.
    """
    words = [word for clause in own for word in clause.words]
    if not words or len(words) > _SHORT[own[0].text.isascii()]:
        return None
    had = {word for word in words if any(clause.having(word) for clause in near)}
    whole = sum(word.weight for word in words)
    for part in _parts(own):
        lead = []
        for word in part:
            if word in had:
                break
            lead.append(word)
        rest = whole - sum(word.weight for word in lead)
        kept = sum(word.weight for word in had)
        if sum(word.weight for word in lead) >= _TELLING and kept >= _REST * rest > 0:
            return own[0].text[lead[0].start : lead[-1].end]
    return None


def _parts(own: Sequence[Clause]) -> Iterator[list[Word]]:
    """What follows each word that joins something to what was said before."""
    text = own[0].text if own else ""
    words = [word for clause in own for word in clause.words]
    stops = [mark.start for clause in own for mark in clause.marks if mark.name == "auxiliary"]
    cuts = [
        match.end()
        for match in _JOINT.finditer(text)
        if match[0].lower() not in _LISTED or "," in text[: match.start()]
    ]
    for at, cut in enumerate(cuts):
        until = min([*cuts[at + 1 :], *(stop for stop in stops if stop >= cut), len(text)])
        yield [word for word in words if cut <= word.start < until]
