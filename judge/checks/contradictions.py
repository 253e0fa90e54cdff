"""Contradictions: whether what speaks of the same thing as a claim says otherwise of it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from heapq import nlargest
from itertools import islice
from typing import Final, Literal, NamedTuple

from judge.checks.additions import addition, insertion, surplus
from judge.checks.amounts import outweighed
from judge.checks.bounds import other_bound
from judge.checks.clauses import Clause, Word, clauses, excludes, root
from judge.checks.contrasts import Pole
from judge.checks.entities import other_entity
from judge.checks.exchanges import turned_roles
from judge.checks.parallels import crossed
from judge.checks.roles import conversed, exchanged, undergone
from judge.checks.sides import ORDER, agree, comparisons
from judge.checks.ways import turned_way
from judge.text.pieces import segments
from judge.text.words import stem

_SENTENCES: Final = 400
_CLAUSES: Final = 8
_NEAREST: Final = 16
"""So many sentences of the evidence are read, clauses of a claim looked at, and held against it."""
_NEAR: Final = 0.45
"""A clause with a smaller share of a claim's words, by weight, speaks of something else."""
_CLOSE: Final = 0.8
"""Clauses with at least this share of the best one's worth are as near."""
_BESIDE: Final = 0.3
"""What a word is worth that stands in the sentence of a clause, not in itself."""
_TOPIC: Final = 0.8
_COMMENT: Final = 3
"""The same beside a Chinese clause of so few words, whose subject stands before the comma."""
_ROLES: Final = 0.8
"""The same where two things may have changed places."""
_SHARED: Final = 2
"""Words that the other clause must have where it has one that excludes another."""
_ALONE: Final = 2
"""Words that the other clause may lack where one denies what the other says."""
_SHORT: Final = 8
"""In a clause of no more words, twice that in Chinese, it need not stand right beside."""
_SLOT: Final = 1
"""Neighbours on either side by which two words are known to stand in the same place."""
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
_ALL: Final = Pole("some", 0)
_FREE: Final = frozenset(("must", "may"))
_ABLE: Final = re.compile(r"can|need|需|能|要求|可(?!以)", re.IGNORECASE)
"""Words of a rule that may speak of what is possible, or of what is wanted."""
_EXCEPTION: Final = re.compile(
    r"except(?: for)?|apart from|other than|save for|excluding|除|(?P<ends>[以之]外)", re.IGNORECASE
)
"""What excepts; Chinese has one that stands behind what it excepts."""
_AGAIN: Final = re.compile(
    r"(?:It|They|This|These|Its|Their|He|She)(?![^\W_])|[其它]|[该此这](?:[款项类种])?"
)
_NONE: Final[frozenset[str]] = frozenset()
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
_ENDS: Final = frozenset(
    Pole(scale, 1) for scale in ("start", "add", "accept", "allow", "open", "valid", "join", "able")
)
"""What denies without a word of denial: `ended`."""


_OF_ONE: Final = frozenset(
    ("up", "add", "start", "open", "accept", "wide", "able", "valid", "create", "freeze", "improve")
)
"""Scales on which a thing moves by itself, or is moved, whatever stands beside it."""


_BARE_VERBS: Final = (
    "support provide offer include contain find show have get give receive see make come"
)
_BARE: Final = frozenset(map(stem, _BARE_VERBS.split()))
_BARE_HAN: Final = (
    "支持",
    "提供",
    "含",
    "配",
    "有",
    "设",
    "发现",
    "检出",
    "得到",
    "获得",
    "进入",
    "收到",
    "附带",
)
"""Verbs of which only their object says what it is that is so."""
_GAP: Final = 4
"""Characters between a verb and its object."""
_WITHOUT: Final = re.compile(
    r"(?:如果?|若)?(?:没有|未|非经?|不|无)|without(?![^\W_])", re.IGNORECASE
)
"""What is denied behind it holds where it is not so."""
_RULED: Final = 4
"""Telling words behind a rule of which it may speak."""


class Contradiction(NamedTuple):
    """Words of a claim that its evidence does not bear out."""

    said: str
    instead: str | None
    """What the evidence says in their place; None where they are an addition."""


