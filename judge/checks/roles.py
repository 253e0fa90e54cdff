"""Roles: who does what a verb says, and to whom."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from judge.checks.clauses import Clause, Word
from judge.checks.contrasts import lexicon
from judge.checks.sides import tokens, turned
from judge.text.fold import CJK_CHAR

_LONG: Final = 14
"""Telling words of a clause in which who does what can be told."""
_SHORT: Final = 2
"""Characters of a Chinese verb at least."""
_MOST: Final = 60
"""Characters of a Chinese clause that are read."""
_JOINT: Final = re.compile(r"(?<![^\W_])(?:and|or|who|which|that|when|while|if|as|than)(?![^\W_])")
_PASSIVE: Final = re.compile(
    r"(?<![^\W_])(?:is|are|was|were|be|been|being|gets?|got)(?: \w+ly)*(?: \w+)? \Z",
    re.IGNORECASE,
)
_NONE: Final[frozenset[str]] = frozenset()
_BY: Final = re.compile(r"(?<![^\W_])by (?!\w+ing|[\d$€£])", re.IGNORECASE)
_PHRASE: Final = re.compile(
    r"(?<![^\W_])(?:to|for|in|on|at|from|with|into|during|after|before|over|under|until|against)(?![^\W_])"
)
_FRONTED: Final = re.compile(rf"\A(?:{_PHRASE.pattern})[^,]*, ", re.IGNORECASE)
"""A phrase before what a clause speaks of: `After the match, the coach`."""
NO_VERB: Final = re.compile(
    r"(?:tion|ment|nes|ness|it(?:y|ie)|ance|ence|ing|er|or|ly)s?\Z", re.IGNORECASE
)
"""Endings of nouns, and of what may be one."""
_BEFORE_NOUNS: Final = (
    "a an the of in on at for from with his her its their our my your this that these those no"
    " every each some any all other such own"
)
DETERMINERS: Final = frozenset(_BEFORE_NOUNS.split())
"""What stands before a noun, and is no verb itself."""
_DETERMINED: Final = re.compile(
    rf"(?<![^\W_])(?:{'|'.join(sorted(DETERMINERS))})[ ]\Z|[,'’]s?[ ]?\Z"
)
_DETERMINER: Final = 8
"""Characters of the longest of them, the blank behind it and what stands before it."""
_WHO: Final = re.compile(r", (?:which|who|that) (?:\w+ly )?", re.IGNORECASE)
_LAST: Final = re.compile(r"[^\W_]+\Z")
"""A clause that speaks of the last word before it."""
_HAN_PASSIVE: Final = re.compile(
    r"被(?![告许保害申执上])|由(?!于|此)|[受遭]到?(?=.{1,8}的?.)(?![益理过])"
)
_HAN_TAKEN: Final = re.compile(r"[把将](?!来|近|会|要)")
_HAN_TO: Final = re.compile(r"[向给]|对(?!于)|为(?!了)")
_HAN_PARTY: Final = re.compile(rf"{_HAN_TO.pattern}|从(?![而事来此])")
_HAN_BETWEEN: Final = re.compile(r"[被由把将向给对从为与和及跟是、的，有受获经遭加入任]")
_VERB: Final = 4
"""Characters of a Chinese verb, with what stands behind it, at most."""
_HAN_OF: Final = re.compile(
    r"(?P<a>[^，的]{1,10})(?:是|担任|为)(?P<b>[^，的]{1,10})的(?P<r>[^，。的]{1,6})"
    r"|(?P<b2>[^，的]{1,10})的(?P<r2>[^，的]{1,6})(?:是|由|为)(?P<a2>[^，。的]{1,10}?)(?:担任)?"
)
_OF: Final = re.compile(
    r"(?P<a>[^,]{2,30}?) (?:is|was) (?P<b>[^,]{2,30}?)['’]s? (?P<r>[a-z -]{3,20})"
    r"|(?P<b2>[^,]{2,30}?)['’]s? (?P<r2>[a-z -]{3,20}) (?:is|was) (?P<a2>[^,]{2,30}?)"
    r"|(?P<a3>[^,]{2,30}?) (?:is|was) (?:the |an? )?(?P<r3>[a-z -]{3,20}?) of (?P<b3>[^,]{2,30}?)"
    r"|[Tt]he (?P<r4>[a-z -]{3,20}?) of (?P<b4>[^,]{2,30}?) (?:is|was) (?P<a4>[^,]{2,30}?)"
)
"""What one is of another: `老张是小李的导师`, `Jonas is Petra's uncle`."""
_HAN_WHEN: Final = re.compile(r"(?:[之以]?[前后]|时)\Z")
_HAN_GRAMMAR: Final = re.compile(r"[一二两三四五六七八九十每的和与及、或并且在是于由被把将向给对]")


class _Frame(NamedTuple):
    doer: frozenset[str]
    other: frozenset[str]
    """What it is done to, and for whom."""


def exchanged(own: Clause, other: Clause) -> tuple[str, str] | None:
    """What a claim says of two things that the evidence gives each the other's part."""
    parties = lexicon().converse
    if any(not parties.get(w.key, _NONE).isdisjoint(e.key for e in other.words) for w in own.words):
        return None
    mine, theirs = _of(own), _of(other)
    pivots: Iterable[tuple[_Frame, _Frame]]
    if mine and theirs and mine[0] == theirs[0]:
        pivots = [(mine[1], theirs[1])]
    elif CJK_CHAR.search(own.whole):
        pivots = _chinese(own.whole, other.whole)
    else:
        pivots = _english(own, other)
    if not any(turned(*mine, *theirs) for mine, theirs in pivots):
        return None
    return own.whole.strip(" ,，。."), other.whole.strip(" ,，。.")


