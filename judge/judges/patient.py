"""The judge with a clock: one deadline for all that is done about an answer."""

import asyncio

from judge.errors import ConfigError
from judge.protocols import Judge
from judge.records import JudgeRequest, Judgment


class PatientJudge:
    """Gives each request a deadline, unless it bears one; the judges inside keep to it.

    It stands outermost, so that waiting, retries, windows and a second judge share the time.

    Args:
        inner: who judges.
        seconds: how long an answer may take, more than 0.

    Raises:
        ConfigError: `seconds` is not more than 0.
    """

    def __init__(self, inner: Judge, seconds: float) -> None:
        if not seconds > 0:
            raise ConfigError(f"seconds must be more than 0, not {seconds!r}; try 600")
        self._inner = inner
        self._seconds = seconds

    @property
    def signature(self) -> str:
        """The inner judge's: how long one waits makes no verdict another."""
        return self._inner.signature

    async def judge(self, request: JudgeRequest) -> Judgment:
        """What the inner judge says by then.

        Raises:
            JudgeUnavailable: from the inner judge.
        """
        if request.deadline is None:
            deadline = asyncio.get_running_loop().time() + self._seconds
            request = request.model_copy(update={"deadline": deadline})
        return await self._inner.judge(request)