class _Near(NamedTuple):
    """A clause that speaks of what another speaks of."""

    clause: Clause
    share: float
    """How much of it, by weight; what stands beside it in its sentence counts less."""
    sentence: Sequence[Clause]
    told: frozenset[str] = frozenset()
    """What the sentence before it names, and a pronoun speaks of."""


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
        close = nlargest(_NEAREST, _nearest(clause, sentences, _NEAR), key=lambda each: each.share)
        close = [
            each
            for each in close
            if not (_excepted(clause, each.sentence) or _of_another(clause, each, sentences))
        ]
        for rule in _RULES if close and told is None else ():
            for other in rule(clause, close):
                return other
    for told_of in (other_entity, crossed):
        if found := told_of(said, sentences):
            return Contradiction(*found)
    added = insertion(said, sentences) or addition(
        said, [one for each in sentences for one in each]
    )
    added = added or surplus(said, sentences)
    return Contradiction(added, None) if added else None


def _excepted(own: Clause, sentence: Sequence[Clause]) -> bool:
    """Whether a sentence excepts what a clause speaks of, which says neither `all` nor `only`."""
    if own.has("only") or any(_ALL in word.poles for word in own.words):
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


def _of_another(own: Clause, near: _Near, sentences: Sequence[tuple[Clause, ...]]) -> bool:
    """Whether a clause denies of another thing what is said as a claim says it of its own."""
    clause = near.clause
    if not own.words or clause.denies == own.denies or own.having(clause.words[0]):
        return False
    lacked = [word for word in own.words if not any(each.having(word) for each in near.sentence)]
    return lacked[:1] == [own.words[0]] and any(
        each.denies == own.denies and all(map(each.having, lacked))
        for sentence in sentences
        for each in sentence
        if sentence is not near.sentence
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
        next(_polarity(clause, list(_nearest(clause, asked, 0.0))), None) is not None
        for clause in clauses(claim)
    )


def _nearest(own: Clause, sentences: Iterable[tuple[Clause, ...]], least: float) -> Iterator[_Near]:
    """The clauses that speak of what a clause speaks of, with how much of it they say."""
    before: tuple[Clause, ...] = ()
    for sentence in sentences:
        beside = _keys(sentence)
        # `It does not` speaks of what the sentence before it names.
        told = _keys(before) if sentence and _AGAIN.match(sentence[0].text) else _NONE
        before = sentence
        around = [
            word
            for word in own.words
            if not beside.isdisjoint((word.key, f"~{root(word.key)}"))
            or word.poles
            or word.sense
            or word.key in told
        ]
        if sum(word.weight for word in around) < least * own.weight:
            continue
        for clause in sentence:
            worth = 0.0
            only = clause.has("only")
            bare = len(clause.words) <= _COMMENT and not clause.text.isascii()
            for word in around:
                lifted = only and _ALL in word.poles
                if lifted or clause.having(word) or _rivals(word, own, clause):
                    worth += word.weight
                elif word.key in beside:
                    worth += (_TOPIC if bare else _BESIDE) * word.weight
                elif word.key in told:
                    worth += _TOPIC * word.weight
            share = worth / own.weight
            if share >= least:
                yield _Near(clause, share, sentence, told)


@lru_cache(maxsize=1 << 12)
def _keys(sentence: tuple[Clause, ...]) -> frozenset[str]:
    said = [word.key for clause in sentence for word in clause.words]
    return frozenset((*said, *(f"~{kin}" for key in said if (kin := root(key)))))


def _top(near: Sequence[_Near], having: Word | None = None) -> list[Clause]:
    among = [each for each in near if having is None or each.clause.having(having)]
    best = max((each.share for each in among), default=0.0)
    return [each.clause for each in among if each.share >= best * _CLOSE]


def _polarity(own: Clause, near: Sequence[_Near]) -> Iterator[Contradiction]:
    """One denies the word that the other says, and has no negation of its own."""
    bare = not own.prefixed and not any(each.clause.prefixed for each in near)
    if own.conditional or (bare and all(each.clause.denies == own.denies for each in near)):
        return
    for word in own.words:
        there = _top(near, word)
        if len({each.denied for each in own.having(word)}) > 1:
            continue
        said = [each for clause in there for each in clause.having(word)]
        # What a prefix denies, it denies whatever else a clause does.
        apart = bool(said) and all(each.prefixed != word.prefixed for each in said)
        alike = not apart and any(clause.denies == own.denies for clause in there)
        if alike or any(clause.conditional for clause in there if not apart):
            continue
        if any(_ends(own, clause) or _WITHOUT.match(clause.text) for clause in there):
            continue
        if word.key[0].isdigit() and any(each.has("deny-near") for each in (own, *there)):
            continue
        if not said or any(each.denied == word.denied for each in said):
            continue
        known = next(each.told for each in near if each.clause is there[0])
        alone = [each for each in own.words if not there[0].having(each) and each.key not in known]
        if len(alone) > _ALONE and own.text.isascii():
            continue
        if word.focus or any(_foremost(each, clause, own) for clause in there for each in said):
            yield Contradiction(_phrase(own, word), _phrase(there[0], said[0]))


