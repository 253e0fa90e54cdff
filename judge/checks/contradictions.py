"""Contradictions: whether what speaks of the same thing as a claim says otherwise of it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest
from itertools import islice, permutations
from typing import Final, Literal, NamedTuple

from judge.checks.additions import addition, insertion, surplus
from judge.checks.amounts import outweighed
from judge.checks.bounds import other_bound
from judge.checks.clauses import Clause, Word, clauses
from judge.checks.entities import other_entity
from judge.checks.exchanges import turned_roles
from judge.checks.negations import polarity
from judge.checks.neighbours import ALL, Near, nearest, phrase, top
from judge.checks.obligations import obligation
from judge.checks.opposites import rivals, same_place, turned
from judge.checks.parallels import crossed
from judge.checks.roles import conversed, exchanged, undergone
from judge.checks.sides import ORDER, agree, comparisons
from judge.checks.substitutes import substitute
from judge.checks.ways import turned_way
from judge.text.pieces import segments

_SENTENCES: Final = 400
_CLAUSES: Final = 8
_NEAREST: Final = 16
"""So many sentences of the evidence are read, clauses of a claim looked at, and held against it."""
_NEAR: Final = 0.45
"""A clause with a smaller share of a claim's words, by weight, speaks of something else."""
_ROLES: Final = 0.8
"""The same where two things may have changed places."""
_SHARED: Final = 2
"""Words that the other clause must have where it has one that excludes another."""
_EXCEPTION: Final = re.compile(
    r"except(?: for)?|apart from|other than|save for|excluding|除|(?P<ends>[以之]外)", re.IGNORECASE
)
"""What excepts; Chinese has one that stands behind what it excepts."""
_KINDS: Final = tuple(
    (re.compile(rf"\b(?:{one})\b|{first}"), re.compile(rf"\b(?:{two})\b|{second}"))
    for one, first, two, second in (
        (
            "new|newer|current",
            "新(?!闻)",
            "old|older|former|previous|original",
            "旧|原(?![因来则])|老",
        ),
        ("first", "第一|首", "second|third|last", "第[二三]|末"),
        ("adults?", "成人|成年人", "children|child|minors?", "儿童|未成年人"),
        ("men|male", "男", "women|female", "女"),
        ("indoors?|inside", "室内", "outdoors?|outside", "室外|户外"),
        ("domestic", "国内|境内", "international|foreign|overseas", "国际|国外|境外"),
        ("before", "[之以]?前", "after", "[之以]?后"),
    )
)
"""Of a thing of one kind is denied what is so of the other."""
_BUT_NOT: Final = re.compile(
    r"\W*(?:but |though |and )?not (?:in|for|on|at|to|by|with|of|the|from)\b", re.IGNORECASE
)
_HOURS: Final = "open"
_UNTIL: Final = re.compile(r"\b(?:un)?till?\b|\blonger\b|\d (?:to|and) \d|[至到]", re.IGNORECASE)
"""What closes at six is open until six."""
_ANY: Final = re.compile(r"(?<![^\W_])any(?:one|body)?(?![^\W_])|任何|任意|不限", re.IGNORECASE)
_EACH: Final = re.compile(r"[两二三四五六七八九十\d][^，；。]{1,6}[都均皆]")
_SURE: Final = re.compile(
    r"(?<![^\W_])(?:always|definitely|certainly|inevitably|invariably|necessarily|guaranteed|surely"
    r"|without fail|in all cases)(?![^\W_])|一定|必定|必然|肯定|总是|总会|无一例外|必将",
    re.IGNORECASE,
)
_HEDGE: Final = re.compile(
    r"(?<![^\W_])(?:may|might|could|possibly|perhaps|sometimes|occasionally|potentially)(?![^\W_])"
    r"|可能|也许|或许|有时|偶尔|不一定",
)
"""What says that something is so beyond doubt, and that it is perhaps."""


class Contradiction(NamedTuple):
    """Words of a claim that its evidence does not bear out."""

    said: str
    instead: str | None
    """What the evidence says in their place; None where they are an addition."""