def conversed(own: Clause, other: Clause) -> tuple[str, str] | None:
    """What a claim says that one does, where the evidence says that the same one lets it be done.

    Who sells to another does not buy of him.
    """
    if CJK_CHAR.search(own.whole) is None and not any(
        w.key in lexicon().converse for w in own.words
    ):
        return None
    pairs = _converse_han(own, other) if CJK_CHAR.search(own.whole) else _converse_en(own, other)
    for mine, theirs in pairs:
        if mine and theirs and turned(*mine, *theirs) is False:
            return own.whole.strip(" ,，。."), other.whole.strip(" ,，。.")
    return None


def _converse_en(own: Clause, other: Clause) -> Iterator[tuple[_Frame | None, _Frame | None]]:
    for verb in own.words if len(own.words) <= _LONG else ():
        there = [each for each in other.words if each.key in lexicon().converse.get(verb.key, ())]
        if len(there) == 1 and not other.having(verb) and not own.having(there[0]):
            yield _around(own, verb), _around(other, there[0])


def _converse_han(own: Clause, other: Clause) -> Iterator[tuple[_Frame | None, _Frame | None]]:
    mine, theirs = own.whole[:_MOST], other.whole[:_MOST]
    for verb, others in lexicon().converse.items():
        if verb.isascii() or verb not in mine or verb in theirs:
            continue
        for each in others:
            if each in theirs and each not in mine:
                at, place = mine.find(verb), theirs.find(each)
                yield (
                    _within(mine, at, at + len(verb), _HAN_PARTY),
                    _within(theirs, place, place + len(each), _HAN_PARTY),
                )


def _of(clause: Clause) -> tuple[str, _Frame] | None:
    """What a clause says that one is of another, and the two."""
    said = clause.whole.strip(" ,，。.")
    found = (_HAN_OF if CJK_CHAR.search(said) else _OF).fullmatch(said)
    if found is None:
        return None
    parts = {name[0]: text for name, text in found.groupdict().items() if text}
    return parts["r"], _Frame(tokens(parts["a"]), tokens(parts["b"]))


def _english(own: Clause, other: Clause) -> Iterator[tuple[_Frame, _Frame]]:
    if len(own.words) > _LONG or _in_order(own.tokens, other.tokens):
        return
    for verb in own.words:
        # Who loses to another is defeated by him: the other party's verb is no synonym.
        beyond = lexicon().converse.get(verb.key, ())
        there = [each for each in other.having(verb) if each.key not in beyond]
        if len(there) != 1 or len(own.having(verb)) != 1 or verb.key in lexicon().symmetric:
            continue
        mine, theirs = _around(own, verb), _around(other, there[0])
        if mine is not None and theirs is not None:
            yield mine, theirs


def _in_order(own: list[str], other: list[str]) -> bool:
    """Whether two clauses say in one order what both say, and neither turns it round by a `by`."""
    if "by" in own or "by" in other:
        return False
    mine, theirs = set(own), set(other)
    return [each for each in own if each in theirs] == [each for each in other if each in mine]