def _foremost(word: Word, clause: Clause, own: Clause) -> bool:
    """Whether a negation denies a word first; after a verb that says no more than that it is so."""
    if word.focus or own.denies or word not in clause.words:
        return word.focus
    before = [each for each in clause.words if each.start < word.start and each.denied]
    return (
        bool(before)
        and before[-1].end >= word.start - _GAP
        and before[-1].focus
        and not own.having(before[-1])
        and (
            before[-1].key in _BARE
            or clause.whole[before[-1].start - clause.start :].startswith(_BARE_HAN)
        )
    )


def _ends(own: Clause, other: Clause) -> bool:
    """Whether one says without a negation what the other says with one."""
    one, two = (other, own) if own.denies else (own, other)
    return any(
        (word.key == "free" or _ENDS.intersection(word.poles)) and not two.having(word)
        for word in one.words
    )


def _rule(own: Clause, near: Sequence[_Near]) -> Iterator[Contradiction]:
    """A rule that requires, allows or forbids what the other does not."""
    there = _top(near)
    if own.conditional or any(clause.conditional for clause in there):
        return
    if there and all(_otherwise(own, each) for each in there):
        yield Contradiction(_ruled(own), _ruled(there[0]))


def _otherwise(own: Clause, other: Clause) -> bool:
    """Whether two clauses rule otherwise of the same, and neither denies more than its rule."""
    rules = frozenset((own.rule, other.rule))
    if rules not in _OTHERWISE or own.nested or other.nested:
        return False
    one, two = own.governed, other.governed
    if rules == _FREE:
        if any(_ABLE.match(_ruled(each)) for each in (own, other)):
            return False
        return _ruled_alike(own, other) or _ruled_alike(other, own)
    return not one or not two or bool(other.having(one)) == bool(own.having(two))


def _ruled_alike(own: Clause, other: Clause) -> bool:
    """Whether what a rule speaks of first stands behind the other rule, or before one that ends."""
    first, mark = own.governed, other.mark(str(other.rule))
    if first is None or mark is None:
        return False
    if other.governed is not None:
        return any(each.start >= mark.end for each in other.having(first))
    behind = [word for word in own.words if word.start >= first.start][:_RULED]
    return any(other.having(word) for word in behind)


def _opposite(own: Clause, near: Sequence[_Near]) -> Iterator[Contradiction]:
    """A word in whose place the other has one that excludes it."""
    there = [each for each in _top(near) if each.has("apart") == own.has("apart")]
    for word in own.words if there else ():
        rivals = [_rivals(word, own, clause) for clause in there]
        if not all(rivals) or any(
            _same_place(word, own, said, other)
            for each in near
            for other in each.sentence
            for said in other.having(word)
        ):
            continue
        if not (
            own.has("only") and any(each.has("apart") for each in near[0].sentence)
        ) and _shared(word, own, there[0], near) >= min(_SHARED, len(own.words) - 1):
            yield Contradiction(_phrase(own, word), _phrase(there[0], rivals[0][0]))


def _shared(word: Word, own: Clause, clause: Clause, near: Sequence[_Near]) -> int:
    """How many words of a clause another has; of its sentence too, where that lacks the word."""
    beside = next(each.sentence for each in near if each.clause is clause)
    read = (clause,) if any(each.having(word) for each in beside) else beside
    return sum(any(each.having(said) for each in read) for said in own.words)


def _rivals(word: Word, own: Clause, clause: Clause) -> list[Word]:
    """What excludes a word, where a clause has what stands beside it."""
    if not word.poles and not (word.sense and word.sense.excludes):
        return []
    return [
        each
        for each in clause.words
        if excludes(word, each)
        and each.denied == word.denied
        and all(said is word for said in own.having(each))
        and _same_place(word, own, each, clause)
        and not (_relates(word, own, clause) and _turned(word, own, each, clause))
    ]


