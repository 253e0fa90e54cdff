"""The judge that asks a language model."""

from judge.judges.prompted.judge import BARREN, THINKING_TOKENS, PromptedJudge
from judge.judges.prompted.render import render
from judge.judges.prompted.reply import PARTS, Form, Parsed, parse

__all__ = [
    "BARREN",
    "PARTS",
    "THINKING_TOKENS",
    "Form",
    "Parsed",
    "PromptedJudge",
    "parse",
    "render",
]
