"""One item of a reference, changed in every text where it stands.

What is new is of the same kind, stands nowhere yet, and keeps its place between the others.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from random import Random
from typing import Final, Literal, NamedTuple

from judge.checks.dates import dates
from judge.counterfactual.dates import parts
from judge.counterfactual.figures import changeable
from judge.counterfactual.items import Item, Kind
from judge.counterfactual.names import mentions, named

Reason = Literal["nothing_to_change", "in_question", "not_in_gold", "inconsistent"]
"""Why there is no counterfactual: the reference holds no figure, date or name; the question says
it, too; no gold chunk has it; it cannot be changed alike everywhere."""

_TRIED: Final = 40
"""New values that are tried for one item."""


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
    """Change the first item of a reference that can be changed.

    Args:
        query: what it says is not changed.
        answer: the reference.
        chunks: the texts of the context.
        gold: which of them hold the answer.
        random: chooses among what may take its place.
    """
    reason: Reason = "nothing_to_change"
    near = [answer, *(chunks[place] for place in gold)]
    for item in _items(answer, query):
        if item.spots(query) != []:
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
    """What a reference holds, in its order; of what stands in one place, dates first."""
    dated = dates(answer)
    found: list[tuple[int, Item]] = [*parts(dated), *changeable(answer, dated)]
    found += named(answer, query)
    yield from (item for _, item in sorted(found, key=lambda pair: pair[0]))
