"""Regular expressions that are compiled when they are first used."""

import re
from typing import cast


class _LazyPattern:
    """A regular expression. Its methods exist once one of them is used."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self.flags = flags

    def __getattr__(self, name: str) -> object:
        compiled = re.compile(self.pattern, self.flags)
        for method in ("findall", "finditer", "fullmatch", "match", "search", "split", "sub"):
            self.__dict__[method] = getattr(compiled, method)
        return getattr(compiled, name)


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern as `re.compile` does, which is compiled when it is first used.

    Compiling the long patterns of the rules takes a tenth of the time that a command needs to
    start, and most commands use few of them.
    """
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))
