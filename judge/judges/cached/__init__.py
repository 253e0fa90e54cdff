"""The judge that remembers: what was asked before is not asked again."""

from judge.judges.cached.contents import Contents, Tally, contents
from judge.judges.cached.explain import Difference, Explained, explain
from judge.judges.cached.judge import CachedJudge

__all__ = [
    "CachedJudge",
    "Contents",
    "Difference",
    "Explained",
    "Tally",
    "contents",
    "explain",
]
