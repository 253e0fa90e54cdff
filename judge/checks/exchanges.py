"""Exchanges: two things of a claim of which each has the other's part in the evidence."""

import re
from collections.abc import Sequence
from itertools import permutations
from typing import Final

from judge.checks.clauses import Clause, Word
from judge.checks.contrasts import lexicon
from judge.checks.roles import DETERMINERS, NO_VERB
from judge.text.fold import CJK_CHAR

_PREPOSITION: Final = re.compile(
    r"(?<![^\W_])(?:to|for|from|with|by|on|at|of|in|into|per|against)(?![^\W_])", re.IGNORECASE
)
_TAKEN: Final = re.compile("向.{1,12}([借租贷])(?!给)")
_FEW: Final = 24
"""Things that a claim and its evidence both name that are looked at, the first ones."""
_REACH: Final = 3
"""Telling words between a verb and what does it, or what it is done to."""
_LONG: Final = 8
"""Telling words of a clause in which who does what can be told."""
_DOER: Final = frozenset(("doer",))
_OTHER: Final = frozenset(("other",))
_LATER: Final = frozenset(("later",))


def turned_roles(
    own: Clause, sentence: Sequence[Clause], nearest: Clause
) -> tuple[str, str] | None:
    """Two things of a claim of which each has the other's part in the evidence.

    In English they stand on either side of one verb, in Chinese behind a word such as 向 or 由.
    """
    if own.latin or nearest.latin:
        return _around_verb(own, nearest)
    return _behind_words(own, sentence, nearest)


def _around_verb(own: Clause, other: Clause) -> tuple[str, str] | None:
    for at, verb in enumerate(own.words if len(own.words) <= _LONG else ()):
        there = other.having(verb)
        if len(there) != 1 or len(own.having(verb)) != 1 or not _is_verb(own, verb):
            continue
        place = there[0]
        if not _is_verb(other, place) or verb.key in lexicon().symmetric:
            continue
        for doer in own.words[max(at - _REACH, 0) : at]:
            for done in own.words[at + 1 : at + 1 + _REACH]:
                one, two = _only(other, doer), _only(other, done)
                if one is None or two is None or not (_only(own, doer) and _only(own, done)):
                    continue
                crossed = two.start < place.start < one.start
                if _figure(doer) or _figure(done) or not crossed:
                    continue
                # `By` says who does it, whatever the order; a passive without it does not say.
                mine = own.between("doer", verb.end, done.start)
                theirs = other.between("doer", place.end, one.start)
                bare = own.passive(verb) > mine or other.passive(place) > theirs
                ways = _way(own, verb, done), _way(other, place, one)
                if mine == theirs and not bare and ways[0] == ways[1] and _nearby(other, two, one):
                    return _span(own, doer, done), _span(other, one, two)
    return None


def _way(clause: Clause, verb: Word, thing: Word) -> str:
    """The preposition by which a thing hangs on a verb: `limited to ten` is not `for each`."""
    found = _PREPOSITION.findall(clause.text, verb.end, thing.start)
    return found[-1].lower() if found else ""


def _nearby(clause: Clause, one: Word, two: Word) -> bool:
    return clause.places[two.start] - clause.places[one.start] <= 2 * _REACH


def _figure(word: Word) -> bool:
    return word.key[0].isdigit()


def _only(clause: Clause, word: Word) -> Word | None:
    found = clause.having(word)
    return found[0] if len(found) == 1 else None


def _span(clause: Clause, one: Word, two: Word) -> str:
    return clause.text[min(one.start, two.start) : max(one.end, two.end)]


def _is_verb(clause: Clause, word: Word) -> bool:
    """Whether a word may be a verb: no article or the like stands before it."""
    before = clause.text[: word.start].split()
    behind = clause.text[word.end :].split()
    said = clause.text[word.start : word.end].lower()
    if not before or not DETERMINERS.isdisjoint((before[-1].lower().strip(","), said)):
        return False
    return bool(behind) and not NO_VERB.search(said)


def _behind_words(
    own: Clause, sentence: Sequence[Clause], nearest: Clause
) -> tuple[str, str] | None:
    text = sentence[0].text
    # Who borrows of another is lent to by him.
    if (taken := _TAKEN.search(own.whole)) and f"{taken[1]}给" in text:
        return None
    things = _common(own, text)[:_FEW]
    mine = _parts_of(own, things)
    for clauses in ((nearest,), sentence):
        theirs: dict[str, frozenset[str]] = {}
        for clause in clauses:
            for thing, part in _parts_of(clause, things).items():
                theirs[thing] = theirs.get(thing, frozenset()) | part
        for one, two in permutations(mine, 2):
            if (mine[one], mine[two]) == (theirs.get(two), theirs.get(one)) == (_DOER, _OTHER):
                said = "".join(each.whole for each in clauses).strip(" ，；。")
                return own.written(one, two), said
    return None


def _common(own: Clause, text: str) -> list[str]:
    """Words of two characters or more that stand in both, the longest, in reading order."""
    said = own.whole
    found = []
    start = 0
    while start < len(said) - 1:
        end = start
        while end < len(said) and said[start : end + 1] in text and CJK_CHAR.match(said[end]):
            end += 1
        if end - start > 1:
            found.append(said[start:end])
        start = max(end, start + 1)
    return found


def _parts_of(clause: Clause, things: Sequence[str]) -> dict[str, frozenset[str]]:
    """Which part each of some things has in a clause: it does something, or another does."""
    places = sorted((clause.whole.find(each), each) for each in things)
    marks = [mark for mark in clause.marks if mark.name in ("doer", "other")]
    led = any(mark.name == "doer" for mark in marks)
    found: dict[str, frozenset[str]] = {}
    for at, (place, thing) in enumerate(place for place in places if place[0] >= 0):
        before = [mark.name for mark in marks if mark.end <= clause.start + place]
        if before:
            found[thing] = frozenset(before[-1:])
        else:
            found[thing] = _LATER if at or led else _DOER
    return found
