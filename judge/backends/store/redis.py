"""Texts kept by key on a Redis server that many processes share.

`pip install '.[redis]'` brings the client. Nothing but text is written or read.
"""

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Final, Self, cast

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, RedisError
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import TimeoutError as NoReply
from redis.retry import Retry

from judge.backends.store.keeper import Unkept
from judge.config import REDIS_PASSWORD, REDIS_USERNAME
from judge.errors import ConfigError, JudgeError, RunError, UsageError
from judge.text.visible import clip, printable

_LOGGER: Final = logging.getLogger("judge")
PREFIX: Final = "judge:"
_SHOWN: Final = 200
_PATIENCE: Final = 5.0
"""Seconds to wait for a connection, and for a reply."""
_RECESS: Final = 30.0
"""Seconds for which a server that failed is asked nothing: nobody waits for it each time."""
_PAGE: Final = 500
"""Keys in one request."""
_REFUSED: Final = "cache %s: values that are no text are not read"
_UNUSABLE: Final = (
    "cannot be used ({}); see that a Redis server runs there, or leave out --cache-url to keep "
    "verdicts on this machine"
)
_AWAY: Final = (
    "is gone or full ({}); see to it. Meanwhile nothing is kept there, and what cannot be looked "
    "up is asked again"
)
_LOCKED: Final = (
    f"refuses the user name or the password ({{}}); set {REDIS_PASSWORD} in the environment, and "
    f"{REDIS_USERNAME} where it has users"
)


class RedisStore:
    """A `Keeper` on a server, at a checked `url`; close it, or use it in a `with`.

    Keys begin with `judge:`. A value that is no text in UTF-8 counts as absent. What is put is
    forgotten after `ttl` seconds, where given. User name and password come from the environment,
    JUDGE_REDIS_USERNAME and JUDGE_REDIS_PASSWORD. It is one server, or one and its replicas: not a
    Redis Cluster, which shares keys out among many.

    Raises:
        ConfigError: it cannot be reached, refuses the password, or takes nothing.
        Unkept: from reading and writing, where the server is gone, or full.
        UsageError: likewise, once the store is closed.
    """

    trouble: Final = "its server was gone or full for a while"

    def __init__(self, url: str, *, ttl: int | None = None) -> None:
        self.place = url
        self._ttl = ttl
        self._recess = 0.0
        self._why = ""
        """What it said before it."""
        self._warned = self._closed = False
        self._client = Redis.from_url(
            url,
            username=os.environ.get(REDIS_USERNAME) or None,
            password=os.environ.get(REDIS_PASSWORD) or None,
            socket_timeout=_PATIENCE,
            socket_connect_timeout=_PATIENCE,
            # A connection that lay idle may have been closed.
            retry=Retry(NoBackoff(), 1, supported_errors=(NoConnection,)),
        )
        try:
            with self._used(ConfigError):
                # As in a run, before anything is paid for: a replica, a cluster, or the rules on a
                # user may refuse these.
                names = [PREFIX + "probe:1", PREFIX + "probe:2"]
                pipe = self._client.pipeline(transaction=True)
                for name in names:
                    pipe.set(name, "", px=1)
                pipe.execute()
                self._client.mget(names)
                self._client.unlink(*names)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the server for good; a second time does nothing."""
        self._closed = True
        self._client.close()

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """The texts known for these keys; a missing key is absent."""
        names = [_encoded(PREFIX + key) for key in keys]
        pages = (names[low : low + _PAGE] for low in range(0, len(names), _PAGE))
        return {key: text for page in pages for key, text in self._texts(page)}

    def put(self, texts: Mapping[str, str]) -> None:
        """Keep all of these in one transaction, or none."""
        rows = {_encoded(PREFIX + key): _encoded(text) for key, text in texts.items()}
        with self._used(Unkept):
            pipe = self._client.pipeline(transaction=True)
            for name, text in rows.items():
                pipe.set(name, text, ex=self._ttl)
            pipe.execute()

    def rows(self) -> Iterator[tuple[str, str]]:
        """Every key and its text, in no order; one that the server moves meanwhile comes twice."""
        for page in self._pages():
            yield from self._texts(page)

    @property
    def size(self) -> int:
        """Bytes of the server's memory that they take, keys and all."""
        total = 0
        for page in self._pages():
            with self._used(Unkept):
                pipe = self._client.pipeline(transaction=False)
                for key in page:
                    pipe.memory_usage(key)
                total += sum(size or 0 for size in pipe.execute())
        return total

    def clear(self) -> int:
        """Remove every row, and tell how many there were; what is not ours stays."""
        removed = 0
        for page in self._pages():
            with self._used(Unkept):
                removed += self._client.unlink(*page)
        return removed

    def _texts(self, names: Sequence[bytes]) -> Iterator[tuple[str, str]]:
        with self._used(Unkept):
            values = cast("list[bytes | None]", self._client.mget(names))
        for name, value in zip(names, values, strict=True):
            try:
                if value is not None:
                    yield name.decode().removeprefix(PREFIX), value.decode()
            except UnicodeDecodeError:
                if not self._warned:
                    self._warned = True
                    _LOGGER.warning(_REFUSED, self.place)

    def _pages(self) -> Iterator[list[bytes]]:
        """Names of our rows."""
        cursor = 0
        while True:
            with self._used(Unkept):
                cursor, found = self._client.scan(cursor, match=f"{PREFIX}*", count=_PAGE)
            if found:
                yield cast("list[bytes]", found)
            if not cursor:
                return

    @contextmanager
    def _used(self, kind: Callable[[str], JudgeError]) -> Iterator[None]:
        """Errors of the server become ours; where it did not answer, it is left alone a while."""
        if self._closed:
            raise UsageError(f"cache {self.place}: closed; ask while its `with` is open")
        if monotonic() < self._recess:
            # The other thread may tell of it first.
            raise Unkept(f"cache {self.place}: {_AWAY.format(self._why)}")
        try:
            yield
        except RedisError as error:
            # Of a pipeline's command the client's own message quotes what was to be kept.
            why = clip(printable(str(error).rpartition("caused error: ")[2]), _SHOWN)
            if isinstance(error, NoConnection | NoReply):
                self._recess, self._why = monotonic() + _RECESS, why
            usual = _AWAY if kind is Unkept else _UNUSABLE
            words = _LOCKED if isinstance(error, AuthenticationError) else usual
            raise kind(f"cache {self.place}: {words.format(why)}") from None


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise RunError(f"cache: a text cannot be written ({type(error).__name__})") from None
