"""The tests are a package, because a library installs a package `tests` of its own."""
