"""The cache on a shared Redis server."""

import json
from functools import partial
from pathlib import Path

import pytest
from pydantic import JsonValue

from judge.backends.store.cache import BackgroundStore
from judge.backends.store.redis import RedisStore
from judge.errors import ConfigError, RunError
from judge.evaluator import Evaluator
from judge.records import Sample, SampleResult
from tests import replies
from tests.chat_call import ChatCall
from tests.commands import judge, line, results, write
from tests.post_server import SELF_SIGNED
from tests.redis_server import BINARY, RedisServer, free_port
from tests.replies import Answer
from tests.server import JudgeServer

pytestmark = pytest.mark.skipif(
    BINARY is None, reason="no redis-server: apt-get install redis-server"
)

ANSWER = "The canteen opens at seven. It closes at three."


def rows(count: int) -> list[dict[str, JsonValue]]:
    return [line(f"q{number}", f"{ANSWER} Today {number} people came.") for number in range(count)]


def labels(result: SampleResult) -> list[str]:
    outcomes = [each.outcome for each in result.sentences]
    return [str(getattr(each, "support", "") or getattr(each, "reason", "")) for each in outcomes]


async def judged(
    server: JudgeServer, redis: RedisServer, count: int = 1, **settings: object
) -> list[SampleResult]:
    config = server.config(cache=True, cache_url=redis.socket, fallback=False, **settings)
    async with Evaluator(config) as evaluator:
        return [
            result async for result in evaluator.evaluate(map(Sample.model_validate, rows(count)))
        ]


async def test_foreign_values_count_as_absent(server: JudgeServer, redis: RedisServer) -> None:
    await judged(server, redis, 3)
    with redis.client() as client:
        keys = [key for key in client.keys("judge:*") if key.count(b":") == 1]
        for key, text in zip(keys, (b"\xff\x80secret", b'{"support":"full"}', None), strict=True):
            client.delete(key)
            client.set(key, text) if text else client.lpush(key, "x")
    results = await judged(server, redis, 3)
    assert [labels(result) for result in results] == [["full"] * 3] * 3
    assert server.calls == 6


def test_verdicts_expire_after_the_ttl(redis: RedisServer) -> None:
    with RedisStore(redis.socket, ttl=100) as store, redis.client() as client:
        store.put({"a": "1", "b": "2"})
        left = {key: client.ttl(key) for key in client.keys("judge:[ab]")}
        assert left.keys() == {b"judge:a", b"judge:b"}
        assert all(0 < seconds <= 100 for seconds in left.values())


def test_an_unusable_server_is_reported_before_the_model_is_asked(server: JudgeServer) -> None:
    source = write(Path("samples.jsonl"), [line("q", ANSWER)])
    cluster = ("--cluster-enabled", "yes", "--cluster-port", f"{free_port()}")
    limited = ("--user", "default", "on", "nopass", "~*", "+@all", "-mget")
    for options in (("--maxmemory", "1"), cluster, limited, None):
        with RedisServer(*(options or ())) as redis:
            if options is None:
                redis.close()
            ran = judge("score", source, "-o", "run", *server.words, "--cache-url", redis.url)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert f"cache {redis.url}: cannot be used (" in ran.err
        assert "leave out --cache-url" in ran.err
    assert server.calls == 0


def test_the_password_comes_from_the_environment_and_is_never_shown(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write(Path("samples.jsonl"), [line("q", ANSWER)])
    with RedisServer("--requirepass", "geheim") as redis:
        for password, code in (("", 2), ("wrong-one", 2), ("geheim", 0)):
            monkeypatch.setenv("JUDGE_REDIS_PASSWORD", password)
            ran = judge("score", source, "-o", "run", *server.words, "--cache-url", redis.url)
            assert ran.code == code, ran.err
            assert "no setting" not in ran.err
            assert ("set JUDGE_REDIS_PASSWORD" in ran.err) is bool(code)
            assert not any(word in ran.out + ran.err for word in ("geheim", "wrong-one"))
    record = json.loads(Path("run/run.json").read_text())
    assert record["config"]["cache_url"] == redis.url
    assert "geheim" not in str(record)
    for url in ("redis://me:geheim@h/0", "unix://me:geheim@/x", "redis://h?password=geheim"):
        ran = judge("score", source, "-o", "run", *server.words, "--cache-url", url)
        assert ran.code == 2
        assert "JUDGE_REDIS_PASSWORD" in ran.err
        assert "geheim" not in ran.err


def test_tls_needs_a_trusted_certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cert, port = str(tmp_path / "cert.pem"), free_port()
    (tmp_path / "cert.pem").write_text(SELF_SIGNED)
    files = (word for each in ("cert", "key", "ca-cert") for word in (f"--tls-{each}-file", cert))
    with RedisServer("--tls-port", f"{port}", "--tls-auth-clients", "no", *files):
        url = f"rediss://127.0.0.1:{port}/0"
        with pytest.raises(ConfigError, match="CERTIFICATE_VERIFY_FAILED"):
            RedisStore(url)
        monkeypatch.setenv("SSL_CERT_FILE", cert)
        with RedisStore(url) as store:
            store.put({"a": "1"})
            assert store.get(["a"]) == {"a": "1"}


def test_a_server_that_disappears_does_not_end_the_run(place: Path) -> None:
    source = write(place / "samples.jsonl", rows(6))
    with RedisServer() as redis:

        def killing(asked: ChatCall) -> Answer:
            if asked.number == 2:
                redis.close()
            return replies.right(asked)

        with JudgeServer(killing) as server:
            words = (*server.words, "--cache-url", redis.url, "--concurrency", 1)
            ran = judge("score", source, "-o", "run", *words)
            assert (ran.code, server.calls) == (0, 6), ran.err
    assert [labels(each) for each in results(place / "run")] == [["full"] * 3] * 6
    assert ran.err.count("is gone or full (") == 1


async def test_a_strict_store_raises_at_once() -> None:
    async def use(redis: RedisServer) -> None:
        async with BackgroundStore(partial(RedisStore, redis.socket), strict=True) as store:
            await store.put({"a": "1"})
            redis.close()
            await store.get(["b"])

    with RedisServer() as redis, pytest.raises(RunError, match="is gone or full"):
        await use(redis)
