"""A cache that others use too, or have got at."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import JsonValue

from judge import SampleResult
from tests.chat_call import ChatCall
from tests.commands import judge, line, results, start, write
from tests.replies import Answer, Slow, right
from tests.server import JudgeServer


@pytest.fixture
def server(place: Path) -> Iterator[JudgeServer]:  # noqa: ARG001  nobody's settings but ours
    with JudgeServer(slowly) as server:
        yield server


def slowly(asked: ChatCall) -> Answer:
    return right(asked) if asked.is_probe else Slow(0.005, right(asked))


def some(first: int, last: int) -> list[dict[str, JsonValue]]:
    return [
        line(f"q{n}", f"Room {n} opens at seven [1]. 第{n}室九点关门。") for n in range(first, last)
    ]


def words(server: JudgeServer, source: Path, name: str) -> list[object]:
    return ["score", source, "-o", source.with_name(name), *server.words, "--concurrency", 4]


def labels(results: list[SampleResult]) -> list[str]:
    return [getattr(s.outcome, "support", "none at all") for r in results for s in r.sentences]


def test_two_processes_at_once_lose_nothing(place: Path, server: JudgeServer) -> None:
    first, second = (
        write(place / f"{name}.jsonl", some(*span))
        for name, span in (("first", (0, 14)), ("second", (8, 22)))
    )
    with start(*words(server, first, "one")) as one, start(*words(server, second, "two")) as two:
        errors = [process.communicate()[1] for process in (one, two)]
    assert [one.returncode, two.returncode] == [0, 0], errors
    assert 22 <= server.calls <= 28
    asked, probed = server.calls, server.probes
    every = write(place / "every.jsonl", some(0, 22))
    assert judge(*words(server, every, "three")).code == 0
    assert (server.calls, server.probes) == (asked, probed)
    assert labels(results(place / "three")) == ["full"] * 44


def test_without_a_cache_nothing_is_kept(place: Path, server: JudgeServer) -> None:
    source = write(place / "in.jsonl", some(0, 3))
    for number, name in enumerate(("one", "two"), start=1):
        ran = judge(*words(server, source, name), "--no-cache")
        assert (ran.code, server.calls, server.probes) == (0, 3 * number, number)
    assert not (place / "caches").exists()
