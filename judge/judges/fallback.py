"""Judges of what another one leaves open: by a second judge, or as undecided."""

from functools import lru_cache
from typing import Final

from judge.judges import join
from judge.protocols import Judge
from judge.records import (
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.signature import Signature

LEAST_DOUBT: Final = 0.5
"""A sentence that is more likely unsupported than supported is `none`."""
# The model itself refused, and the user set the budget.
_FINAL: Final = frozenset({UnscoredReason.REFUSED, UnscoredReason.BUDGET})


@lru_cache
def _backed(first: str, second: str) -> str:
    fallback = Signature.parse(second)
    return str(Signature.parse(first).having(f"fallback:{fallback.maker}", *fallback.parts))


class FallbackJudge:
    """Returns the first judge's verdict on each sentence, or else the second's.

    A verdict of the second judge has the failure of the first in `fallback_from`. `refused` and
    `budget` do not fall back. If the second judge fails too, the outcome is the first failure.
    """

    def __init__(self, first: Judge, second: Judge) -> None:
        self._first = first
        self._second = second

    @property
    def signature(self) -> str:
        """The first judge's signature, and the second's behind `fallback:`."""
        return _backed(self._first.signature, self._second.signature)

    async def judge(self, request: JudgeRequest) -> Judgment:
        """Return one outcome per asked sentence; only failures are passed to the second judge."""
        first = await self._first.judge(request)
        failed = {
            index: outcome
            for index, outcome in first.outcomes.items()
            if isinstance(outcome, Unscored) and outcome.reason not in _FINAL
        }
        if not failed:
            return first
        again = request.model_copy(update={"ask": tuple(sorted(failed))})
        second = await self._second.judge(again)
        outcomes = dict(first.outcomes)
        for index, failure in failed.items():
            if isinstance(verdict := second.outcomes.get(index), Verdict):
                outcomes[index] = verdict.model_copy(update={"fallback_from": failure})
        return join((first, second), outcomes, (*first.flags, *second.flags))


class UndecidedJudge:
    """Gives the verdicts of a similarity judge, and leaves open those it cannot tell.

    A `none` whose P(supported) is ½ or more becomes `Unscored(undecided)`, which keeps the reason
    and the probability. All other outcomes stay.
    """

    def __init__(self, inner: Judge) -> None:
        self._inner = inner

    @property
    def signature(self) -> str:
        """The inner judge's signature, and the probability from which a sentence is undecided."""
        return str(Signature.parse(self._inner.signature).having(f"undecided:{LEAST_DOUBT:g}"))

    async def judge(self, request: JudgeRequest) -> Judgment:
        """Return one outcome per asked sentence."""
        judgment, signature = await self._inner.judge(request), self.signature
        outcomes = {
            index: _decide(outcome, signature) for index, outcome in judgment.outcomes.items()
        }
        return judgment.model_copy(update={"outcomes": outcomes})


def _decide(outcome: JudgeOutcome, signature: str) -> JudgeOutcome:
    if not isinstance(outcome, Verdict):
        return outcome
    if outcome.support is Support.NONE and (outcome.score or 0) >= LEAST_DOUBT:
        return Unscored(reason=UnscoredReason.UNDECIDED, detail=outcome.reason, score=outcome.score)
    return outcome.model_copy(update={"signature": signature})
