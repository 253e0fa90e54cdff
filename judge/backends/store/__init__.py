"""Where verdicts are kept: texts by key, in a folder by diskcache or on a Redis server."""

from judge.errors import RunError


class NotKept(RunError):
    """Texts cannot be kept, or cannot be looked up."""
