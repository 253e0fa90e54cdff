"""95 % intervals: of shares, of means over a stream, of means corrected by labels."""

from judge.metrics.interval.corrected import Corrected, StratumSample, corrected_mean
from judge.metrics.interval.difference import difference
from judge.metrics.interval.share import Row, WeightedShare, weighted_share
from judge.metrics.interval.streamed import REPLICATES, Method, StreamedMeans, poisson_weights
from judge.metrics.interval.wilson import Z95, wilson

__all__ = [
    "REPLICATES",
    "Z95",
    "Corrected",
    "Method",
    "Row",
    "StratumSample",
    "StreamedMeans",
    "WeightedShare",
    "corrected_mean",
    "difference",
    "poisson_weights",
    "weighted_share",
    "wilson",
]
