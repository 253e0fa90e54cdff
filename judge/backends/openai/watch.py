"""The first request to a server: when it gives up, and the error that it ends with."""

import asyncio
import logging
from typing import Final

from judge.backends.openai.client import LAST, Connection, unavailable
from judge.backends.openai.failures import OWN_FAULT, Failure
from judge.errors import JudgeUnavailable, JudgeUnhealthy
from judge.records import UnscoredReason

_LOG: Final = logging.getLogger("judge")
_UNANSWERED: Final = 3
"""The most attempts of the first request without any response and without patience."""
_ELSEWHERE: Final = range(300, 400)


class Watch:
    """The first request: it gives up sooner than others, and logs once that it is retried.

    `option` names the model, `purpose` is a verb for its task.
    """

    def __init__(self, connection: Connection, model: str, option: str, purpose: str) -> None:
        self._connection = connection
        self._model = model
        self._option = option
        self._purpose = purpose
        self._told = False
        self._failed = 0
        self._begun = asyncio.get_running_loop().time()
        self._end = 0.0

    def start(self) -> float:
        """The deadline of a request that is sent now, on the loop's clock: one attempt's time.

        Where that is longer, the time for which a server may be gone.
        """
        self._failed = 0
        policy = self._connection.policy
        now = asyncio.get_running_loop().time()
        self._end = now + policy.timeout
        return max(self._end, now + policy.patience + LAST) if policy.patience else self._end

    def gives_up(self, failure: Failure) -> bool:
        """Whether the request ends with this failure of an attempt."""
        self._failed += 1
        allowed = self._connection.policy.attempts
        if failure.refusal is None:
            allowed = min(allowed, _UNANSWERED)
        now = asyncio.get_running_loop().time()
        limited = failure.reason is UnscoredReason.RATE_LIMITED
        patience = self._connection.policy.patience if failure.gone else 0.0
        if not (limited or patience) and self._failed >= allowed:
            return True
        if limited:
            asked = failure.refusal.wait if failure.refusal else None
            late = min(self._end, self._begun + self._connection.policy.deadline)
            if now + (asked or 0.0) >= late:
                return True
        if not self._told and now < self._end:
            self._told = True
            text = "no answer yet from %s (%s); trying again%s"
            long = f" for {patience:g} s (--patience)" if patience else ""
            _LOG.info(text, self._connection.base_url, failure.detail, long)
        return False

    def hopeless(self, failure: Failure) -> JudgeUnavailable:
        """The error that says what to do about the last failure."""
        if failure.reason is UnscoredReason.RATE_LIMITED:
            step = "wait, then try again, or set OPENAI_API_KEY to a key with a higher limit"
        elif failure.refusal is None and failure.reason is UnscoredReason.SERVER_ERROR:
            step = "is --base-url right? does a proxy change what the server says?"
        elif failure.refusal is None:
            step = "is the server running? is --base-url right?"
        elif failure.refusal.status in _ELSEWHERE:
            step = "if another address is right, name it with --base-url"
        elif failure.refusal.status >= OWN_FAULT:
            step = "the server has trouble of its own; see its log, or try again later"
        else:
            step = f"is --base-url right, and can this model {self._purpose} ({self._option})?"
        error = unavailable(self._connection.base_url, self._model, f"{failure.detail}; {step}")
        limited = failure.reason is UnscoredReason.RATE_LIMITED
        return JudgeUnhealthy(str(error)) if limited else error
