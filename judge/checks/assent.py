"""Whether a text says yes or no to a question: `Yes.`, `不可以`, `It is not included.`."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from judge.checks.denials import denied, negations
from judge.checks.sequence import Token, sequence
from judge.checks.spans import Spans
from judge.checks.values import figures
from judge.judges.similarity.senses import Sense, english_senses, han_senses
from judge.text.fold import CJK_CHAR
from judge.text.words import CONTENT, grammar, weight, words

_ASKS: Final = re.compile(
    r"""
      ^ \W* (?: is | are | was | were | am | do | does | did | has | have | had | can | could | will
        | would | shall | should | may | might | must ) \b
    | [吗嗎] | 是否 | 能否 | 可否 | 有无 | ([\u3400-\u9fff]) [不没] \1
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CHOICE: Final = re.compile(r"\b(?:or|versus|vs)\b|还是|或", re.IGNORECASE)
# `可不可以` denies nothing, and neither does the 否 or 无 that merely asks.
_TURNED: Final = re.compile(r"([\u3400-\u9fff])[不没](?=\1)|(?<=[是能可])否|(?<=有)无")
_THEY: Final = r"(?: it | they | you | he | she | we | i | there | this | that ) \b"
_DO: Final = (
    r"(?: is | are | was | were | do | does | did | ha[sd] | have | can | could | will | would )"
)
_YES: Final = re.compile(
    rf"""
      \W* (?: (?: yes | yeah | yep | correct | true ) \b
    | {_THEY} \s {_DO} (?= \W* $ )
    | (?: 是 | 对 | 正确 | 没错 | 可以 | 能 | 会 | 有 | 需要 | 允许 ) 的? (?= \W | $ ) )
    """,
    re.VERBOSE | re.IGNORECASE,
)
# "No dogs are allowed" has a subject there, and no answer.
_NO: Final = re.compile(
    rf"""
      \W* (?: (?: no | nope | incorrect | false ) (?= \s* (?: [^\w\s] | $ ) | \s+ {_THEY} )
    | {_THEY} \s (?: {_DO} (?: n['’]t | \s not ) | can (?: not | ['’]t ) | won['’]t ) (?= \W* $ )
    | (?: 否 | 不 | 不是 | 不是的 | 不对 | 不正确 | 错 | 错误 | 不可以 | 不能 | 不会 | 没有 | 没
        | 不需要 | 不允许 ) (?= \W | $ ) )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_COVERS: Final = 0.75
"""A sentence with such a share of a question's telling words answers it."""
_LEAST: Final = 2
"""And with so many of them, where it says more: all that is told of breakfast is no answer."""
_MAY: Final = re.compile(r"^\W*(?:can|could|may)\b|可以|[能可]否|[能可]不[能可]|能", re.IGNORECASE)
_PERMIT: Final = re.compile(r"可以|能够|能|[允准]许")
_ALLOWED: Final = "允许"
"""What who asks so asks, too."""
_LONGEST: Final = 400
"""Characters of an answer that is looked at."""


class Assent(NamedTuple):
    """What a sentence answers."""

    yes: bool
    """Yes or no."""
    bare: bool
    """Whether it says nothing that the question does not."""


class _Telling(NamedTuple):
    tokens: Sequence[Token]
    """In reading order."""
    passed: frozenset[int]
    """Characters of negations and of words that permit."""


class Proposal:
    """A question to be answered by yes or no.

    Args:
        query: the question, which `proposal` has found to be one.
    """

    def __init__(self, query: str) -> None:
        said = _telling(query)
        self._words = frozenset(token.key for token in said.tokens)
        self._pairs = frozenset((one.key, two.key) for one, two in _touching(said))
        permits = _ALLOWED if _MAY.search(query) else ""
        self._senses = [sense for sense, _, _ in _senses(f"{query} {permits}")]

    def assent(self, text: str) -> Assent | None:
        """What a sentence answers; None where it cannot be told.

        A word of assent or denial at its head decides; without one, whether it denies: of what the
        question asks, and for the most part. A word that excludes one of the question, `forbidden`
        beside `allowed`, denies it where nothing else is new, and else leaves it open.
        """
        if len(text) > _LONGEST:
            return None
        if head := _YES.match(text) or _NO.match(text):
            rest = text[head.end() :]
            return Assent(bool(_YES.match(text)), not self._new(_telling(rest)))
        said = _telling(text)
        told = {token.key for token in said.tokens} & self._words
        new = self._new(said)
        if rivals := self._rivals(text):
            # Forbidden is not allowed: with nothing else beside it, that is a no.
            held = Spans(rivals)
            more = [token for token in new if not held.meets(token.start, token.end)]
            plain = not negations(text, _tokens(text))
            return Assent(yes=False, bare=True) if told and plain and not more else None
        if not told or (new and len(told) < max(_LEAST, _COVERS * len(self._words))):
            return None
        return self._stance(text, told, bare=not new)

    def _rivals(self, text: str) -> list[tuple[int, int]]:
        """The words that exclude what the question asks, where the text does not say that, too."""
        found = _senses(text)
        held = frozenset[str]().union(*(sense.implies for sense, _, _ in found))
        asked = [sense for sense in self._senses if sense.concept not in held]
        return sorted(
            (start, end)
            for sense, start, end in found
            if any(sense.excludes & own.implies or own.excludes & sense.implies for own in asked)
        )

    def _stance(self, text: str, told: set[str], *, bare: bool) -> Assent | None:
        every = _tokens(text)
        at = negations(text, every)
        if not at:
            return Assent(yes=True, bare=bare)
        without = {every[n].key for n in denied(every, at)}
        # What the question does not ask may be denied beside a yes.
        return Assent(yes=False, bare=bare) if bare or without & told else None

    def _new(self, said: _Telling) -> list[Token]:
        """One character of Chinese is no word: it is the question's beside the same neighbour."""
        both = {t for p in _touching(said) if (p[0].key, p[1].key) in self._pairs for t in p}
        return [
            token
            for token in said.tokens
            if token not in both and (CJK_CHAR.match(token.key) or token.key not in self._words)
        ]


def proposal(query: str) -> Proposal | None:
    """The question as one to be answered by yes or no; None where it is none, or itself denies.

    >>> bool(proposal("院子里可不可以吸烟？")), bool(proposal("Isn't it late?"))
    (True, False)
    """
    query = query.strip()
    if len(query) > _LONGEST or not _ASKS.search(query) or _CHOICE.search(query):
        return None
    plain = _TURNED.sub("", query)
    return None if negations(plain, _tokens(plain)) else Proposal(plain)


def _tokens(text: str) -> list[Token]:
    found = words(text)
    return sequence(found, figures(text, found))


def _senses(text: str) -> list[tuple[Sense, int, int]]:
    """The meanings of its words, and where they stand."""
    said = words(text)
    english = english_senses(said.stems)
    found = [(sense, said.starts[a], said.ends[b - 1]) for sense, a, b in english]
    return [*found, *han_senses(text)]


def _telling(text: str) -> _Telling:
    """Words and numbers that say something; negations turn it round, and 能 is as good as 可以."""
    tokens = _tokens(text)
    deny = [tokens[n] for n in negations(text, tokens)]
    spans = [
        *((each.start, each.end) for each in deny),
        *(m.span() for m in _PERMIT.finditer(text)),
    ]
    passed = {place for span in spans for place in range(*span)}
    light = {place for span in grammar(text) for place in range(*span)}
    telling = [
        token
        for token in tokens
        if token.start not in passed
        and (token.value is not None or (token.start not in light and weight(token.key) > CONTENT))
    ]
    return _Telling(telling, frozenset(passed))


def _touching(said: _Telling) -> list[tuple[Token, Token]]:
    """Those with nothing between but what is passed over."""
    return [
        (one, two)
        for one, two in pairwise(said.tokens)
        if one.end <= two.start and said.passed.issuperset(range(one.end, two.start))
    ]
