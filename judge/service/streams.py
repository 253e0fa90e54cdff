"""Streams: the results of a batch as they stand on disk, while it runs and after."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from io import BufferedReader
from typing import Final

from judge.files.runs import PART, RESULTS
from judge.service.batches import Batch

_BLOCK: Final = 1 << 18
"""Bytes read at a time."""
_BEAT: Final = 1.0
"""Seconds between two looks at a file that nobody told of."""


class Lines:
    """Whole lines of a file, which may grow, from one of them on.

    Args:
        after: lines to pass over.
        most: lines to give at all; None for every one.
    """

    def __init__(self, batch: Batch, after: int, most: int | None) -> None:
        self._batch = batch
        self._pass = after
        self._left = most
        self._file: BufferedReader | None = None
        self._place = 0

    def read(self) -> bytes | None:
        """The next lines; empty where there are none yet, None where none will come."""
        if self._left == 0:
            return None
        if self._file is None and not self._opened():
            return b""
        file = self._file
        if file is None or os.fstat(file.fileno()).st_size < self._place:
            return None  # the last ones were taken back: whoever reads begins anew
        while True:
            block = os.pread(file.fileno(), _BLOCK, self._place)
            end = block.rfind(b"\n") + 1
            if not end and len(block) == _BLOCK:
                block += self._rest()
                end = block.rfind(b"\n") + 1
            if not end:
                return b""
            self._place += end
            if lines := self._wanted(block[:end]):
                return lines

    def _opened(self) -> bool:
        for name in (RESULTS, PART, RESULTS):  # it may be renamed meanwhile
            with suppress(FileNotFoundError):
                self._file = (self._batch.folder / name).open("rb")
                return True
        return False

    def _rest(self) -> bytes:
        """What follows a block in which no line ends."""
        file = self._file
        if file is None:
            return b""
        file.seek(self._place + _BLOCK)
        return file.readline()

    def _wanted(self, block: bytes) -> bytes:
        if self._pass:
            lines = block.splitlines(keepends=True)
            passed = min(self._pass, len(lines))
            self._pass -= passed
            block = b"".join(lines[passed:])
        if self._left is not None:
            lines = block.splitlines(keepends=True)[: self._left]
            self._left -= len(lines)
            block = b"".join(lines)
        return block

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


async def results(
    batch: Batch, after: int, most: int | None, until: Callable[[], bool] | None
) -> AsyncIterator[bytes]:
    """The lines of a batch's results, those to come included unless `until` is None, or holds."""
    lines = Lines(batch, after, most)
    try:
        while True:
            going, news = batch.open and until is not None and not until(), batch.news
            block = await asyncio.to_thread(lines.read)
            if block is None or not (block or going):
                return
            if block:
                yield block
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(_BEAT):
                    await news.wait()
    finally:
        lines.close()
