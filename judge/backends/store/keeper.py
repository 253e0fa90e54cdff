"""What keeps texts by key and blocks while it does: a file here, or a server that many share."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from judge.errors import RunError


class Unkept(RunError):
    """Nothing is kept just now, nor found perhaps; who holds what was paid for may go on."""


class Keeper(Protocol):
    """Keeps texts by key; each use blocks, on whatever thread."""

    @property
    def place(self) -> str:
        """Where, as messages say it."""

    @property
    def trouble(self) -> str:
        """What is the matter where it raises `Unkept`, as it is told at the end."""

    def get(self, keys: Sequence[str], /) -> dict[str, str]:
        """The texts known for these keys; a missing key is absent."""

    def put(self, texts: Mapping[str, str], /) -> None:
        """Keep all of these in one transaction, or none."""

    def rows(self) -> Iterator[tuple[str, str]]:
        """Every key and its text."""

    @property
    def size(self) -> int:
        """Bytes that they take."""

    def clear(self) -> int:
        """Remove every row, and tell how many there were."""

    def close(self) -> None:
        """Let go of it for good; a second time does nothing."""
