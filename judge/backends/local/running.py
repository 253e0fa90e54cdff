"""Running a loaded model on its thread; a breakdown is a value."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

from judge.records import Unscored, UnscoredReason

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


async def run(worker: Executor, work: Callable[[_Given], _Made], given: _Given) -> _Made | Unscored:
    """What `work` makes of `given` on the worker's thread.

    A model that breaks down, as for want of memory, is `Unscored(server_error)`, in one line.
    """
    try:
        return await asyncio.get_running_loop().run_in_executor(worker, work, given)
    except Exception as error:  # noqa: BLE001  libraries and devices fail as they please
        said = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
        return Unscored(
            reason=UnscoredReason.SERVER_ERROR,
            detail=f"the model failed: {said or type(error).__name__}",
        )
