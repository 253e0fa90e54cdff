import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import judge, line, write
from tests.server import JudgeServer

CHUNKS = ["住宿每晚不超过500元，早餐另计，超出部分由员工本人承担。"]


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer() as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    sample = line("q_1", "住宿每晚不超过500元[1]。 Breakfast is free. Thank you!", CHUNKS)
    return write(tmp_path / "samples.jsonl", [sample])


def settings(server: JudgeServer, folder: Path, model: str = "m-1") -> list[object]:
    return ["--model", model, "--base-url", server.base_url, "--cache-dir", folder]


def score(server: JudgeServer, folder: Path, samples: Path, model: str = "m-1") -> None:
    run = folder.with_name(f"run-{model}")
    words = ["score", samples, "-o", run, "--force", *settings(server, folder, model)]
    assert judge(*words).code == 0


def test_what_is_kept_is_counted_by_signature(
    server: JudgeServer, folder: Path, samples: Path
) -> None:
    score(server, folder, samples)
    score(server, folder, samples, "m-2")
    ran = judge("cache", "stats", "--cache-dir", folder)
    assert ran.code == 0
    out = ran.out
    assert str(folder) in out
    assert "4 verdicts, 2 replies, 2 answers" in out
    signed = re.findall(r"^(llm:m-\d)@\S+\n  (.*) UTC$", out, flags=re.MULTILINE)
    assert [name for name, _ in signed] == ["llm:m-1", "llm:m-2"]
    assert all(told.startswith("2 verdicts, 1 reply, 20") for _, told in signed)


@pytest.mark.parametrize("others", [None, "", "notes"])
def test_where_nothing_is_kept_all_stays_as_it_is(folder: Path, others: str | None) -> None:
    if others is not None:
        folder.mkdir(mode=0o700)
    if others:
        (folder / others).touch()
        folder.chmod(0o755)
    before = folder.stat() if folder.exists() else None
    for words in (["stats"], ["clear"], ["clear", "--yes"]):
        ran = judge("cache", *words, "--cache-dir", folder)
        assert (ran.code, ran.out) == (0, f"nothing is kept in {folder}\n")
    assert folder.exists() is (others is not None)
    if before is not None:
        now = folder.stat()
        assert [path.name for path in folder.iterdir()] == [others] * bool(others)
        assert (now.st_mode, now.st_mtime_ns) == (before.st_mode, before.st_mtime_ns)


def test_clearing_removes_all_once_it_is_meant(
    server: JudgeServer, folder: Path, samples: Path
) -> None:
    score(server, folder, samples)
    ran = judge("cache", "clear", "--cache-dir", folder)
    assert ran.code == 2
    assert "say --yes" in ran.err
    ran = judge("cache", "clear", "--yes", "--cache-dir", folder)
    assert ran.code == 0
    # Two verdicts, a reply, what was asked, and the probe.
    assert ran.out == f"removed 5 rows from {folder}\n"
    score(server, folder, samples)
    assert (server.calls, server.probes) == (2, 2)


def test_a_broken_cache_can_be_cleared(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    (folder / "cache.db").write_text("no database, and long enough to be looked at" * 30)
    ran = judge("cache", "stats", "--cache-dir", folder)
    assert ran.code == 2
    assert "judge cache clear" in ran.err
    ran = judge("cache", "clear", "--yes", "--cache-dir", folder)
    assert ran.code == 0
    assert ran.out == f"removed a database with an unknown number of rows from {folder}\n"
    ran = judge("cache", "stats", "--cache-dir", folder)
    assert ran.code == 0
    assert ran.out == f"nothing is kept in {folder}\n"


class Terminal(io.StringIO):
    """What somebody types who is asked."""

    def isatty(self) -> bool:
        return True


def test_whoever_is_asked_may_say_no(
    folder: Path, server: JudgeServer, samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which is no failed gate, nor is Ctrl-C or the end of the input."""
    score(server, folder, samples)
    rows = (("n\n", 0, "nothing was removed"), ("", 130, ""), ("y\n", 0, "removed "))
    for typed, code, said in rows:
        assert "nothing is kept" not in judge("cache", "stats", "--cache-dir", folder).out
        monkeypatch.setattr("sys.stdin", Terminal(typed))
        ran = judge("cache", "clear", "--cache-dir", folder)
        assert (ran.code, said in ran.out) == (code, True)
    assert "0 verdicts" in judge("cache", "stats", "--cache-dir", folder).out
