"""From the results of a run to its totals, one result at a time, in constant memory."""

from judge.scores.totals.outcomes import MIN_UNSCORED
from judge.scores.totals.totals import MAX_UNSCORED, Totals, summarize

__all__ = ["MAX_UNSCORED", "MIN_UNSCORED", "Totals", "summarize"]
