"""The judge that needs no model: what of a sentence stands where, under a small trained model."""

from judge.judges.similarity.judge import Block, SimilarityJudge, aligned, shipped_model

__all__ = ["Block", "SimilarityJudge", "aligned", "shipped_model"]
