"""Where verdicts are kept: texts by key, in a folder by diskcache or on a Redis server."""
