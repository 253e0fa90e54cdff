"""The judge that is not asked about what the question already says: for bare references."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from judge.protocols import Judge
from judge.records import JudgeRequest, Judgment
from judge.text.denials import negations
from judge.text.fold import CJK_CHAR
from judge.text.sequence import Token, sequence
from judge.text.terms import CONTENT
from judge.text.values import figures
from judge.text.words import grammar, weight, words

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


class _Given(NamedTuple):
    """What a question takes for granted."""

    words: frozenset[str]
    """Keys of alphabetic words and numbers."""
    pairs: frozenset[tuple[str, str]]
    """Keys of what stands side by side: one character of Chinese is no word."""
    denies: bool
    """Whether it asks what is not so."""


class QuestionedJudge:
    """Takes as said what the question says, and has another judge judge the rest of a sentence.

    "The capital of France is Lyon." does not follow from "Paris", nor does "… is Paris.", for a
    judge that sees texts only. Asked for the capital of France, all that either says is the name.
    So the words of the question are marked as no part of the claim, as citation markers are. Shown
    to the judge as evidence instead, they would speak for the wrong answer as for the right one.

    A question that can be answered by yes or no, that offers a choice or asks for a comparison
    gives nothing, nor does a query of more than 400 characters: the request goes through
    unchanged. So does a sentence that says nothing new, and one that denies where the question
    does not, or the other way round: it is at odds with what the question says. Of a sentence that
    adds only numbers, these are judged alone.

    It is for judges that read `markers` and not the question: similarity, inference.

    Args:
        inner: judges what is new.
    """

    def __init__(self, inner: Judge) -> None:
        self._inner = inner

    @property
    def signature(self) -> str:
        """The inner judge's, and that words of the question are given."""
        return f"{self._inner.signature}|question:given"

    async def judge(self, request: JudgeRequest) -> Judgment:
        """The inner judge's judgment of what is new in each sentence.

        Raises:
            JudgeUnavailable: from the inner judge.
        """
        given = _given(request.query)
        if given is None:
            return await self._inner.judge(request)
        said = [
            (sentence.start + start, sentence.start + end)
            for sentence in request.sentences
            for start, end in _said(sentence.text, given)
        ]
        markers = tuple(_apart([*request.markers, *said]))
        return await self._inner.judge(request.model_copy(update={"markers": markers}))


def _given(query: str) -> _Given | None:
    query = query.strip()
    if not query or len(query) > _LONGEST or _PROPOSES.search(query):
        return None
    tokens = _tokens(query)
    return _Given(
        frozenset(token.key for token in tokens if not CJK_CHAR.match(token.key)),
        frozenset((one.key, two.key) for one, two in _touching(tokens)),
        bool(negations(query, tokens)),
    )


def _tokens(text: str) -> list[Token]:
    found = words(text)
    return sequence(found, figures(text, found))


def _touching(tokens: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    return ((one, two) for one, two in pairwise(tokens) if one.end == two.start)


def _said(text: str, given: _Given) -> list[tuple[int, int]]:
    """Spans of a sentence that its question says, ascending; none where nothing else is left."""
    tokens = _tokens(text)
    denying = negations(text, tokens)
    if bool(denying) != given.denies:
        return []
    both = [pair for pair in _touching(tokens) if (pair[0].key, pair[1].key) in given.pairs]
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


def _tells(token: Token, light: set[int]) -> bool:
    return token.value is not None or (token.start not in light and weight(token.key) > CONTENT)


def _apart(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The spans in order, those that overlap as one."""
    held: tuple[int, int] | None = None
    for start, end in sorted(spans):
        if held is not None and start < held[1]:
            held = held[0], max(held[1], end)
            continue
        if held is not None:
            yield held
        held = start, end
    if held is not None:
        yield held
