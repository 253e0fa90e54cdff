"""The judge that needs no model: what of a sentence stands where, under a small trained model."""

from judge.judges.similarity.judge import SimilarityJudge, aligned, shipped_model
from judge.judges.similarity.model import LexicalEmbedder

__all__ = ["LexicalEmbedder", "SimilarityJudge", "aligned", "shipped_model"]
