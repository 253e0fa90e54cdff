"""The process of a worker, from its parent's side: places go in, reports come out."""

import asyncio
import sys
from collections.abc import Callable
from typing import Final

from judge.service.admission import Slots
from judge.service.worker import ASK, LEAVE, Report, Task

_STOP: Final = 15.0
"""Seconds for a worker to end in order."""


class WorkerProcess:
    """Judges one batch in a process of its own.

    Args:
        task: what it is to do.
        slots: where it takes places for answers in flight.
        told: is called with each report.
    """

    def __init__(self, task: Task, slots: Slots, told: Callable[[Report], None]) -> None:
        self._task = task
        self._slots = slots
        self._told = told
        self._held = 0
        self._stopping = False
        self._process: asyncio.subprocess.Process | None = None

    async def run(self) -> int:
        """Start it and see to it until it ends; returns its exit code."""
        pipe = asyncio.subprocess.PIPE
        command = (sys.executable, "-P", "-m", "judge.service.worker")
        self._process = process = await asyncio.create_subprocess_exec(
            *command, stdin=pipe, stdout=pipe, start_new_session=True
        )
        self._send(f"{self._task.model_dump_json()}\n".encode())
        if self._stopping:
            self.stop()
        try:
            while process.stdout is not None and (line := await process.stdout.readline()):
                if line.startswith(b"{"):
                    self._told(Report.model_validate_json(line))
                else:
                    self._sort(line.decode())
        finally:
            self._slots.forget(self._take)
            for _ in range(self._held):
                self._slots.give_back()
            self.stop()
            code = await process.wait()
        return code

    def _sort(self, signs: str) -> None:
        for sign in signs:
            if sign == ASK:
                self._slots.want(self._take)
            elif sign == LEAVE and self._held:
                self._held -= 1
                self._slots.leave()

    def _take(self) -> None:
        self._held += 1
        self._send(b".")

    def _send(self, data: bytes) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(data)

    def stop(self) -> None:
        """Have it end in order, and by force where that takes long."""
        first, self._stopping = not self._stopping, True
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
        if first:
            asyncio.get_running_loop().call_later(_STOP, self._kill)

    def _kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
