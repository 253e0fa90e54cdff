"""Texts kept by key on a Redis server that many machines share."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from time import monotonic
from typing import Final, cast

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as NoReply
from redis.retry import Retry

from judge.backends.store import NotKept
from judge.config import REDIS_PASSWORD, REDIS_USERNAME
from judge.errors import ConfigError, JudgeError
from judge.text.visible import clip, printable

PREFIX: Final = "judge:"
_MESSAGE_CHARACTERS: Final = 200
_TIMEOUT_SECONDS: Final = 5.0
"""For a connection, and for a reply."""
_RECESS_SECONDS: Final = 30.0
"""For which a server that did not answer is asked nothing, so that not every answer waits."""
_UNUSABLE: Final = (
    f"cannot be used ({{}}); see that a Redis server runs there, set {REDIS_PASSWORD} and "
    f"{REDIS_USERNAME} in the environment if it wants them, or leave out --cache-url to keep "
    "verdicts on this machine"
)
_GONE: Final = (
    "is gone or full ({}); see to it. Meanwhile nothing is kept there: verdicts are in the results "
    "alone, and what cannot be looked up is asked again"
)


class RedisStore(AbstractContextManager["RedisStore"]):
    """Keeps texts on a server, at a checked `url`; close it, or use it in a `with`.

    What is put is forgotten after `ttl` seconds, where given. A server that cannot be used at the
    start raises ConfigError (so does a cluster, which changes no keys of two slots in one
    transaction), and one that is gone or full later raises NotKept.
    """

    def __init__(self, url: str, *, ttl: int | None = None) -> None:
        self._url = url
        self._ttl = ttl
        self._recess = 0.0
        """When the server may be asked again."""
        self._why = ""
        self._client = Redis.from_url(
            url,
            username=os.environ.get(REDIS_USERNAME) or None,
            password=os.environ.get(REDIS_PASSWORD) or None,
            socket_timeout=_TIMEOUT_SECONDS,
            socket_connect_timeout=_TIMEOUT_SECONDS,
            # The server may have closed a connection that lay idle.
            retry=Retry(NoBackoff(), 1, supported_errors=(NoConnection,)),
        )
        # A replica, a cluster, or the rules on a user may refuse what a run needs.
        with self._our_errors(ConfigError, _UNUSABLE):
            probe = [f"{PREFIX}probe:{number}" for number in range(2)]
            self._set(dict.fromkeys(probe, b""), seconds=1)
            self._client.mget(probe)

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the texts known for these keys; a missing key is absent."""
        if not keys:
            return {}
        with self._our_errors(NotKept, _GONE):
            values = cast("list[bytes | None]", self._client.mget([PREFIX + key for key in keys]))
        found = zip(keys, values, strict=True)
        # A text that is no verdict is refused when it is read as one.
        return {key: value.decode(errors="replace") for key, value in found if value is not None}

    def put(self, texts: Mapping[str, str]) -> None:
        """Store the texts in one transaction."""
        with self._our_errors(NotKept, _GONE):
            self._set({PREFIX + key: text.encode() for key, text in texts.items()}, self._ttl)

    def _set(self, values: Mapping[str, bytes], seconds: int | None) -> None:
        pipe = self._client.pipeline(transaction=True)
        for name, value in values.items():
            pipe.set(name, value, ex=seconds)
        pipe.execute()

    @contextmanager
    def _our_errors(self, kind: Callable[[str], JudgeError], problem: str) -> Iterator[None]:
        """Raise an error of the server as one of ours; leave it alone where it did not answer."""
        if monotonic() < self._recess:
            raise NotKept(f"cache {self._url}: {_GONE.format(self._why)}")
        try:
            yield
        except RedisError as error:
            # For a pipeline's command the client's message quotes what was to be kept.
            cause = str(error).rpartition("caused error: ")[2]
            self._why = clip(printable(cause), _MESSAGE_CHARACTERS)
            if isinstance(error, NoConnection | NoReply):
                self._recess = monotonic() + _RECESS_SECONDS
            raise kind(f"cache {self._url}: {problem.format(self._why)}") from None