def contradiction(claim: str, passages: Iterable[str]) -> Contradiction | None:
    """What a passage says otherwise than a claim; None where none does.

    >>> contradiction("Staff must share passwords.", ["Staff must not share passwords."])
    Contradiction(said='share', instead='must not share')
    """
    spans = ((passage, *span) for passage in passages for span in segments(passage))
    sentences = [clauses(passage[a:b]) for passage, a, b in islice(spans, _SENTENCES)]
    said = clauses(claim)
    compared = {clause: _comparison(clause, sentences) for clause in said[:_CLAUSES]}
    for told in compared.values():
        if told:
            return told
    for told_of in (other_bound, turned_way) if None in compared.values() else ():
        if found := told_of(said, sentences):
            return Contradiction(*found)
    for clause, told in compared.items():
        close = nlargest(_NEAREST, nearest(clause, sentences, _NEAR), key=lambda each: each.share)
        close = [
            each
            for each in close
            if not (_excepted(clause, each.sentence) or _of_another(clause, each, sentences))
        ]
        for rule in _RULES if close and told is None else ():
            for other in rule(clause, close):
                return Contradiction(*other)
    for told_of in (other_entity, crossed, substitute):
        if found := told_of(said, sentences):
            return Contradiction(*found)
    added = insertion(said, sentences) or addition(
        said, [one for each in sentences for one in each]
    )
    added = added or surplus(said, sentences)
    return Contradiction(added, None) if added else None


def _excepted(own: Clause, sentence: Sequence[Clause]) -> bool:
    """Whether a sentence excepts what a clause speaks of, which says neither `all` nor `only`."""
    if own.has("only") or any(ALL in word.poles for word in own.words):
        return False
    for part in sentence:
        if not (mark := part.mark("apart")):
            continue
        if not (written := _EXCEPTION.fullmatch(part.text, mark.start, mark.end)):
            continue
        said = (each for word in own.words for each in part.having(word))
        if any((each.start < mark.start) == bool(written["ends"]) for each in said):
            return True
    return False


def _of_another(own: Clause, near: Near, sentences: Sequence[tuple[Clause, ...]]) -> bool:
    """Whether a clause denies of another thing what is said as a claim says it of its own."""
    clause = near.clause
    if not own.words or (clause.denies, clause.rule) == (own.denies, own.rule):
        return False
    # `But not in the suburbs` denies of them what stands before it.
    if own.denies and any(
        _BUT_NOT.match(each.whole) and any(map(own.having, each.words)) for each in near.sentence
    ):
        return True
    if any(_other_kind(*pair) for pair in permutations((own.whole, clause.whole))):
        return True
    if own.having(clause.words[0]):
        return False
    lacked = [word for word in own.words if not any(each.having(word) for each in near.sentence)]
    return lacked[:1] == [own.words[0]] and any(
        (each.denies, each.rule) == (own.denies, own.rule) and all(map(each.having, lacked))
        for sentence in sentences
        for each in sentence
        if sentence is not near.sentence
    )


def _other_kind(one: str, two: str) -> bool:
    """Whether one clause speaks of the first of two kinds alone, and the other of the second."""
    return any(
        kind.search(one) and rest.search(two) and not (rest.search(one) or kind.search(two))
        for kind, rest in _KINDS
    )


def _comparison(
    own: Clause, sentences: Sequence[tuple[Clause, ...]]
) -> Contradiction | Literal[False] | None:
    """What compares the same two things otherwise; False where something says the same."""
    denying = None
    for mine in comparisons(own):
        for clause in (each for sentence in sentences for each in sentence):
            for other in comparisons(clause):
                agreed = agree(mine, other)
                if agreed:
                    return None if mine.scale == ORDER else False
                if agreed is False:
                    denying = denying or Contradiction(own.whole, clause.whole)
        if denying is None and (figures := outweighed(mine, sentences)):
            denying = Contradiction(own.whole, figures)
    return denying


def denies(claim: str, question: str) -> bool:
    """Whether a short answer denies what a question says, or says what it denies."""
    asked = [clauses(question)]
    return any(
        next(polarity(clause, list(nearest(clause, asked, 0.0))), None) is not None
        for clause in clauses(claim)
    )


def _opposite(own: Clause, near: Sequence[Near]) -> Iterator[tuple[str, str]]:
    """A word in whose place the other has one that excludes it."""
    there = [each for each in top(near) if each.has("apart") == own.has("apart")]
    for word in own.words if there else ():
        others = [rivals(word, own, clause) for clause in there]
        if not all(others) or any(
            same_place(word, own, said, other)
            for each in near
            for other in each.sentence
            for said in other.having(word)
        ):
            continue
        if _lasts(word, own, there[0]):
            continue
        if any(_repeated(word, own, each) for one in near for each in one.sentence):
            continue
        if not (
            own.has("only") and any(each.has("apart") for each in near[0].sentence)
        ) and _shared(word, own, there[0], near) >= min(_SHARED, len(own.words) - 1):
            yield phrase(own, word), phrase(there[0], others[0][0])


