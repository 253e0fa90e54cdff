"""The judge that asks a language model: its words, what a reply means, when to ask again."""

from judge.judges.prompted.judge import PromptedJudge
from judge.judges.prompted.reading import Parsed, parse
from judge.judges.prompted.rendering import render

__all__ = ["Parsed", "PromptedJudge", "parse", "render"]
