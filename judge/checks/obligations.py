"""Obligations: a claim that requires, allows or forbids what its evidence does not."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from judge.checks.clauses import Clause
from judge.checks.neighbours import Near, top

_OTHERWISE: Final = frozenset(
    frozenset(pair)
    for pair in (
        ("must", "must-not"),
        ("must", "need-not"),
        ("may", "must-not"),
        ("need-not", "must-not"),
        ("must", "may"),
    )
)
_FREE: Final = frozenset(("must", "may"))
_ABLE: Final = re.compile(r"can|need|需|能|要求|可(?!以)", re.IGNORECASE)
"""Words of a rule that may speak of what is possible, or of what is wanted."""
_AGAINST: Final = frozenset(("must", "must-not"))
_DENIED: Final = {"must": "need-not", "may": "must-not"}
_MOSTLY: Final = 0.6
"""The share of a claim's words that the other clause has, whatever it names first."""
_RULED: Final = 4
"""Telling words behind a rule of which it may speak."""


def obligation(own: Clause, near: Sequence[Near]) -> Iterator[tuple[str, str]]:
    """A rule that requires, allows or forbids what the other does not."""
    there = top(near)
    if own.conditional or any(clause.conditional for clause in there):
        return
    # `May speak but not vote` rules of voting in a clause of its own.
    if own.governed and any(
        beside not in there and beside.having(own.governed)
        for each in near
        for beside in each.sentence
        if each.clause in there and not each.clause.having(own.governed)
    ):
        return
    if there and all(_otherwise(own, each) for each in there):
        yield _ruled(own), _ruled(there[0])


def _otherwise(own: Clause, other: Clause) -> bool:
    """Whether two clauses rule otherwise of the same, and neither denies more than its rule."""
    rules = frozenset((_whole(own), _whole(other)))
    if rules not in _OTHERWISE or own.nested or other.nested:
        return False
    one, two = own.governed, other.governed
    if rules == _FREE:
        # What can be done need not; what is needed may well be done.
        able = (own,) if _whole(own) == "must" else (own, other)
        if any(_ABLE.match(_ruled(each)) for each in able):
            return False
        return _ruled_alike(own, other) or _ruled_alike(other, own)
    alike = sum(bool(other.having(word)) for word in own.words) >= _MOSTLY * len(own.words)
    if not one or not two or bool(other.having(one)) == bool(own.having(two)):
        return True
    return alike and (rules != _AGAINST or bool(own.having(two)))


def _whole(clause: Clause) -> str | None:
    """Its rule, with what `no` before it makes of that: `no fee has to be paid`."""
    no, ruling = clause.mark("deny-all"), clause.mark(str(clause.rule))
    if no is None or ruling is None or no.start > ruling.start:
        return clause.rule
    return _DENIED.get(ruling.name, ruling.name)


def _ruled_alike(own: Clause, other: Clause) -> bool:
    """Whether what a rule speaks of first stands behind the other rule, or before one that ends."""
    first, mark = own.governed, other.mark(str(other.rule))
    if first is None or mark is None:
        return False
    if other.governed is not None:
        return any(each.start >= mark.end for each in other.having(first))
    behind = [word for word in own.words if word.start >= first.start][:_RULED]
    return any(other.having(word) for word in behind)


def _ruled(clause: Clause) -> str:
    mark = next(mark for mark in clause.marks if mark.name == clause.rule)
    behind = next((word for word in clause.words if word.start >= mark.end), None)
    return clause.text[mark.start : behind.end if behind else mark.end]