def _lasts(word: Word, own: Clause, clause: Clause) -> bool:
    """Whether one clause says until when something is open, and the other when it closes."""
    ends = dict(word.poles)
    if _HOURS not in ends:
        return False
    one, two = (clause, own) if ends[_HOURS] else (own, clause)
    return bool(_UNTIL.search(one.whole)) and not _UNTIL.search(two.whole)


def _repeated(word: Word, own: Clause, clause: Clause) -> bool:
    """Whether a claim says all that a clause does, and one of its words as that does."""
    if len(clause.words) < _SHARED or not any(
        each.denied == word.denied for each in clause.having(word)
    ):
        return False
    parts = clauses(own.text)
    return all(any(part.having(each) for part in parts) for each in clause.words)


def _shared(word: Word, own: Clause, clause: Clause, near: Sequence[Near]) -> int:
    """How many words of a clause another has; of its sentence too, where that lacks the word."""
    beside = next(each.sentence for each in near if each.clause is clause)
    read = (clause,) if any(each.having(word) for each in beside) else beside
    return sum(any(each.having(said) for each in read) for said in own.words)


def _compared(own: Clause, near: Sequence[Near]) -> Iterator[tuple[str, str]]:
    """A comparison of the same two things, turned round."""
    there = top(near)
    for word in own.words if own.has("than") else ():
        for each in there[0].having(word) if word.poles else ():
            if turned(word, own, each, there[0]):
                yield _side(own, word), _side(there[0], each)


def _side(clause: Clause, word: Word) -> str:
    """A word with what follows it."""
    behind = [each for each in clause.words if each.start >= word.end]
    return clause.text[word.start : (behind[0] if behind else word).end]


def _exchanged(own: Clause, near: Sequence[Near]) -> Iterator[tuple[str, str]]:
    """Two things, each in the other's place."""
    best = max(near, key=lambda each: each.share)
    if found := undergone(own, best.clause):
        yield found
    if best.share >= _ROLES:
        found = exchanged(own, best.clause) or turned_roles(own, best.sentence, best.clause)
        if found:
            yield found


def _bounded(own: Clause, near: Sequence[Near]) -> Iterator[tuple[str, str]]:
    """The other bound."""
    there = top(near)
    for name, instead in _BOUNDS:
        mark = own.mark(name)
        others = [each.mark(instead) for each in there if not each.mark(name)]
        if mark and others and len(others) == len(there) and (other := others[0]):
            yield own.text[mark.start : mark.end], there[0].text[other.start : other.end]


def _restricted(own: Clause, near: Sequence[Near]) -> Iterator[tuple[str, str]]:
    """One thing alone where the other says all."""
    there = top(near)
    one = there[0] if there else own
    if own.denies or one.denies:
        return
    mark = one.mark("only")
    if (
        mark
        and (free := _ANY.search(own.whole))
        and not (own.conditional or own.denies or own.has("only"))
    ):
        of = next((word for word in own.words if word.start >= own.start + free.end()), None)
        if (
            of
            and near[0].share >= _ROLES
            and any(each.start >= mark.end for each in one.having(of))
        ):
            yield free[0], one.text[mark.start : mark.end]
    for word in own.words:
        if ALL in word.poles and not own.has("only") and (mark := one.mark("only")):
            yield phrase(own, word), one.text[mark.start : mark.end]
    if mark := own.mark("only"):
        for word in one.words:
            if ALL in word.poles and not one.has("only"):
                yield own.text[mark.start : mark.end], phrase(one, word)
        if (every := _EACH.search(one.whole)) and not one.has("only"):
            yield own.text[mark.start : mark.end], every[0]


def _hedged(own: Clause, near: Sequence[Near]) -> Iterator[tuple[str, str]]:
    """What is always or certainly so, where the other says that it may be."""
    there = [_HEDGE.search(each.whole) for each in top(near)]
    if own.denies or not (there and all(there)) or _HEDGE.search(own.whole):
        return
    if (sure := _SURE.search(own.whole)) and there[0]:
        yield sure[0], there[0][0]


def _conversed(own: Clause, near: Sequence[Near]) -> Iterator[tuple[str, str]]:
    """One party does what the other does."""
    if found := conversed(own, top(near)[0]):
        yield found


_BOUNDS: Final = (("at-least", "at-most"), ("at-most", "at-least"))
_RULES: Final = (
    _bounded,
    _restricted,
    _hedged,
    _exchanged,
    _conversed,
    polarity,
    obligation,
    _opposite,
    _compared,
)
