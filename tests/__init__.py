"""Tests; a package, for one of what they are held against installs a `tests` of its own."""
