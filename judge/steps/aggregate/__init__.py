"""From the outcomes of one answer to its numbers."""

from judge.steps.aggregate.answer import aggregate
from judge.steps.aggregate.correctness import correctness

__all__ = ["aggregate", "correctness"]
