"""The judge that remembers: what was asked before is not asked again."""

from judge.judges.cached.judge import CachedJudge
from judge.judges.cached.key import AnswerKey, Difference, Explained, explain
from judge.judges.cached.rows import Contents, Tally, contents

__all__ = [
    "AnswerKey",
    "CachedJudge",
    "Contents",
    "Difference",
    "Explained",
    "Tally",
    "contents",
    "explain",
]
