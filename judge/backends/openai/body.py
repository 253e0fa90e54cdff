"""What a server sends back: bounded, in UTF-8 and without the key before anyone reads it."""

import codecs
import re
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import suppress
from typing import Final

import httpx2
import openai

_LIMIT_MIB: Final = 16
"""Thousands of times a reply, and more than the rows of any batch of embeddings."""
_LIMIT: Final = _LIMIT_MIB * 2**20
_IN_UTF8: Final = frozenset(
    f"application/json;{blank}charset={name}" for blank in ("", " ") for name in ("utf-8", "UTF-8")
)
_CHARSETS: Final = frozenset(
    {"big5", "cp1251", "cp1252", "euc_jp", "euc_kr", "gb18030", "gb2312", "gbk", "iso8859-1"}
    | {"shift_jis", "utf-16"}
)
"""Those of pages in the world; others, such as punycode, take time in the square of the length."""
_PLACEHOLDER: Final = 8
"""A key below this length is none ("EMPTY", "none"); blotting it out would garble messages."""


class TooLargeError(openai.OpenAIError):
    """A body that does not end where one should. The client passes its own errors on as is."""


class Secret:
    """A key, to be found in what others send.

    Args:
        key: printable ASCII.
    """

    def __init__(self, key: str) -> None:
        self._key = key if len(key) >= _PLACEHOLDER else ""
        # JSON may escape any character, and .NET and PHP do so with "+" and "/". Backslashes are
        # taken along, and few at a time: a body of nothing else must not take for ever.
        self._escaped = re.compile(
            "".join(rf"\\{{0,8}}(?:{re.escape(c)}|(?i:u00{ord(c):02x}))" for c in key).encode()
        )
        self._tell = max(re.split(r"[^\w.-]", key), key=len).encode()

    def stands_in(self, text: bytes) -> bool:
        """Whether the text holds the key as it is."""
        return bool(self._key) and self._key.encode() in text

    def blot(self, text: bytes) -> bytes:
        """The text with "[key]" in place of the key."""
        if not self._key or (self._tell not in text and b"\\u00" not in text):
            return text
        return self._escaped.sub(b"[key]", text)


_NO_SECRET: Final = Secret("")


class Guard:
    """A response hook: whatever is read of a response afterwards, error or not, is safe to read.

    Args:
        secret: the key that was sent.
    """

    def __init__(self, secret: Secret) -> None:
        self._secret = secret

    async def __call__(self, response: httpx2.Response) -> None:
        """Put the guarded body in the place of the one that comes."""
        headers, coming = response.headers, response.stream
        if not isinstance(coming, httpx2.AsyncByteStream):
            raise TypeError("a response of a client that is not asynchronous")
        # Nearly all say just this, and taking it apart takes a parser of mail.
        plain = headers.get("Content-Type") in _IN_UTF8
        charset = "utf-8" if plain else response.charset_encoding
        parts: AsyncIterable[bytes] = coming
        if "Content-Encoding" in headers:
            parts = httpx2.Response(200, headers=headers, stream=coming).aiter_bytes()
            del headers["Content-Encoding"]
        if charset is not None:
            del headers["Content-Type"]
        # What the material says as well is a word, and a server may well repeat it.
        own = self._secret.stands_in(response.request.content)
        response.stream = _Body(coming, parts, charset, _NO_SECRET if own else self._secret)


class _Body(httpx2.AsyncByteStream):
    """All in one part: a key may lie across two.

    Args:
        coming: what is closed in the end.
        parts: of it, unpacked: a few bytes of gzip can be a lot of text.
        charset: that it is said to be in.
        secret: the key that was sent.
    """

    def __init__(
        self,
        coming: httpx2.AsyncByteStream,
        parts: AsyncIterable[bytes],
        charset: str | None,
        secret: Secret,
    ) -> None:
        self._coming = coming
        self._parts = parts
        self._charset = charset
        self._secret = secret

    async def __aiter__(self) -> AsyncIterator[bytes]:
        parts, size = [], 0
        async for part in self._parts:
            size += len(part)
            if size > _LIMIT:
                raise TooLargeError(f"a body of over {_LIMIT_MIB} MiB")
            parts.append(part)
        yield self._secret.blot(_in_utf8(b"".join(parts), self._charset))

    async def aclose(self) -> None:
        await self._coming.aclose()


def _in_utf8(text: bytes, charset: str | None) -> bytes:
    """A proxy's page may be in the charset it names; JSON is in UTF-8, whatever is named."""
    try:
        text.decode()
    except UnicodeDecodeError:
        with suppress(LookupError, ValueError):
            if codecs.lookup(charset or "").name in _CHARSETS:
                return text.decode(charset or "", "replace").encode(errors="replace")
    return text
