"""A judge for short references: containment, and yes or no, decide."""

import re
from functools import cached_property
from typing import Final

from judge.checks.mismatch import Mismatch, mismatches, position
from judge.judges import overruled, reason
from judge.pool import apart, weigh
from judge.protocols import Judge
from judge.records import Evidence, JudgeRequest, Judgment, Support, Verdict
from judge.signature import Signature
from judge.text.fold import CJK_CHAR, fold
from judge.text.words import CONTENT, grammar, negation, stems, weight, words

_LONGEST: Final = 400
"""The most characters of a short answer."""
_SHORT: Final = 4
"""The most characters of a Chinese word or name."""
_REACH: Final = 3
"""The number of words behind a negation that it denies."""
_CLAUSE: Final = re.compile(r"[,，;；:：.。!?！？\n]")
_ENDS: Final = re.compile(r"\A(?:\W*(?:an?|the)\b)?(?:(?!-\d)\W)*|\W*\Z")
"""An article at the beginning of a text, and punctuation at both ends but a minus."""
_FIGURE: Final = re.compile(r"(?:(?<![\w)\]])-)?\d+(?:[.,:/']\d+)*")
_GROUPING: Final = str.maketrans("", "", ",'")
_NAME: Final = re.compile(r"[A-Z][a-z]{2,}")
# "No dogs are allowed" has a subject there, and no answer.
_ALONE: Final = r"""(?= \s* (?: [^\w\s] | $ )
    | \s+ (?: it | they | you | he | she | we | i | there | this | that ) \b )"""
_ASSENT: Final = re.compile(
    rf"""
      \W* (?: (?P<yes> (?: yes | yeah | yep ) \b | (?: correct | true ) {_ALONE}
        | (?: 是 | 对 | 正确 | 没错 | 可以 | 能 | 会 | 有 | 需要 | 允许 ) 的? (?= \W | $ ) )
      | (?: no | nope | incorrect | false ) {_ALONE}
      | (?: 否 | 不 (?: 是 | 对 | 正确 | 可以 | 能 | 会 | 需要 | 允许 )? | 错误? | 没有? ) 的?
        (?= \W | $ ) )
    """,
    re.VERBOSE | re.IGNORECASE,
)


class _Text:
    """A sentence, a chunk or the question, parsed when needed."""

    def __init__(self, text: str, name: str = "") -> None:
        self.text = text
        self.name = name
        self.folded = fold(text)
        self.assent = _ASSENT.match(text)
        """The yes or no at the beginning, if any."""
        self.agrees = bool(self.assent and self.assent["yes"])
        self.assents_only = bool(self.assent and not re.search(r"\w", text[self.assent.end() :]))

    @cached_property
    def figures(self) -> dict[str, str]:
        """The figures as written, by their digits."""
        return {each.translate(_GROUPING): each for each in _FIGURE.findall(self.folded.text)}

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(stems(self.text))

    def find(self, short: "_Text") -> tuple[int, int] | None:
        """Return where this text contains another one word for word."""
        core = _ENDS.sub("", short.folded.text)
        if not core or len(core) > _LONGEST:
            return None
        core = self.figures.get(core.translate(_GROUPING), core)
        at = position(core, self.folded.text)
        return self.folded.span(at, at + len(core)) if at >= 0 else None

    def denies(self, start: int) -> bool:
        """Return whether a negation is one of the few words before an offset in its clause."""
        before = _CLAUSE.split(self.text[max(start - _LONGEST, 0) : start])[-1]
        return not negation().isdisjoint(stems(before)[-_REACH:])


class _Reference:
    """The question, and the texts that sentences are compared with."""

    def __init__(self, request: JudgeRequest) -> None:
        self.question = _Text(request.query)
        self.texts = [_Text(chunk.text, chunk.chunk_id) for chunk in request.chunks]
        self.figures = {key for text in (self.question, *self.texts) for key in text.figures}
        self.stems = frozenset[str]().union(*(text.stems for text in self.texts))


class ContainmentJudge:
    """Judges an answer against a short reference by containment, and the rest by `inner`.

    What `inner` could not judge stays unscored. Else, in this order:

    1. Where both texts begin with yes or no, and these differ, the first sentence is
       `contradicted`. Where they agree and one says no more than that, it is `full`.
    2. Where the sentence contains the other text word for word, or the other text contains it, it
       is `full`; or `none` if the words before it deny it. Case, width, an article and punctuation
       at the ends do not count.
    3. Otherwise the inner judge decides. Its `full` becomes `none` where the other text lacks a
       figure, date, unit or name of the sentence, or has not half of the words that it adds to the
       question: "The capital of France is Lyon" is not "The capital of France is Paris". It becomes
       `contradicted` where the other text says otherwise.
    """

    def __init__(self, inner: Judge) -> None:
        self._inner = inner

    @property
    def signature(self) -> str:
        """The inner judge's signature with the version of this comparison."""
        return str(Signature.parse(self._inner.signature).having("short:contained-v7"))

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
    assents = first and claim.assent
    for text in reference.texts:
        if assents and text.assent:
            if claim.agrees != text.agrees:
                opposite = reason("answer.opposite", claim.text)
                return _refused(verdict, opposite, Support.CONTRADICTED)
            if claim.assents_only or text.assents_only:
                return _granted(verdict, text, (0, text.assent.end()))
        if text.assents_only or (first and claim.assents_only):  # many texts contain a plain yes
            continue
        whole = (0, len(text.text))
        if claim.text.strip() == text.text.strip():
            return _granted(verdict, text, whole)
        for holder, span in ((text, text.find(claim)), (claim, claim.find(text))):
            if span and holder.denies(span[0]):
                return _refused(verdict, reason("answer.denied", claim.text))
            if span:
                return _granted(verdict, text, span if holder is text else whole)
    return None


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
    """Return the numbers that the texts replace by others, or else the words that they lack."""
    figures = [written for key, written in claim.figures.items() if key not in reference.figures]
    if figures and not reference.figures <= claim.figures.keys():
        return "; ".join(figures)
    # The texts may contain single characters of a Chinese word that they lack.
    bare = _ENDS.sub("", claim.folded.text)
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
