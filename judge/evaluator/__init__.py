"""Many samples: bounded concurrency, input order, cancellation."""

from judge.evaluator.blocking import evaluate
from judge.evaluator.evaluator import Evaluator

__all__ = ["Evaluator", "evaluate"]
