"""Support times doubt: which claims people should see more of."""

import math
from collections.abc import Collection, Mapping
from typing import Final

from judge.records import SUPPORT_WEIGHT, SUPPORTED, FlagName, Outcome, Support, Unscored, Verdict
from judge.review.records import StratumName
from judge.signature import Signature

SPREAD: Final[Mapping[StratumName, float]] = {
    StratumName.SUPPORTED: 0.2,
    StratumName.SUPPORTED_DOUBTFUL: 0.45,
    StratumName.PARTIAL: 0.35,
    StratumName.UNSUPPORTED_DOUBTFUL: 0.45,
    StratumName.UNSUPPORTED: 0.3,
    StratumName.UNSCORED: 0.45,
}
"""The standard deviation of a judge's error that is expected before anybody has looked: .2 is four
errors in a hundred, .45 three in ten. It steers how many are drawn, and biases nothing."""

NEVER_PARTIAL: Final = frozenset({"similarity", "nli"})
"""Sources of verdicts that know no `partial`: they are compared as full against the rest."""

NEAR: Final = 1.0
"""How near to the threshold is near, in log odds: .71 to .95 where it is .87."""
_EDGE: Final = 1e-9


def stratum_of(outcome: Verdict | Unscored, flags: Collection[FlagName]) -> StratumName:
    """Where a claim belongs."""
    if isinstance(outcome, Unscored) or outcome.fallback_from is not None:
        return StratumName.UNSCORED
    if outcome.support is Support.PARTIAL:
        return StratumName.PARTIAL
    doubtful = bool(flags) or outcome.support is Support.NO_CLAIM or _near(outcome)
    if outcome.support in SUPPORTED:
        return StratumName.SUPPORTED_DOUBTFUL if doubtful else StratumName.SUPPORTED
    return StratumName.UNSUPPORTED_DOUBTFUL if doubtful else StratumName.UNSUPPORTED


_DOUBT: Final = (
    StratumName.UNSCORED,
    StratumName.UNSUPPORTED_DOUBTFUL,
    StratumName.UNSUPPORTED,
    StratumName.PARTIAL,
    StratumName.SUPPORTED_DOUBTFUL,
    StratumName.SUPPORTED,
)


def stratum_of_answer(names: Collection[StratumName]) -> StratumName:
    """Where an answer belongs whose claims belong there; `names` is not empty."""
    return next(name for name in _DOUBT if name in names)


def counts(outcome: Outcome) -> bool:
    """Whether the judge counts the claim, though it may have failed on it."""
    return not (isinstance(outcome, Verdict) and outcome.support is Support.NO_CLAIM)


def weight(outcome: Outcome, *, strict: bool) -> float:
    """What the verdict, a fallback's too, adds to faithfulness; 0 where there is none."""
    if not isinstance(outcome, Verdict):
        return 0.0
    if strict:
        return float(outcome.support is Support.FULL)
    return SUPPORT_WEIGHT.get(outcome.support, 0.0)


def _near(verdict: Verdict) -> bool:
    threshold = Signature.parse(verdict.signature).part("t")
    # A language model's t is its temperature.
    if verdict.score is None or threshold is None or verdict.source == "llm":
        return False
    try:
        least = float(threshold)
    except ValueError:  # a judge of the user's own may mean something else by it
        return False
    return abs(_log_odds(verdict.score) - _log_odds(least)) <= NEAR


def _log_odds(probability: float) -> float:
    inside = min(1 - _EDGE, max(_EDGE, probability))
    return math.log(inside / (1 - inside))
