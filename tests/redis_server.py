"""Debian's redis-server on loopback, started and stopped by the test that uses it."""

import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Final, Self

from redis import Redis

BINARY: Final = shutil.which("redis-server")


def free_port() -> int:
    """A port without a listener."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class RedisServer:
    """Runs while its `with` block lasts, keeps nothing on disk, and takes these options."""

    def __init__(self, *options: str) -> None:
        self._options = options
        self._folder = tempfile.TemporaryDirectory(prefix="redis-")
        self._process: subprocess.Popen[str]
        self._port = free_port()
        self.url: str = f"redis://127.0.0.1:{self._port}/0"
        self.socket: str = f"unix://{self._folder.name}/socket"

    def __enter__(self) -> Self:
        place = ("--port", str(self._port), "--bind", "127.0.0.1", "--dir", self._folder.name)
        path = ("--unixsocket", str(Path(self._folder.name) / "socket"))
        alone = ("--save", "", "--appendonly", "no", *self._options)
        command = [BINARY or "redis-server", *place, *path, *alone]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        output: list[str] = []
        for line in self._process.stdout:
            output.append(line)
            if "Ready to accept" in line:
                return self
        self.__exit__()
        raise AssertionError("".join(output))

    def __exit__(self, *_: object) -> None:
        self.close()
        self._folder.cleanup()

    def close(self) -> None:
        """Die, once or again."""
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def client(self) -> "Redis":
        """One of somebody else's."""
        return Redis.from_url(self.socket)
