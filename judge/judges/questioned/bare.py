"""What words alone tell of an answer as bare as a figure, a name, or a yes."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from judge.checks.assent import Assent, Proposal
from judge.checks.denials import clauses
from judge.checks.same import Held
from judge.checks.sequence import Token
from judge.judges.questioned.given import Given, keys, parted, touching, turns
from judge.records import Evidence, JudgeOutcome, JudgeRequest, Judgment, Support, Verdict
from judge.text.fold import CJK_CHAR
from judge.text.pieces import segments
from judge.text.words import blank_markup

_LONGEST: Final = 400
"""Characters of a sentence that is read again; a bare answer with its question is shorter."""


_SHORT: Final = 4
"""Characters of a Chinese word or name, at most."""


class _Assented(NamedTuple):
    """Where the other text answers, and what."""

    yes: bool
    bare: bool
    quote: Evidence


def reread(request: JudgeRequest, judgment: Judgment, given: Given) -> Judgment:
    """The judgment, less what rests on half a word, and with figures in whatever unit.

    Args:
        request: what the judge was asked, without the markers that hide what the question says.
        judgment: on what is new in each sentence.
        given: what the question says.
    """
    held = Held([chunk.text for chunk in request.chunks])
    outcomes = {
        index: _reread(request, held, judgment.outcomes[index], given, blank_markup(text))
        for index in judgment.outcomes
        if len(text := request.claim(index)) <= _LONGEST
    }
    return judgment.model_copy(update={"outcomes": {**judgment.outcomes, **outcomes}})


def _reread(
    request: JudgeRequest, held: Held, outcome: JudgeOutcome, given: Given, text: str
) -> JudgeOutcome:
    if not isinstance(outcome, Verdict):
        return outcome
    told, new = parted(text, given)
    if outcome.support is Support.NONE:
        found = held.look_up(text, told, new)
        if found is None:
            return outcome
        outcome = _granted(outcome, _quote(request, *found))
    if outcome.support is Support.FULL and _turned(outcome, text, new, given):
        chinese = CJK_CHAR.search(text) is not None
        reason = "一方否定，另一方肯定" if chinese else "one denies what the other says"
        return _refused(outcome, reason)
    if outcome.source == "similarity" and (
        not _worded(request, text, new) or _another(outcome, text, new, given)
    ):
        pairs = "、".join(text[a.start : b.end] for a, b in touching(new))
        return _refused(outcome, f"段落中没有：{_word(text, new) or pairs}")
    return outcome


def _refused(verdict: Verdict, reason: str) -> Verdict:
    none = {"support": Support.NONE, "supporting": (), "reason": reason}
    return verdict.model_copy(update=none)


def _turned(verdict: Verdict, text: str, new: Sequence[Token], given: Given) -> bool:
    """Whether every clause that has what is new denies what the question asks, or only the text."""
    wanted = {token.key for token in new}
    quotes = [each.quote for each in verdict.evidence]
    parts = [
        clause
        for quote in quotes
        for clause in clauses(quote)
        if not wanted.isdisjoint(keys(clause))
    ]
    own = turns(text, given)
    return bool(parts) and all(turns(part, given) != own for part in parts)


def _another(verdict: Verdict, text: str, new: Sequence[Token], given: Given) -> bool:
    """Whether the quote has another short word in the place of the text's: `林若梅`, `林若兰`."""
    own = _word(text, new)
    quotes = [each.quote for each in verdict.evidence if len(each.quote) <= _LONGEST]
    others = [_word(quote, parted(quote, given)[1]) for quote in quotes]
    return bool(own) and any(len(other) == len(own) and other != own for other in others)


def _word(text: str, new: Sequence[Token]) -> str:
    """What is new, if it is one Chinese word; else nothing."""
    whole = text[new[0].start : new[-1].end] if new else ""
    return whole if len(whole) <= _SHORT and all(map(CJK_CHAR.match, whole)) else ""


def _worded(request: JudgeRequest, text: str, new: Sequence[Token]) -> bool:
    """Whether a word of what is new in Chinese stands there: one character of it is none."""
    pairs = [text[one.start : two.end] for one, two in touching(new)]
    if not pairs or not all(CJK_CHAR.match(token.key) for token in new):
        return True
    return any(pair in chunk.text for pair in pairs for chunk in request.chunks)


def _quote(request: JudgeRequest, at: int, start: int, end: int) -> Evidence:
    chunk = request.chunks[at]
    return Evidence(chunk_id=chunk.chunk_id, quote=chunk.text[start:end], start=start, end=end)


def _granted(verdict: Verdict, quote: Evidence) -> Verdict:
    supporting = (quote.chunk_id,)
    full = {"support": Support.FULL, "supporting": supporting, "reason": "", "score": None}
    return verdict.model_copy(update={**full, "evidence": (quote,)})


def answered(request: JudgeRequest, judgment: Judgment, asked: Proposal) -> Judgment:
    """The judgment, with a bare yes or no held against the yes or no of the other text.

    A sentence that agrees with a bare answer and says more is `partial`.
    """
    theirs = _assented(request, asked)
    if theirs is None:
        return judgment
    outcomes = dict(judgment.outcomes)
    for index in judgment.outcomes:
        text = request.claim(index)
        own, outcome = asked.assent(blank_markup(text)), outcomes[index]
        if not isinstance(outcome, Verdict) or own is None or not (own.bare or theirs.bare):
            continue
        # What stands there word by word stands beside the bare yes or no.
        if own.bare or outcome.support is not Support.FULL:
            outcomes[index] = _weighed(outcome, own, theirs, text)
    return judgment.model_copy(update={"outcomes": outcomes})


def _assented(request: JudgeRequest, asked: Proposal) -> _Assented | None:
    """The first sentence of the chunks that answers."""
    for at, chunk in enumerate(request.chunks):
        for start, end in segments(chunk.text):
            found = asked.assent(blank_markup(chunk.text[start:end]))
            if found is not None:
                return _Assented(found.yes, found.bare, _quote(request, at, start, end))
    return None


def _weighed(verdict: Verdict, own: Assent, theirs: _Assented, text: str) -> Verdict:
    chinese = CJK_CHAR.search(text) is not None
    if own.yes != theirs.yes:
        reason = "是与否相反" if chinese else "one says yes, the other no"
        other = {"support": Support.CONTRADICTED, "supporting": (), "reason": reason}
        return verdict.model_copy(update={**other, "evidence": (theirs.quote,), "score": None})
    granted = _granted(verdict, theirs.quote)
    if own.bare:
        return granted
    reason = "只有是或否得到支持" if chinese else "only the yes or no is said there"
    return granted.model_copy(update={"support": Support.PARTIAL, "reason": reason})
