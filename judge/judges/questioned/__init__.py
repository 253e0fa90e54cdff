"""The judge that is not asked about what the question already says."""

from judge.judges.questioned.judge import QuestionedJudge

__all__ = ["QuestionedJudge"]
