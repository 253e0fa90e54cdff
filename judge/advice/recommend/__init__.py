"""Which measures fit some samples, and why: a table of rules held against what they hold."""

from judge.advice.recommend.advising import advise, recommend_measures
from judge.advice.recommend.page import page
from judge.advice.recommend.table import Lang

__all__ = ["Lang", "advise", "page", "recommend_measures"]
