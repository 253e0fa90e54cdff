"""A judge for short references: containment, and yes or no, decide."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate, islice
from typing import Final, NamedTuple

from judge.checks.mismatch import Mismatch, mismatches
from judge.judges import overruled, reason
from judge.pool import apart, weigh
from judge.protocols import Judge
from judge.records import Evidence, JudgeRequest, Judgment, Support, Verdict
from judge.signature import Signature
from judge.text.fold import CJK, CJK_CHAR
from judge.text.words import CONTENT, grammar, negation, no_negations, stems, weight, words

_TOKEN: Final = re.compile(
    rf"""
      (?P<figure> (?: (?<![\w)\]]) [-−] )? \d+ (?: [.,:/] \d+ )* )
    | [零〇一二三四五六七八九十百千万亿两]+
    | [{CJK}]
    | [^\W\d_{CJK}] (?: [^\W_{CJK}] | ['’] (?= \w ) )*
    """,
    re.VERBOSE,
)
_REACH: Final = 3
"""The number of words behind a negation that it denies."""
_LONGEST: Final = 400
"""The most characters of a short answer."""
_HITS: Final = 20
"""The most occurrences of a text that are searched for one that is not denied."""
_SHORT: Final = 4
"""The most characters of a Chinese word or name."""
_NAME: Final = re.compile(r"[A-Z][a-z]{2,}")
_ARTICLES: Final = frozenset({"a", "an", "the"})
_CLAUSE: Final = re.compile(r"[,，;；:：.。!?！？\n]")
# "No dogs are allowed" has a subject there, and no answer.
_ALONE: Final = r"""(?= \s* (?: [^\w\s] | $ )
    | \s+ (?: it | they | you | he | she | we | i | there | this | that ) \b )"""
_YES: Final = re.compile(
    rf"""
      \W* (?: (?: yes | yeah | yep ) \b | (?: correct | true ) {_ALONE}
    | (?: 是 | 对 | 正确 | 没错 | 可以 | 能 | 会 | 有 | 需要 | 允许 ) 的? (?= \W | $ ) )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NO: Final = re.compile(
    rf"""
      \W* (?: (?: no | nope | incorrect | false ) {_ALONE}
    | (?: 否 | 不 | 不是 | 不对 | 不正确 | 错 | 错误 | 不可以 | 不能 | 不会 | 没有 | 没 | 不需要
        | 不允许 ) 的? (?= \W | $ ) )
    """,
    re.VERBOSE | re.IGNORECASE,
)


class _Token(NamedTuple):
    key: str
    """The text without case and width; a number without its commas."""
    start: int
    end: int
    figure: bool


class _Assent(NamedTuple):
    yes: bool
    end: int
    """The offset after the word for yes or no."""
    alone: bool
    """Whether the text says nothing else."""


class _Text:
    """A sentence or a chunk, parsed when needed."""

    def __init__(self, text: str, name: str = "") -> None:
        self.text = text
        self.name = name

    @cached_property
    def tokens(self) -> list[_Token]:
        """Words, figures and CJK characters; articles only where there is nothing else."""
        tokens = []
        for match in _TOKEN.finditer(self.text):
            key = unicodedata.normalize("NFKC", match[0]).casefold().replace("’", "'")
            figure = match["figure"] is not None
            key = key.replace(",", "").replace("−", "-") if figure else key
            tokens.append(_Token(key, *match.span(), figure))
        return [token for token in tokens if token.key not in _ARTICLES] or tokens

    @cached_property
    def lines(self) -> str:
        """The keys of the tokens, each on a line, with a line break before the first."""
        return "".join(["\n", *(f"{token.key}\n" for token in self.tokens)])

    @cached_property
    def offsets(self) -> list[int]:
        """The offsets in `lines` of the break before each token, ascending."""
        return list(accumulate((len(token.key) + 1 for token in self.tokens), initial=0))

    @cached_property
    def figures(self) -> dict[str, str]:
        """The figures as written, by key."""
        return {t.key: self.text[t.start : t.end] for t in self.tokens if t.figure}

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(stems(self.text))

    @cached_property
    def assent(self) -> _Assent | None:
        """The yes or no at the beginning of the text, if any."""
        yes = _YES.match(self.text)
        found = yes or _NO.match(self.text)
        if not found:
            return None
        return _Assent(yes is not None, found.end(), not re.search(r"\w", self.text[found.end() :]))

    def find(self, short: "_Text") -> Iterator[tuple[int, int]]:
        """Yield the spans that have all tokens of another text in a row."""
        many = len(short.tokens) if len(short.text) <= _LONGEST else 0
        at = self.lines.find(short.lines) if many else -1
        while at >= 0:
            first = bisect_left(self.offsets, at)
            yield self.tokens[first].start, self.tokens[first + many - 1].end
            at = self.lines.find(short.lines, at + 1)

    def denies(self, start: int) -> bool:
        """Return whether a negation is one of the few words before an offset in its clause."""
        before = _CLAUSE.split(self.text[max(start - _LONGEST, 0) : start])[-1]
        found = words(before)
        mere = {at for part in no_negations(before) for at in range(*part)}
        near = zip(found.stems[-_REACH:], found.starts[-_REACH:], strict=True)
        return any(stem in negation() and at not in mere for stem, at in near)


class _Reference:
    """The question, and the texts that sentences are compared with."""

    def __init__(self, request: JudgeRequest) -> None:
        self.question = _Text(request.query)
        self.texts = [_Text(chunk.text, chunk.chunk_id) for chunk in request.chunks]

    @cached_property
    def figures(self) -> frozenset[str]:
        """Keys of the figures, of the question too."""
        return frozenset(key for text in (self.question, *self.texts) for key in text.figures)

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset[str]().union(*(text.stems for text in self.texts))


class ContainmentJudge:
    """Judges an answer against a short reference by containment, and the rest by `inner`.

    An answer to a question is often a name or a figure, and a judge of similarity sees too little
    in so few words. What `inner` could not judge stays unscored. Else, in this order:

    1. Where both texts begin with yes or no, and these differ, the first sentence is
       `contradicted`. Where they agree and one says no more than that, it is `full`.
    2. Where one text contains the other word for word, but for case, width, punctuation and
       articles, a sentence is `full`: a sentence of the reference that the answer contains, and a
       sentence of the answer that contains the reference.
    3. Otherwise the inner judge decides, as in faithfulness.
    4. A `full` becomes `none` where the other text lacks a figure, date, unit or name of the
       sentence, or has not half of the words that it adds to the question: "The capital of France
       is Lyon" is not "The capital of France is Paris". It becomes `contradicted` where the other
       text says otherwise.

    That compares short answers well. Long ones in other words want a language model.
    """

    def __init__(self, inner: Judge) -> None:
        self._inner = inner

    @property
    def signature(self) -> str:
        """The inner judge's signature with the version of this comparison."""
        return str(Signature.parse(self._inner.signature).having("short:contained-v5"))

    async def judge(self, request: JudgeRequest) -> Judgment:
        """Return one outcome per asked sentence."""
        judgment = await self._inner.judge(request)
        return await apart(weigh(request), _compared, request, judgment)


def _compared(request: JudgeRequest, judgment: Judgment) -> Judgment:
    """Return the outcomes of the inner judge, overruled by yes, no and containment."""
    reference = _Reference(request)
    against = mismatches(request, judgment.outcomes)
    outcomes = dict(judgment.outcomes)
    for index, outcome in judgment.outcomes.items():
        if isinstance(outcome, Verdict):
            claim, first = _Text(request.claim(index)), index == request.ask[0]
            outcomes[index] = _contained(claim, reference, outcome, first=first) or _checked(
                claim, reference, outcome, against.get(index)
            )
    return judgment.model_copy(update={"outcomes": outcomes})


def _contained(
    claim: _Text, reference: _Reference, verdict: Verdict, *, first: bool
) -> Verdict | None:
    """Return the verdict of yes, no or containment on a claim; None if they do not apply."""
    own, denied = claim.assent if first else None, False
    for text in reference.texts:
        whole, other = (0, len(text.text)), text.assent
        if own and other and own.yes != other.yes:
            return _refused(verdict, reason("answer.opposite", claim.text), Support.CONTRADICTED)
        if own and other and (own.alone or other.alone):
            return _granted(verdict, text, (0, other.end))
        if (own and own.alone) or (other and other.alone):  # many texts contain a plain yes
            continue
        if claim.text.strip() == text.text.strip():
            return _granted(verdict, text, whole)
        for holder, spans in ((text, text.find(claim)), (claim, claim.find(text))):
            for span in islice(spans, _HITS):
                if not holder.denies(span[0]):
                    return _granted(verdict, text, span if holder is text else whole)
                denied = True
    return _refused(verdict, reason("answer.denied", claim.text)) if denied else None


def _checked(
    claim: _Text, reference: _Reference, verdict: Verdict, against: Mismatch | None
) -> Verdict:
    """Return the verdict, with a `full` lowered to `none` or `contradicted` by a mismatch."""
    if verdict.support is not Support.FULL:
        return verdict
    if against:
        return overruled(verdict, claim.text, against)
    lacking = _lacking(claim, reference)
    return _refused(verdict, lacking) if lacking else verdict


def _lacking(claim: _Text, reference: _Reference) -> str:
    """Return the numbers that the texts replace by others, or else the words that they lack.

    Small numbers, too: two answers to one question each give the number that was asked for.
    """
    figures = [written for key, written in claim.figures.items() if key not in reference.figures]
    if figures and any(key not in claim.figures for key in reference.figures):
        return "; ".join(figures)
    # The texts may contain single characters of a Chinese word that they lack.
    bare = "".join(token.key for token in claim.tokens)
    if len(bare) <= _SHORT and all(map(CJK_CHAR.match, bare)):
        return bare
    light = {place for span in grammar(claim.text) for place in range(*span)}
    new = [
        (stem, claim.text[start:end])
        for stem, start, end in zip(*words(claim.text), strict=True)
        if stem not in reference.question.stems and start not in light and weight(stem) > CONTENT
    ]
    lacking = [word for stem, word in new if stem not in reference.stems]
    names = [word for word in lacking if _NAME.fullmatch(word) and not claim.text.startswith(word)]
    return " ".join(names or (lacking if len(lacking) > len(new) / 2 else ()))


def _granted(verdict: Verdict, text: _Text, span: tuple[int, int]) -> Verdict:
    start, end = span
    quote = Evidence(chunk_id=text.name, quote=text.text[start:end], start=start, end=end)
    full = {"support": Support.FULL, "supporting": (text.name,), "evidence": (quote,)}
    return verdict.model_copy(update={**full, "reason": "", "score": None})


def _refused(verdict: Verdict, why: str, support: Support = Support.NONE) -> Verdict:
    return verdict.model_copy(update={"support": support, "supporting": (), "reason": why})
