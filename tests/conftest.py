"""Fixtures and settings of all tests.

Tests marked `no_cover` are not traced for coverage, which would double their time; other tests
cover the same lines.
"""

import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.commands import Golden
from tests.redis_server import BINARY, RedisServer
from tests.server import JudgeServer

# Keep compiled modules, here and in the processes that tests start: compiling them again would take
# longer than most tests.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A slow example on a busy machine is no failure. A third of hypothesis' usual number of examples is
# enough, because every run of the tests draws other examples.
settings.register_profile("house", deadline=None, max_examples=30)
settings.load_profile("house")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write tests/golden/ anew")


@pytest.fixture
def golden(pytestconfig: pytest.Config) -> Golden:
    """The texts that are held in `tests/golden/`."""
    return Golden(update=pytestconfig.getoption("--update-golden"))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder without settings; the cache is within it."""
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "JUDGE_MODEL", "JUDGE_REVIEW_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    yield tmp_path
    # `judge --debug` says more until the next command, and a test may be none.
    logging.getLogger("judge").setLevel(logging.NOTSET)


@pytest.fixture
def server(place: Path) -> Iterator[JudgeServer]:  # noqa: ARG001  nobody's settings but ours
    """A model that says `full` of everything."""
    with JudgeServer() as server:
        yield server


@pytest.fixture(scope="module")
def redis_server() -> Iterator[RedisServer]:
    """A Redis server of this module's own."""
    if BINARY is None:
        pytest.skip("no redis-server: apt-get install redis-server")
    with RedisServer() as server:
        yield server


@pytest.fixture
def redis(redis_server: RedisServer) -> RedisServer:
    """The same, with nothing stored."""
    with redis_server.client() as client:
        client.flushall()
    return redis_server