def _relates(word: Word, own: Clause, clause: Clause) -> bool:
    """Whether a word says something of two things, which its opposite says the other way round."""
    scales = {pole.scale for pole in word.poles}
    return not scales <= _OF_ONE or own.has("than") or clause.has("than")


def _turned(one: Word, own: Clause, two: Word, clause: Clause) -> bool:
    """Whether what stands before one word stands behind the other, and the other way round."""
    sides = [
        (word.start < one.start, other.start < two.start)
        for word in own.words
        if word is not one
        for other in clause.having(word)
        if other is not two and len(own.having(word)) == len(clause.having(word)) == 1
    ]
    return (True, False) in sides and (False, True) in sides


def _same_place(one: Word, own: Clause, two: Word, clause: Clause) -> bool:
    """Whether a neighbour of one word stands beside the other."""
    many = len(own.words) if own.text.isascii() else len(own.words) // 2
    slot = _SLOT if many > _SHORT else _SHORT // 2 if own.text.isascii() else _SHORT
    at, place = own.places[one.start], clause.places[two.start]
    beside = own.words[max(at - slot, 0) : at] + own.words[at + 1 : at + 1 + slot]
    there = clause.words[max(place - slot, 0) : place] + clause.words[place + 1 : place + 1 + slot]
    return any(each in there for word in beside for each in clause.having(word))


def _compared(own: Clause, near: Sequence[_Near]) -> Iterator[Contradiction]:
    """A comparison of the same two things, turned round."""
    there = _top(near)
    for word in own.words if own.has("than") else ():
        for each in there[0].having(word) if word.poles else ():
            if _turned(word, own, each, there[0]):
                yield Contradiction(_side(own, word), _side(there[0], each))


def _side(clause: Clause, word: Word) -> str:
    """A word with what follows it."""
    behind = [each for each in clause.words if each.start >= word.end]
    return clause.text[word.start : (behind[0] if behind else word).end]


def _exchanged(own: Clause, near: Sequence[_Near]) -> Iterator[Contradiction]:
    """Two things, each in the other's place."""
    best = max(near, key=lambda each: each.share)
    if found := undergone(own, best.clause):
        yield Contradiction(*found)
    if best.share >= _ROLES:
        found = exchanged(own, best.clause) or turned_roles(own, best.sentence, best.clause)
        if found:
            yield Contradiction(*found)


def _bounded(own: Clause, near: Sequence[_Near]) -> Iterator[Contradiction]:
    """The other bound."""
    there = _top(near)
    for name, instead in _BOUNDS:
        mark = own.mark(name)
        others = [each.mark(instead) for each in there if not each.mark(name)]
        if mark and others and len(others) == len(there) and (other := others[0]):
            yield Contradiction(
                own.text[mark.start : mark.end], there[0].text[other.start : other.end]
            )


def _restricted(own: Clause, near: Sequence[_Near]) -> Iterator[Contradiction]:
    """One thing alone where the other says all."""
    there = _top(near)
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
            yield Contradiction(free[0], one.text[mark.start : mark.end])
    for word in own.words:
        if _ALL in word.poles and not own.has("only") and (mark := one.mark("only")):
            yield Contradiction(_phrase(own, word), one.text[mark.start : mark.end])
    if mark := own.mark("only"):
        for word in one.words:
            if _ALL in word.poles and not one.has("only"):
                yield Contradiction(own.text[mark.start : mark.end], _phrase(one, word))
        if (every := _EACH.search(one.whole)) and not one.has("only"):
            yield Contradiction(own.text[mark.start : mark.end], every[0])


def _hedged(own: Clause, near: Sequence[_Near]) -> Iterator[Contradiction]:
    """What is always or certainly so, where the other says that it may be."""
    there = [_HEDGE.search(each.whole) for each in _top(near)]
    if own.denies or not (there and all(there)) or _HEDGE.search(own.whole):
        return
    if (sure := _SURE.search(own.whole)) and there[0]:
        yield Contradiction(sure[0], there[0][0])


def _conversed(own: Clause, near: Sequence[_Near]) -> Iterator[Contradiction]:
    """One party does what the other does."""
    if found := conversed(own, _top(near)[0]):
        yield Contradiction(*found)


_BOUNDS: Final = (("at-least", "at-most"), ("at-most", "at-least"))
_RULES: Final = (
    _bounded,
    _restricted,
    _hedged,
    _exchanged,
    _conversed,
    _polarity,
    _rule,
    _opposite,
    _compared,
)


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
