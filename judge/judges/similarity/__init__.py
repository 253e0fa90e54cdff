"""The similarity judge: word alignment under a small trained model, without a language model."""

from judge.judges.similarity.judge import SimilarityJudge, aligned, shipped_model
from judge.judges.similarity.model import LexicalEmbedder

__all__ = ["LexicalEmbedder", "SimilarityJudge", "aligned", "shipped_model"]
