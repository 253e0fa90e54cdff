"""Whether a text says yes or no to a question: `Yes.`, `不可以`, `It is not included.`."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from judge.text.denials import denied, negations
from judge.text.fold import CJK_CHAR
from judge.text.sequence import Token, sequence
from judge.text.terms import CONTENT
from judge.text.values import figures
from judge.text.words import grammar, weight, words

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
_YES: Final = re.compile(
    r"""
      \W* (?: (?: yes | yeah | yep | correct | true ) \b
    | (?: 是 | 是的 | 对 | 对的 | 正确 | 没错 | 可以 | 能 | 会 | 有 | 需要 | 允许 ) (?= \W | $ ) )
    """,
    re.VERBOSE | re.IGNORECASE,
)
# "No dogs are allowed" has a subject there, and no answer.
_NO: Final = re.compile(
    r"""
      \W* (?: (?: no | nope | incorrect | false ) (?= \s* (?: [^\w\s] | $ )
        | \s+ (?: it | they | you | he | she | we | i | there | this | that ) \b )
    | (?: 否 | 不 | 不是 | 不是的 | 不对 | 不正确 | 错 | 错误 | 不可以 | 不能 | 不会 | 没有 | 没
        | 不需要 | 不允许 ) (?= \W | $ ) )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_COVERS: Final = 0.75
"""A sentence with such a share of a question's telling words answers it."""
_LONGEST: Final = 400
"""Characters of an answer that is looked at."""


class Assent(NamedTuple):
    """What a sentence answers."""

    yes: bool
    """Yes or no."""
    bare: bool
    """Whether it says nothing that the question does not."""


class Proposal:
    """A question to be answered by yes or no.

    Args:
        query: the question, which `proposal` has found to be one.
    """

    def __init__(self, query: str) -> None:
        tokens = _telling(query)
        self._words = frozenset(token.key for token in tokens)
        self._pairs = frozenset((one.key, two.key) for one, two in _touching(tokens))

    def assent(self, text: str) -> Assent | None:
        """What a sentence answers; None where it cannot be told.

        A word of assent or denial at its head decides; without one, whether it denies: of what the
        question asks, and for the most part.
        """
        if len(text) > _LONGEST:
            return None
        if head := _YES.match(text) or _NO.match(text):
            rest = text[head.end() :]
            return Assent(bool(_YES.match(text)), not self._new(_telling(rest)))
        tokens = _telling(text)
        told = {token.key for token in tokens} & self._words
        new = self._new(tokens)
        if not told or (new and len(told) < _COVERS * len(self._words)):
            return None
        return self._stance(text, told, bare=not new)

    def _stance(self, text: str, told: set[str], *, bare: bool) -> Assent | None:
        every = _tokens(text)
        at = negations(text, every)
        if not at:
            return Assent(yes=True, bare=bare)
        without = {every[n].key for n in denied(every, at)}
        # What the question does not ask may be denied beside a yes.
        return Assent(yes=False, bare=bare) if bare or without & told else None

    def _new(self, tokens: Sequence[Token]) -> list[Token]:
        """One character of Chinese is no word: it is the question's beside the same neighbour."""
        both = {t for p in _touching(tokens) if (p[0].key, p[1].key) in self._pairs for t in p}
        return [
            token
            for token in tokens
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


def _telling(text: str) -> list[Token]:
    """Words and numbers that say something; negations do not, they turn it round."""
    tokens = _tokens(text)
    deny = set(negations(text, tokens))
    light = {place for span in grammar(text) for place in range(*span)}
    return [
        token
        for n, token in enumerate(tokens)
        if n not in deny
        and (token.value is not None or (token.start not in light and weight(token.key) > CONTENT))
    ]


def _touching(tokens: Sequence[Token]) -> list[tuple[Token, Token]]:
    return [(a, b) for a, b in pairwise(tokens) if a.end == b.start]
