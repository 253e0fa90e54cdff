"""Contradictions: whether what speaks of the same thing as a claim says otherwise of it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from judge.checks.clauses import Clause, Word, clauses, excludes
from judge.text.pieces import segments

EDITION: Final = "1"
"""Bumped with every change that finds another contradiction, one of a word list too."""
NEAR: Final = 0.6
_CLOSE: Final = 0.8
"""Clauses with at least this share of the best one's worth are as near."""
_BESIDE: Final = 0.3
"""What a word is worth that stands in the sentence of a clause, not in itself."""
_SLOT: Final = 1
"""Neighbours on either side by which two words are known to stand in the same place."""
_OTHERWISE: Final = frozenset(
    frozenset(pair)
    for pair in (
        ("must", "must-not"),
        ("must", "need-not"),
        ("may", "must-not"),
        ("need-not", "must-not"),
    )
)


class Contradiction(NamedTuple):
    """Words that cannot both hold."""

    said: str
    """In the claim."""
    instead: str
    """In the evidence."""


class _Near(NamedTuple):
    """A clause that speaks of what another speaks of."""

    clause: Clause
    share: float
    """How much of it, by weight; what stands beside it in its sentence counts less."""
    sentence: Sequence[Clause]


def contradiction(
    claim: str, passages: Iterable[str], *, near: float = NEAR
) -> Contradiction | None:
    """What a passage says otherwise than a claim; None where none does.

    A clause with a smaller share of a claim's words than `near`, by weight, speaks of something
    else.

    >>> contradiction("Staff must share passwords.", ["Staff must not share passwords."])
    Contradiction(said='share', instead='must not share')
    """
    sentences = [clauses(passage[a:b]) for passage in passages for a, b in segments(passage)]
    for clause in clauses(claim):
        close = list(_nearest(clause, sentences, near))
        for rule in _RULES if close else ():
            for found in rule(clause, close):
                return found
    return None


def _nearest(own: Clause, sentences: Iterable[Sequence[Clause]], least: float) -> Iterator[_Near]:
    """The clauses that speak of what a clause speaks of, with how much of it they say."""
    for sentence in sentences:
        for clause in sentence:
            worth = 0.0
            for word in own.words:
                if clause.having(word) or _rivals(word, own, clause):
                    worth += word.weight
                elif any(other.having(word) for other in sentence):
                    worth += _BESIDE * word.weight
            share = worth / own.weight
            if share >= least:
                yield _Near(clause, share, sentence)


def _top(near: Sequence[_Near], having: Word | None = None) -> list[Clause]:
    among = [each for each in near if having is None or each.clause.having(having)]
    best = max((each.share for each in among), default=0.0)
    return [each.clause for each in among if each.share >= best * _CLOSE]


def _polarity(own: Clause, near: Sequence[_Near]) -> Iterator[Contradiction]:
    """One denies the word that the other says, and has no negation of its own."""
    if own.has("apart"):
        return
    for word in own.words:
        there = _top(near, word)
        if any(clause.denies == own.denies or clause.has("apart") for clause in there):
            continue
        said = [each for clause in there for each in clause.having(word)]
        if not said or any(each.denied == word.denied for each in said):
            continue
        if word.focus or any(each.focus for each in said):
            yield Contradiction(_phrase(own, word), _phrase(there[0], said[0]))


def _rule(own: Clause, near: Sequence[_Near]) -> Iterator[Contradiction]:
    """A rule that requires, allows or forbids what the other does not."""
    there = _top(near)
    if own.has("apart") or any(clause.has("apart") for clause in there):
        return
    if there and all(frozenset((own.rule, each.rule)) in _OTHERWISE for each in there):
        yield Contradiction(_ruled(own), _ruled(there[0]))


def _opposite(own: Clause, near: Sequence[_Near]) -> Iterator[Contradiction]:
    """A word in whose place the other has one that excludes it."""
    there = _top(near)
    for word in own.words:
        if any(other.having(word) for each in near for other in each.sentence):
            continue
        rivals = [_rivals(word, own, clause) for clause in there]
        if rivals and all(rivals):
            yield Contradiction(_phrase(own, word), _phrase(there[0], rivals[0][0]))


def _rivals(word: Word, own: Clause, clause: Clause) -> list[Word]:
    """What excludes a word, where a clause has what stands beside it."""
    if not word.pole and not (word.sense and word.sense.excludes):
        return []
    return [
        each
        for each in clause.words
        if excludes(word, each)
        and each.denied == word.denied
        and not own.having(each)
        and _same_place(word, own, each, clause)
        and not _turned(word, own, each, clause)
    ]


def _turned(one: Word, own: Clause, two: Word, clause: Clause) -> bool:
    """Whether what stands before one word stands behind the other, and the other way round."""
    sides = [
        (word.start < one.start, other.start < two.start)
        for word in own.words
        if word is not one
        for other in clause.having(word)
        if other is not two
    ]
    return (True, False) in sides and (False, True) in sides


def _same_place(one: Word, own: Clause, two: Word, clause: Clause) -> bool:
    """Whether a neighbour of one word stands beside the other."""
    at = own.words.index(one)
    beside = own.words[max(at - _SLOT, 0) : at] + own.words[at + 1 : at + 1 + _SLOT]
    place = clause.words.index(two)
    there = (
        clause.words[max(place - _SLOT, 0) : place] + clause.words[place + 1 : place + 1 + _SLOT]
    )
    return any(each in there for word in beside for each in clause.having(word))


def _compared(own: Clause, near: Sequence[_Near]) -> Iterator[Contradiction]:
    """A comparison of the same two things, turned round."""
    there = _top(near)
    for word in own.words if own.has("than") else ():
        for each in there[0].having(word) if word.pole else ():
            if _turned(word, own, each, there[0]):
                yield Contradiction(_side(own, word), _side(there[0], each))


def _side(clause: Clause, word: Word) -> str:
    """A word with what follows it."""
    behind = [each for each in clause.words if each.start >= word.end]
    return clause.text[word.start : (behind[0] if behind else word).end]


_RULES: Final = (_polarity, _rule, _opposite, _compared)


def _ruled(clause: Clause) -> str:
    mark = next(mark for mark in clause.marks if mark.name == clause.rule)
    behind = next((word for word in clause.words if word.start >= mark.end), None)
    return clause.text[mark.start : behind.end if behind else mark.end]


def _phrase(clause: Clause, word: Word) -> str:
    """A word with what denies it."""
    start = word.start
    for mark in reversed(clause.marks):
        if word.denied and mark.end <= start and mark.name.startswith(("deny", "must-", "forbid")):
            start = mark.start
            break
    return clause.text[start : word.end]
