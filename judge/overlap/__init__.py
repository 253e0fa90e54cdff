"""Overlap of answers with gold answers, over a stream of samples."""

from judge.overlap.report import measure_overlap, with_bad_lines

__all__ = ["measure_overlap", "with_bad_lines"]
