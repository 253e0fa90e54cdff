"""The judge that remembers: what was asked before is not asked again."""

from judge.judges.cached.judge import CachedJudge
from judge.judges.cached.rows import Contents, Tally, contents

__all__ = ["CachedJudge", "Contents", "Tally", "contents"]
