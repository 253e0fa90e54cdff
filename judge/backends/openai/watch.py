"""How a server is asked for the first time, while the user waits for nothing else."""

import asyncio
import logging
from typing import Final

from judge.backends.openai.connection import Connection
from judge.backends.openai.failures import Failure
from judge.errors import JudgeUnavailable
from judge.records import UnscoredReason

_LOG: Final = logging.getLogger("judge")
_ATTEMPTS: Final = 3
"""Enough where nobody answers at all: a server that is about to start is not waited for."""


_OWN_FAULT: Final = 500
"""From this status on it is the server that failed."""


class Watch:
    """Gives up sooner than in the middle of a run, and says once that it takes longer.

    Args:
        connection: to the server that is asked.
        model: as the server knows it.
        option: which option names the model.
        purpose: what the model must be able to do, in words.
    """

    def __init__(self, connection: Connection, model: str, option: str, purpose: str) -> None:
        self._connection = connection
        self._model = model
        self._option = option
        self._purpose = purpose
        self._told = False
        self._failed = 0
        self._end = 0.0

    def start(self) -> float:
        """The deadline of a request that is sent now: one attempt's time, on the loop's clock."""
        policy = self._connection.policy
        self._failed = 0
        self._end = asyncio.get_running_loop().time() + policy.timeout
        return self._end

    def gives_up(self, failure: Failure) -> bool:
        """Whether the request ends with this failure of an attempt."""
        self._failed += 1
        allowed = self._connection.policy.attempts
        if failure.refusal is None:
            allowed = min(allowed, _ATTEMPTS)
        if failure.reason is not UnscoredReason.RATE_LIMITED and self._failed >= allowed:
            return True
        if not self._told and asyncio.get_running_loop().time() < self._end:
            self._told = True
            _LOG.info(
                "no answer yet from %s (%s); trying again",
                self._connection.base_url,
                failure.detail,
            )
        return False

    def hopeless(self, failure: Failure) -> JudgeUnavailable:
        """The error that says what to do about the last failure."""
        if failure.reason is UnscoredReason.RATE_LIMITED:
            step = "try again later"
        elif failure.refusal is None:
            step = "is the server running? is --base-url right?"
        elif failure.refusal.status >= _OWN_FAULT:
            step = "the server has trouble of its own; see its log, or try again later"
        else:
            step = f"is --base-url right, and can this model {self._purpose} ({self._option})?"
        return self._connection.unavailable(self._model, f"{failure.detail}; {step}")
