"""Overlap of answers with gold answers, over a stream of samples."""

from judge.overlap.evaluate import measure_overlap

__all__ = ["measure_overlap"]
