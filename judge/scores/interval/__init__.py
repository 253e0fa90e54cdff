"""95 % intervals: of shares, of means over a stream, of means corrected by labels."""

from judge.scores.interval.difference import difference
from judge.scores.interval.share import Row, WeightedShare, weighted_share
from judge.scores.interval.streamed import REPLICATES, Method, StreamedMeans, poisson_weights
from judge.scores.interval.wilson import Z95, wilson

__all__ = [
    "REPLICATES",
    "Z95",
    "Method",
    "Row",
    "StreamedMeans",
    "WeightedShare",
    "difference",
    "poisson_weights",
    "weighted_share",
    "wilson",
]
