"""From the outcomes of one answer to its numbers."""

from judge.scores.aggregate.answer import aggregate
from judge.scores.aggregate.correctness import correctness

__all__ = ["aggregate", "correctness"]
