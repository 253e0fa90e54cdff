"""Work that may block, one piece after another, beside an event loop."""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Generic, TypeVar

_Piece = TypeVar("_Piece")


class Worker(Generic[_Piece]):
    """A thread that begins with its first piece of work, and for which no process stays alive.

    Args:
        work: what is done with each piece; must not raise.
    """

    def __init__(self, work: Callable[[_Piece], None]) -> None:
        self._work = work
        self._pieces: SimpleQueue[_Piece | None] = SimpleQueue()
        self._begun = False

    def put(self, piece: _Piece) -> None:
        """Have this done, too, after all before it.

        Raises:
            RuntimeError: there can be no more threads.
        """
        if not self._begun:
            # Daemonic: nobody waits for work that hangs.
            Thread(target=self._run, name="judge-review-hook", daemon=True).start()
            self._begun = True
        self._pieces.put(piece)

    def stop(self) -> None:
        """Let the thread end once it has done what was put before."""
        self._pieces.put(None)

    def _run(self) -> None:
        while (piece := self._pieces.get()) is not None:
            self._work(piece)
