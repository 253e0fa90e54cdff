"""Tests of the whole program: not traced, since the tests of the rooms cover the same lines."""

import pytest


def pytest_itemcollected(item: pytest.Item) -> None:
    """Trace no test of this folder for coverage, which would double its time."""
    item.add_marker("no_cover")
