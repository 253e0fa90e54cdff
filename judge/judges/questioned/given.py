"""What a question takes for granted, and what of a sentence is new beside it."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from judge.checks.denials import denied, negations
from judge.checks.sequence import Token, sequence
from judge.checks.spans import Spans
from judge.checks.values import figures
from judge.text.fold import CJK_CHAR
from judge.text.words import CONTENT, grammar, weight, words

_LONGEST: Final = 400
"""Characters; a longer query brings a text along, whose words are material and not given."""

# "Does it end in May or June?" takes neither for granted, nor does who asks how two things differ
# say which is which. `A不A` is an alternative, too.
_PROPOSES: Final = re.compile(
    r"""
      (?: ^ | [.,;:!?\n] ) \s* (?: is | are | was | were | am | do | does | did | has | have | had
        | can | could | will | would | shall | should | may | might | must ) (?: n['’]t )? \b
    | (?: ca | wo ) n['’]t \b
    | \b (?: or | whether | differ (?: s | ed | ent | ently | ences? )? | compar (?: es? | ed | ing
        | isons? ) | versus | vs ) \b
    | 吗 | 是否 | 能否 | 可否 | 有无 | 还是 | 或 | ([\u3400-\u9fff]) [不没] \1
    | 区别 | 差别 | 差异 | 不同 | 相比 | 比较 | 对比
    """,
    re.VERBOSE | re.IGNORECASE,
)


class Given(NamedTuple):
    """What a question takes for granted."""

    words: frozenset[str]
    """Keys of alphabetic words and numbers."""
    pairs: frozenset[tuple[str, str]]
    """Keys of what stands side by side: one character of Chinese is no word."""
    denies: bool
    """Whether it asks what is not so."""
    denied: frozenset[tuple[str, str]]
    """Keys of what it denies, and of the Chinese character that goes on from it, else none."""


def take(query: str) -> Given | None:
    """What a question takes for granted; None where it proposes, or is none of its own."""
    query = query.strip()
    if not query or len(query) > _LONGEST or _PROPOSES.search(query):
        return None
    tokens = _tokens(query)
    denying = negations(query, tokens)
    return Given(
        frozenset(token.key for token in tokens if not CJK_CHAR.match(token.key)),
        frozenset((one.key, two.key) for one, two in touching(tokens)),
        bool(denying),
        frozenset(_whole(tokens, at) for at in denied(tokens, denying)),
    )


def _whole(tokens: Sequence[Token], at: int) -> tuple[str, str]:
    """A word; of Chinese its first two characters."""
    one = tokens[at]
    two = tokens[at + 1] if at + 1 < len(tokens) else one
    whole = CJK_CHAR.match(one.key) and CJK_CHAR.match(two.key) and one.end == two.start
    return one.key, two.key if whole else ""


def turns(text: str, given: Given) -> bool:
    """Whether a clause says of the question's own words that it is not so, or the other way round.

    "It was not founded in 1990" is no 1990 to who asks when it was founded.
    """
    tokens = _tokens(text)
    without = denied(tokens, negations(text, tokens))
    if given.denies:
        return any(
            at not in without and _whole(tokens, at) in given.denied for at in range(len(tokens))
        )
    return any(tokens[at].key in given.words or _whole(tokens, at) in given.pairs for at in without)


def _tokens(text: str) -> list[Token]:
    found = words(text)
    return sequence(found, figures(text, found))


def keys(text: str) -> frozenset[str]:
    """Keys of its words and numbers."""
    return frozenset(token.key for token in _tokens(text))


def touching(tokens: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    """Those side by side, with nothing between."""
    return ((one, two) for one, two in pairwise(tokens) if one.end == two.start)


def said(text: str, given: Given) -> list[tuple[int, int]]:
    """Spans of a sentence that its question says, ascending; none where nothing else is left."""
    tokens = _tokens(text)
    denying = negations(text, tokens)
    if bool(denying) != given.denies:
        return []
    both = [pair for pair in touching(tokens) if (pair[0].key, pair[1].key) in given.pairs]
    told = {token for pair in both for token in pair}
    told.update(token for token in tokens if token.key in given.words)
    told.update(tokens[at] for at in denying)
    rest = [token for token in tokens if token not in told]
    light = {place for span in grammar(text) for place in range(*span)}
    new = [token for token in rest if _tells(token, light)]
    if not new or not told:
        return []
    # Beside a word, even one of grammar, a number alone finds no window: it is to stand bare.
    kept = set(new if all(token.value for token in new) else rest)
    return [(token.start, token.end) for token in tokens if token not in kept]


def parted(text: str, given: Given) -> tuple[list[Token], list[Token]]:
    """The telling words and numbers of a sentence: those that its question says, and the others."""
    known = Spans(said(text, given))
    light = {place for span in grammar(text) for place in range(*span)}
    telling = [token for token in _tokens(text) if _tells(token, light)]
    told = [token for token in telling if known.meets(token.start, token.end)]
    return told, [token for token in telling if not known.meets(token.start, token.end)]


def _tells(token: Token, light: set[int]) -> bool:
    return token.value is not None or (token.start not in light and weight(token.key) > CONTENT)
