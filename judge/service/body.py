"""Bodies of requests: read within a limit and a time, or kept on disk as they come."""

import asyncio
import hashlib
import os
import zlib
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from starlette.requests import Request

from judge.inputs.files import MEGA
from judge.service.problems import Problem

TIMEOUT: Final = 30.0
"""Seconds to wait for the next piece of a body."""
_GZIP: Final = b"\x1f\x8b"
_PIECE: Final = 1 << 20
_PASSED: Final = 32 * MEGA
_CLOSE: Final = MappingProxyType({"Connection": "close"})


class Kept(NamedTuple):
    """A body on disk."""

    sha256: str
    size: int


async def chunks(request: Request, most: float, seconds: float) -> AsyncIterator[bytes]:
    """The body as it comes, `most` MB of it.

    Raises:
        Problem: it is larger, or nothing of it comes for so many `seconds`.
    """
    limit, taken = most * MEGA, 0
    if request.headers.get("content-encoding", "identity").lower() not in {"identity", "gzip"}:
        raise Problem("wrong-form", "Content-Encoding: nothing but gzip is read")
    length = request.headers.get("content-length", "")
    whole = int(length) if length.isdecimal() else 0
    # Whoever is refused goes on sending: what is not much is let pass, so that the answer is read.
    close = {} if 0 < whole < limit + _PASSED else _CLOSE
    _check(whole, limit, most, close)
    stream = request.stream()
    while True:
        try:
            async with asyncio.timeout(seconds):
                piece = await anext(stream, None)
        except TimeoutError:
            raise Problem(
                "too-slow",
                f"nothing of the body came for {seconds:g} seconds; send faster",
                headers=_CLOSE,
            ) from None
        if piece is None:
            return
        taken += len(piece)
        _check(taken, limit, most, close)
        if piece:
            yield piece


def _check(size: float, limit: float, most: float, headers: Mapping[str, str] = _CLOSE) -> None:
    if size > limit:
        said = f"over {most:g} MB, packed or not; send less, or see --max-body and --max-batch"
        raise Problem("too-large", said, headers=headers)


async def read(request: Request, most: float, seconds: float = TIMEOUT) -> bytes:
    """The whole body; `Problem` as of `chunks`."""
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Problem("wrong-form", "Content-Encoding: such a body is read as it is, not packed")
    return b"".join([piece async for piece in chunks(request, most, seconds)])


async def keep(request: Request, place: Path, most: float, seconds: float = TIMEOUT) -> Kept:
    """Write the body to a new file, which outlives a power cut; `Problem` as of `chunks`.

    What is gzip stays so; it is unpacked once to see that it does not grow beyond `most` MB.
    """
    digest, size, packed = hashlib.sha256(), 0, None
    with place.open("xb") as file:
        async for piece in chunks(request, most, seconds):
            if not size and piece[:2] == _GZIP:
                packed = Unpacked(most)
            if packed is not None:
                await asyncio.to_thread(packed.add, piece)
            digest.update(piece)
            size += len(piece)
            file.write(piece)
        await asyncio.to_thread(_sync, file.fileno(), file.flush)
    return Kept(digest.hexdigest(), size)


def _sync(number: int, flush: object) -> None:
    if callable(flush):
        flush()
    os.fsync(number)


class Unpacked:
    """Counts what packed bytes unpack to, and keeps none of it."""

    def __init__(self, most: float) -> None:
        self._most = most
        self._size = 0
        self._stream = zlib.decompressobj(wbits=31)

    def add(self, piece: bytes) -> None:
        """Take in some; `Problem` where they unpack to too much. Their reader tells of damage."""
        try:
            while piece:
                self._size += len(self._stream.decompress(piece, _PIECE))
                _check(self._size, self._most * MEGA, self._most)
                piece = self._stream.unconsumed_tail
                if self._stream.eof:
                    piece = self._stream.unused_data
                    self._stream = zlib.decompressobj(wbits=31)
        except zlib.error:
            pass
