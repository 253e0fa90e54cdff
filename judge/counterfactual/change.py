"""One item of a reference, changed in every text where it stands.

What is new is of the same kind, stands nowhere yet, and keeps its place between the others.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from random import Random
from typing import Final, Literal, NamedTuple

from judge.checks.dates import dates
from judge.counterfactual.dates import parts
from judge.counterfactual.figures import HOW_MANY, changeable
from judge.counterfactual.items import Item, Kind
from judge.counterfactual.names import mentions, named

Reason = Literal["nothing_to_change", "in_question", "not_in_gold", "inconsistent"]
"""Why there is no counterfactual: the reference holds no figure, date or name; the question says
it, too; no gold chunk has it; it cannot be changed alike everywhere."""

_TRIED: Final = 40
"""New values that are tried for one item."""

_ASKED: Final[dict[tuple[Kind, ...], re.Pattern[str]]] = {
    ("year", "day", "month", "weekday"): re.compile(
        r"(?i:\b(?:when|(?:what|which) (?:year|day|date|month))\b)"
        r"|何时|什么时候|哪一?[年天月日]|日期|时间"
    ),
    ("figure",): HOW_MANY,
    ("name",): re.compile(
        r"(?i:\b(?:who|whom|whose|where)\b)|谁|哪里|哪儿|在哪|哪国|哪个国家|哪位"
    ),
}
"""The kinds that a question asks for."""


class Change(NamedTuple):
    """What was changed into what, as the reference writes both."""

    kind: Kind
    before: str
    after: str


class Counterfactual(NamedTuple):
    """Texts after a change."""

    answer: str
    chunks: tuple[str, ...]
    change: Change


def counterfactual(
    query: str, answer: str, chunks: Sequence[str], gold: Sequence[int], random: Random
) -> Counterfactual | Reason:
    """Change one item of a reference: the first that can be, of the kind that is asked for if any.

    Args:
        query: what it says is not changed.
        answer: the reference.
        chunks: the texts of the context.
        gold: which of them hold the answer.
        random: chooses among what may take its place.
    """
    reason: Reason = "nothing_to_change"
    near = [answer, *(chunks[place] for place in gold)]
    # Questions are often typed without a capital, which names are told by.
    asked = f"{query}\n{query.title()}"
    for item in _items(answer, query):
        if item.spots(asked) != []:
            reason = _later(reason, "in_question")
        elif all(item.spots(chunks[place]) == [] for place in gold):
            reason = _later(reason, "not_in_gold")
        else:
            reason = "inconsistent"
            texts = [answer, *chunks]
            for other in islice(item.others([query, *texts], near, random), _TRIED):
                made = [_changed(text, item, other) for text in texts]
                if all(text is not None for text in made):
                    spot = (item.spots(answer) or [])[0]
                    before = answer[spot.start : spot.end]
                    change = Change(item.kind, before, item.written(before, spot, other) or "")
                    whole = [text or "" for text in made]
                    return Counterfactual(whole[0], tuple(whole[1:]), change)
    return reason


def says(text: str, change: Mapping[str, object], side: Literal["before", "after"]) -> bool:
    """Whether a text says what stood there before a change, or after: a figure or date by value.

    >>> change = {"kind": "figure", "before": "12", "after": "15"}
    >>> says("It took twelve days.", change, "before"), says("于15日", change, "before")
    (True, False)
    """
    written = str(change.get(side, ""))
    if change.get("kind") == "name":
        return mentions(text, written)
    items = _items(written)
    return any(item.spots(text) != [] for item in items if item.kind == change.get("kind"))


_ORDER: Final[tuple[Reason, ...]] = (
    "nothing_to_change",
    "in_question",
    "not_in_gold",
    "inconsistent",
)


def _later(one: Reason, two: Reason) -> Reason:
    return max(one, two, key=_ORDER.index)


def _changed(text: str, item: Item, other: Item) -> str | None:
    """The text with the other for the item; None where that is not what it then says."""
    spots = item.spots(text)
    if spots is None:
        return None
    parts, at = [], 0
    for spot in spots:
        new = item.written(text[spot.start : spot.end], spot, other)
        if new is None:
            return None
        parts += [text[at : spot.start], new]
        at = spot.end
    made = "".join([*parts, text[at:]])
    if not spots:
        return made
    then = other.spots(made)
    return made if item.spots(made) == [] and then and len(then) == len(spots) else None


def _items(answer: str, query: str = "") -> Iterator[Item]:
    """What a reference holds: what the question asks for first, and else in its order."""
    dated = dates(answer)
    found: list[tuple[int, Item]] = [*parts(dated), *changeable(answer, dated, query)]
    found += named(answer, query)
    wanted = next((kinds for kinds, words in _ASKED.items() if words.search(query)), ())
    yield from (
        item for _, item in sorted(found, key=lambda pair: (pair[1].kind not in wanted, pair[0]))
    )
