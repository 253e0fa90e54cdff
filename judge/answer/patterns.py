"""Regular expressions that a user writes."""

import re


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern.

    Raises:
        ValueError: it is no regular expression, or one beyond what the engine takes.
    """
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"is no regular expression: {error}") from None
