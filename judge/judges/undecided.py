"""The judge that leaves undecided what words alone cannot tell."""

from typing import Final

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
