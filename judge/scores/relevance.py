"""How far an answer answers its question, and how far those of a run do."""

from collections import Counter
from collections.abc import Sequence
from typing import Final, Self

from judge.records import (
    AnswerRelevance,
    Flag,
    FlagName,
    RelevanceStatus,
    RelevanceTotals,
    Sample,
    SampleResult,
    SentenceResult,
    Status,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.scores.answer import Counts, Limits, share
from judge.scores.tally import Tally, is_untrusted

_NAMES: Final = ("relevance_overall", "relevance")
_SILENT: Final = frozenset({RelevanceStatus.ABSTAINED, RelevanceStatus.EMPTY})
"""What answers nothing, and of which nobody is asked."""


def unasked(sample: Sample, result: SampleResult) -> RelevanceStatus | None:
    """Why nobody is asked whether an answer answers its question; None where somebody is."""
    if not any(map(str.isalnum, sample.query)):
        return RelevanceStatus.NO_QUERY
    if result.status is Status.ABSTAINED:
        return RelevanceStatus.ABSTAINED
    return None if sample.answer.strip() else RelevanceStatus.EMPTY


def answer_relevance(
    parts: Sequence[SentenceResult] = (),
    *,
    status: RelevanceStatus | None = None,
    failure: Unscored | None = None,
    flags: Sequence[Flag] = (),
    signature: str,
) -> AnswerRelevance:
    """Answer relevance: (full + ½ partial) / parts with a verdict, 0 to 1; None without any.

    The bounds count everything unscored 0, then 1; where the whole question is, they are 0 and 1.
    Source: the answer relevance of TruLens' triad and the response relevancy of Ragas name what is
    asked; the three levels for parts are those of TREC RAG's nuggets (Pradeep et al. 2024).

    Args:
        parts: the parts of the question, each with what became of it.
        status: why nobody was asked; None where somebody was.
        failure: why there are no parts, where there should be.
        flags: of the parts.
        signature: how the verdicts were made.
    """
    counts = Counts.of(parts)
    if failure is not None:
        counts.add(failure)
    judged = RelevanceStatus.SCORED if counts.judged else RelevanceStatus.UNSCORED
    return AnswerRelevance(
        status=status or judged,
        score=counts.mean,
        bounds=counts.bounds,
        parts=tuple(parts),
        failure=failure,
        flags=tuple(flags),
        signature=signature,
    )


def is_beside(found: AnswerRelevance | None) -> bool:
    """Whether an answer answers no part of its question, by a verdict on each."""
    if found is None or not found.parts:
        return False
    outcomes = [part.outcome for part in found.parts]
    return all(isinstance(o, Verdict) and o.support is Support.NONE for o in outcomes)


def of_question(
    found: AnswerRelevance, *, answerable: bool | None
) -> tuple[dict[str, float | None], dict[str, Limits | None]]:
    """What an answer brings to the means, and its bounds.

    Who is silent brings 0 to the overall one, and nothing where gold says that there is no answer.
    """
    if found.status not in _SILENT:
        return dict.fromkeys(_NAMES, found.score), dict.fromkeys(_NAMES, found.bounds)
    if answerable is False:
        return {}, {}
    return {"relevance_overall": 0.0}, {"relevance_overall": (0.0, 0.0)}


class QuestionTotals:
    """How far the answers of a run answer their questions."""

    def __init__(self) -> None:
        self._tally = Tally(_NAMES, _NAMES)
        self._parts = Counts()
        self._silent = self._failed = self._unasked = 0

    def add(self, found: AnswerRelevance | None, *, answerable: bool | None) -> None:
        """Take in one answer; who abstains where gold says that there is no answer is left out."""
        if found is None:
            return
        counted = self._tally.counted
        counted["signatures"][found.signature] += 1
        counted["statuses"][found.status] += 1
        counted["flags"].update(flag.name for flag in found.flags)
        counted["unscored"].update(failure.reason for failure in found.failures)
        self._failed += bool(found.failures)
        reasons = {failure.reason for failure in found.failures}
        self._unasked += reasons == {UnscoredReason.BUDGET}
        self._parts.merge(Counts.of(found.parts))
        values, limits = of_question(found, answerable=answerable)
        self._silent += found.status in _SILENT and bool(values)
        self._tally.add(values, limits)

    def merge(self, other: Self) -> None:
        """Take in what another has taken in, of other answers."""
        self._tally.merge(other._tally)
        self._parts.merge(other._parts)
        self._silent += other._silent
        self._failed += other._failed
        self._unasked += other._unasked

    def totals(self, max_unscored: float, *, limited: bool) -> RelevanceTotals | None:
        """The totals of what was added so far; None where nobody asked for them."""
        counted, parts = self._tally.counted, self._parts
        statuses = counted["statuses"]
        if not statuses:
            return None
        overall = Counts(own=Counter({Support.NONE: self._silent}))
        overall.merge(parts)
        asked = statuses[RelevanceStatus.SCORED] + statuses[RelevanceStatus.UNSCORED]
        unasked = self._unasked if limited else 0
        pools = dict(zip(_NAMES, (overall, parts), strict=True))
        return RelevanceTotals(
            signatures=dict(counted["signatures"]),
            statuses={status: statuses[status] for status in RelevanceStatus},
            parts=parts.judged,
            supports={
                label: parts.own[label] for label in (Support.FULL, Support.PARTIAL, Support.NONE)
            },
            flags={name: counted["flags"][name] for name in FlagName},
            asked=asked,
            unscored=dict(counted["unscored"]),
            unscored_share=share(self._failed, asked),
            untrusted=is_untrusted(self._failed - unasked, asked - unasked, max_unscored),
            **self._tally.bounds(),
            **self._tally.scores({name: (pool.mean, pool.judged) for name, pool in pools.items()}),
        )
