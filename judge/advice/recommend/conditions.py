"""Conditions of the table, held against what is known."""

import operator
from collections.abc import Callable, Mapping
from typing import Final

Fact = float | str | None
"""Of the data or of what was asked for; None where it is not known."""

Condition = str | tuple[str, ...]
"""A comparison with a number, `<= 5`, or the words that will do."""

_COMPARISONS: Final[dict[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def holds(when: Mapping[str, Condition], facts: Mapping[str, Fact]) -> bool:
    """Whether every condition holds; what is not known fulfils none.

    Raises:
        KeyError: there is no such fact, or no such comparison.

    >>> holds({"relevant": "<= 5", "task": ("qa",)}, {"relevant": 5.0, "task": "qa"})
    True
    >>> holds({"ratio": ">= 0"}, {"ratio": None})
    False
    """
    return all(_holds(condition, facts[name]) for name, condition in when.items())


def _holds(condition: Condition, fact: Fact) -> bool:
    if isinstance(condition, tuple):
        return fact in condition
    sign, number = condition.split()
    compare = _COMPARISONS[sign]
    return isinstance(fact, (int, float)) and compare(fact, float(number))
