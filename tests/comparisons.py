"""Answers and their references, compared by hand: a letter a sentence."""

from typing import Final

from judge.records import (
    Call,
    Citation,
    CitationStatus,
    Correctness,
    Flag,
    FlagName,
    JudgeOutcome,
    Judgment,
    Quadrant,
    Sample,
    SampleResult,
    Sentence,
    SentenceKind,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.scores.answer import aggregate
from judge.scores.correctness import correctness

_STATUS: Final = {"v": "valid", "u": "unsupported", "d": "dangling", "?": "unjudged"}
TIMEOUT: Final = Unscored(reason=UnscoredReason.TIMEOUT)
_LABELS: Final = {
    "f": Support.FULL,
    "p": Support.PARTIAL,
    "n": Support.NONE,
    "c": Support.CONTRADICTED,
    "-": Support.NO_CLAIM,
}
MARKS: Final = "fpnc-?yNah"
"""Full, partial, none, contradicted, no claim (-), timed out (?), by the fallback full (y) or none
(N); abstention (a), heading (h)."""


def outcome(mark: str, *, cited: bool = False) -> JudgeOutcome:
    """Return the outcome of a mark; with `cited`, its label holds for the cited chunks too."""
    if mark == "?":
        return TIMEOUT
    if mark in "yN":
        support = Support.FULL if mark == "y" else Support.NONE
        stands_in: JudgeOutcome = Verdict(
            support=support, source="similarity", signature="s", fallback_from=TIMEOUT
        )
        return stands_in
    support = _LABELS[mark]
    by_cited = support if cited else None
    return Verdict(support=support, cited_support=by_cited, source="llm", signature="s")


def sentences(marks: str) -> list[Sentence]:
    """Return a sentence for each mark, of one character."""
    kinds = {"a": SentenceKind.ABSTENTION, "h": SentenceKind.HEADING}
    return [
        Sentence(
            index=i,
            start=i,
            end=i + 1,
            text="x",
            kind=kinds.get(mark, SentenceKind.CLAIM),
        )
        for i, mark in enumerate(marks)
    ]


def outcomes(marks: str, *, cited: bool = False) -> dict[int, JudgeOutcome]:
    """By index, those of the claims."""
    return {i: outcome(mark, cited=cited) for i, mark in enumerate(marks) if mark not in "ah"}


def comparison(answer: str, reference: str, signature: str = "c") -> Correctness:
    """Return the comparison of an answer with a reference, both given as marks."""
    return correctness(
        sentences(answer),
        sentences(reference),
        Judgment(outcomes=outcomes(answer)),
        Judgment(outcomes=outcomes(reference)),
        signature=signature,
    )


def compared(qid: str, answer: str, reference: str) -> SampleResult:
    """A result whose claims its chunks support in full, with that comparison."""
    claims = sentences(answer)
    full = {i: outcome("f") for i in outcomes(answer)}
    result = aggregate(Sample(qid=qid), claims, full, [], signature="s")
    return result.model_copy(update={"correctness": comparison(answer, reference)})


def answer(
    marks: str,
    citations: str = "",
    *,
    reference: str | None = None,
    gold: Quadrant | Flag | None = None,
    cached: bool = False,
    seconds: float = 0.5,
) -> SampleResult:
    """Return an answer with sentences of these marks, whose cited chunks support them alike.

    Args:
        marks: its sentences.
        citations: of each its citations, apart by blanks: valid, unsupported, dangling, unjudged
            (?), or not audited (x).
        reference: the marks of its reference, if it was compared with one.
        gold: its quadrant, or a flag.
        cached: whether its call was answered from the cache.
        seconds: the time of its call.
    """
    found = [
        Citation(
            sentence=i,
            marker="[1]",
            start=0,
            end=3,
            chunk_id=None if status == "d" else "1",
            status=CitationStatus(_STATUS[status]) if status in _STATUS else None,
        )
        for i, statuses in enumerate(citations.split(" "))
        for status in statuses
    ]
    call = Call(model="m-1", prompt_tokens=100, reply_tokens=10, seconds=seconds, cached=cached)
    flags = [Flag(name=FlagName.UNVERIFIED_QUOTE, sentence=0)] if marks[:1] == "f" else []
    result = aggregate(
        Sample(qid="q"),
        sentences(marks),
        outcomes(marks, cited=bool(citations)),
        found,
        flags=[*flags, gold] if isinstance(gold, Flag) else flags,
        calls=[call],
        signature="s",
    )
    more = {
        "correctness": None if reference is None else comparison(marks, reference),
        "cell": gold if isinstance(gold, Quadrant) else None,
    }
    return result.model_copy(update=more)
