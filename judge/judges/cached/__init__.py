"""The judge that keeps verdicts, and asks about nothing twice."""

from judge.judges.cached.judge import CachedJudge
from judge.judges.cached.rows import Contents, Tally, contents

__all__ = ["CachedJudge", "Contents", "Tally", "contents"]
