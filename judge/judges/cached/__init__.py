"""The judge that remembers: what was asked before is not asked again."""

from judge.judges.cached.judge import CachedJudge, Explained, explain
from judge.judges.cached.rows import AnswerKey, Contents, Tally, contents

__all__ = ["AnswerKey", "CachedJudge", "Contents", "Explained", "Tally", "contents", "explain"]
