"""Past one machine: the same evaluator in the actors of a Ray cluster."""

from judge.cluster.dataset import evaluate_dataset

__all__ = ["evaluate_dataset"]