def _around(clause: Clause, verb: Word) -> _Frame | None:
    """Who does it, and to whom, by the words on its sides."""
    start, end = clause.start, clause.start + len(clause.whole)
    before, behind = clause.text[start : verb.start], clause.text[verb.end : end]
    said = clause.text[verb.start : verb.end]
    if (
        _DETERMINED.search((before[:1].lower() + before[1:])[-_DETERMINER:])
        or NO_VERB.search(said)
        or verb.key[0].isdigit()
    ):
        return None
    left = _JOINT.split(before)[-1]
    right = _JOINT.split(behind)[0]
    by = _BY.search(right)
    if by and (by.start() <= 1 or _PASSIVE.search(before)):
        doer, rest = right[by.end() :], right[: by.start()]
        cut = _PHRASE.search(doer)
        away = doer[cut.start() :] if cut else ""
        return _Frame(tokens(doer[: cut.start()] if cut else doer), tokens(f"{left} {rest} {away}"))
    if _PASSIVE.search(before) or said.endswith("ing"):
        return None
    left = _FRONTED.sub("", left, count=1)
    if _WHO.fullmatch(before) and (named := _LAST.search(clause.text[:start])):
        left = named[0]
    cut = _PHRASE.search(left.lower())
    if cut and not tokens(left[: cut.start()]):
        return None
    return _Frame(tokens(left[: cut.start()] if cut else left), tokens(right))


def undergone(clause: Clause, near: Clause) -> tuple[str, str] | None:
    """What a thing undergoes in a claim, by one to which it does something, in whatever words."""
    own, other = clause.whole[:_MOST], near.whole[:_MOST]
    passive = _HAN_PASSIVE.search(own)
    if passive is None or _HAN_PASSIVE.search(other):
        return None
    before, behind = own[: passive.start()].rstrip("会都可能曾将"), own[passive.end() :]
    for many in (4, 3, 2):
        thing = before[-many:] if len(before) >= many else ""
        start = other.find(thing) if thing else -1
        if start < 0:
            continue
        for few in (4, 3, 2):
            doer = behind[:few]
            place = other.find(doer, start + many) if len(doer) == few and doer != thing else -1
            between = other[start + many : place] if place > 0 else ""
            if 0 < len(between) <= _VERB and not _HAN_BETWEEN.search(between):
                return own.strip(" ，。"), other.strip(" ，。")
        return None
    return None


def _chinese(own: str, other: str) -> Iterator[tuple[_Frame, _Frame]]:
    own, other = own[:_MOST], other[:_MOST]
    for start, end in _common(own, other):
        mine = _within(own, start, end)
        place = other.find(own[start:end])
        theirs = _within(other, place, place + end - start)
        if mine is not None and theirs is not None:
            yield mine, theirs


def _common(own: str, other: str) -> Iterator[tuple[int, int]]:
    """The longest runs of Chinese characters that two clauses have in common, as verbs may be."""
    edges = [0, *(m.start() for m in _HAN_GRAMMAR.finditer(own)), len(own)]
    for low, high in pairwise(edges):
        start = low
        while start < high:
            end = start
            while end < high and CJK_CHAR.match(own[end]) and own[start : end + 1] in other:
                end += 1
            if end - start >= _SHORT and not _HAN_GRAMMAR.search(own[start:end]):
                yield start, end
            start = max(end, start + 1)


def _within(text: str, start: int, end: int, to: re.Pattern[str] = _HAN_TO) -> _Frame | None:
    """Who does it, and to whom, by the words of grammar before a verb."""
    before, behind = text[:start], text[end:]
    # The verb stands behind such a word.
    if _HAN_PASSIVE.search(behind) or _HAN_TAKEN.search(behind):
        return None
    if found := _HAN_PASSIVE.search(before):
        return _frame(before[found.end() :], before[: found.start()] + behind)
    if found := _HAN_TAKEN.search(before) or to.search(before):
        return _frame(before[: found.start()], before[found.end() :] + behind)
    return _frame(before, behind)


def _frame(doer: str, other: str) -> _Frame | None:
    if not doer or not other or _HAN_WHEN.search(doer):
        return None
    return _Frame(tokens(doer), tokens(other))
