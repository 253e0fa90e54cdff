"""A cache that others use too, or have got at."""

import pickle
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import JsonValue

from judge import SampleResult
from tests.commands import Ran, judge, line, results, start, write
from tests.replies import Answer, right
from tests.server import Asked, JudgeServer, Slow

PICKLE_MODE = 4
BINARY_MODE = 2


@pytest.fixture
def server(place: Path) -> Iterator[JudgeServer]:  # noqa: ARG001  nobody's settings but ours
    with JudgeServer(slowly) as server:
        yield server


def slowly(asked: Asked) -> Answer:
    return right(asked) if asked.is_probe else Slow(0.005, right(asked))


def some(first: int, last: int) -> list[dict[str, JsonValue]]:
    return [
        line(f"q{n}", f"Room {n} opens at seven [1]. 第{n}室九点关门。") for n in range(first, last)
    ]


def words(server: JudgeServer, source: Path, name: str) -> list[object]:
    address = ["--model", "tiny", "--base-url", server.base_url, "--concurrency", 4]
    return ["score", source, "-o", source.with_name(name), *address]


def labels(results: list[SampleResult]) -> list[str]:
    return [getattr(s.outcome, "support", "none at all") for r in results for s in r.sentences]


def test_two_processes_at_once_lose_nothing(place: Path, server: JudgeServer) -> None:
    first, second = (
        write(place / f"{name}.jsonl", some(*span))
        for name, span in (("first", (0, 40)), ("second", (25, 65)))
    )
    with start(*words(server, first, "one")) as one, start(*words(server, second, "two")) as two:
        errors = [process.communicate()[1] for process in (one, two)]
    assert [one.returncode, two.returncode] == [0, 0], errors
    assert 65 <= server.calls <= 80
    asked, probed = server.calls, server.probes
    every = write(place / "every.jsonl", some(0, 65))
    assert judge(*words(server, every, "three")).code == 0
    assert (server.calls, server.probes) == (asked, probed)
    assert labels(results(place / "three")) == ["full"] * 130


class Bomb:
    """Unpickled, it leaves a mark."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self._mark,)


def plant(place: Path, sentence: int, change: str, *values: object) -> None:
    """Change the row of one sentence's verdict."""
    path = place / "caches" / "judge" / "cache.db"
    with closing(sqlite3.connect(path)) as database, database:
        cursor = database.execute(
            f"UPDATE Cache SET {change} WHERE value LIKE ?",  # noqa: S608  our own words
            (*values, f'%"place":{{"sentence":{sentence},%'),
        )
        assert cursor.rowcount == 1


def planted(place: Path, server: JudgeServer, ask: list[str]) -> Ran:
    """Run again with the same cache, and see that this is asked and all is well."""
    source = place / "in.jsonl"
    ran = judge(*words(server, source, "two"))
    assert ran.code == 0
    assert [each.ids for each in server.requests[2:]] == [ask]
    assert labels(results(place / "two")) == ["full", "full"]
    warned = [told for told in ran.err.splitlines() if "no text of ours" in told]
    assert len(warned) == 1
    assert str(place / "caches" / "judge") in warned[0]
    third = judge(*words(server, source, "three"))  # the bad rows are replaced
    assert len(server.requests) == 3
    assert "no text of ours" not in third.err
    return ran


@pytest.fixture
def scored(place: Path, server: JudgeServer) -> Path:
    source = write(place / "in.jsonl", some(0, 1))
    assert judge(*words(server, source, "one")).code == 0
    assert len(server.requests) == 2
    return place


def test_a_planted_pickle_is_not_opened(scored: Path, server: JudgeServer) -> None:
    mark = scored / "mark"
    blob = pickle.dumps(Bomb(mark))
    plant(scored, 0, "mode = ?, value = ?", PICKLE_MODE, blob)
    planted(scored, server, ["s1"])
    assert not mark.exists()
    pickle.loads(blob)  # noqa: S301  it would have left its mark
    assert mark.exists()


PLANTS = {
    "binary in a file": ("mode = ?, filename = ?, value = NULL", BINARY_MODE, "../../victim"),
    "pickle in a file": ("mode = ?, filename = ?, value = NULL", PICKLE_MODE, "../../victim"),
    "text, and a file": ("filename = ?", "../../victim"),
}


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_file_name_is_not_followed(scored: Path, server: JudgeServer, name: str) -> None:
    victim = scored / "victim"
    victim.write_bytes(pickle.dumps(Bomb(scored / "mark")))
    change, *values = PLANTS[name]
    plant(scored, 1, str(change), *values)
    planted(scored, server, ["s2"])
    assert victim.exists()  # a cache that replaces a row removes the file it names
    assert not (scored / "mark").exists()


def test_a_planted_verdict_of_another_shape_is_asked_anew(
    scored: Path, server: JudgeServer
) -> None:
    plant(scored, 0, "value = replace(value, '\"full\"', '\"perfect\"')")
    ran = judge(*words(server, scored / "in.jsonl", "two"))
    assert (ran.code, [asked.ids for asked in server.requests[2:]]) == (0, [["s1"]])


def test_without_a_cache_nothing_is_kept(place: Path, server: JudgeServer) -> None:
    source = write(place / "in.jsonl", some(0, 3))
    for number, name in enumerate(("one", "two"), start=1):
        ran = judge(*words(server, source, name), "--no-cache")
        assert (ran.code, server.calls, server.probes) == (0, 3 * number, number)
        assert "3 sent, 0 from cache" in ran.out
    assert not (place / "caches").exists()


def test_a_folder_that_cannot_be_used_stops_before_anything(
    place: Path, server: JudgeServer
) -> None:
    source = write(place / "in.jsonl", some(0, 3))
    (place / "file").write_text("in the way")
    ran = judge(*words(server, source, "run"), "--cache-dir", place / "file" / "cache")
    assert (ran.code, ran.out, server.requests) == (2, "", [])
    assert ran.err.count("\n") == 1
    assert "name another cache directory" in ran.err
    assert str(place / "file" / "cache") in ran.err
    assert not (place / "run").exists()
