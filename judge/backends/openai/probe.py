"""The question before the first one: what does this server take?"""

import asyncio
import logging
import re
from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from judge.backends.openai.client import Connection
from judge.backends.openai.failures import Failure
from judge.backends.openai.model import Capabilities, read_completion, recall, remember
from judge.errors import JudgeUnavailable
from judge.protocols import Store
from judge.records import ChatRequest, UnscoredReason

_LOG: Final = logging.getLogger("judge")
_ATTEMPTS: Final = 3
"""Enough where nobody answers at all: a server that is about to start is not waited for."""
_OWN_FAULT: Final = 500
"""From this status on it is the server that failed."""
_MAX_TOKENS: Final = 256
"""Enough to see that the options are taken; few enough for a model that never ends by itself."""
_STATUSES: Final = frozenset({400, 422, 500})
_CUT_OFF: Final = re.compile(
    r"output limit was reached|could not finish the message", re.IGNORECASE
)

# The word JSON has to be there: OpenAI refuses json_object without it.
_SYSTEM: Final = "Reply with JSON alone, in the shape you are given."
_USER: Final = 'Reply with the shortest JSON object of that shape, such as {"verdicts": []}.'


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


async def settle(
    connection: Connection,
    model: str,
    schema: Mapping[str, JsonValue],
    memory: Store | None,
) -> Capabilities:
    """What the server takes for this model: remembered from an earlier run, else asked now.

    Starts with all options and steps down wherever the server refuses one by name. Each step
    leaves less to refuse, so that it ends after ten requests at most, retries aside.

    Args:
        connection: to the server.
        model: as the server knows it.
        schema: of the replies to come.
        memory: where the result is kept; null asks each time.

    Raises:
        JudgeUnavailable: the server cannot be reached, or refuses what no option explains.
    """
    known = await recall(memory, connection.base_url, model)
    if known is not None:
        return known
    request = ChatRequest(
        system=_SYSTEM, user=_USER, reply_schema=dict(schema), max_tokens=_MAX_TOKENS
    )
    settled = Capabilities()
    watch = Watch(connection, model, "--model", "chat")
    while isinstance(
        outcome := await _ask(connection, settled.body(model, request), watch), Failure
    ):
        if _cut_off(outcome):
            break
        field = _refused(outcome, settled.body(model, request))
        less = settled.without(field) if field else None
        if less is None:
            raise watch.hopeless(outcome)
        settled = less
    else:
        settled = settled.model_copy(update={"served": outcome})
    await remember(memory, connection.base_url, model, settled)
    return settled


async def _ask(
    connection: Connection, body: Mapping[str, JsonValue], watch: Watch
) -> str | Failure:
    """The model that the server says has answered, or what it says instead."""
    exchange = await connection.ask(
        "/chat/completions",
        body,
        lambda content: read_completion(content).model,
        deadline=watch.start(),
        final=lambda failure: _refused(failure, body) is not None or watch.gives_up(failure),
    )
    return exchange.outcome


def _refused(failure: Failure, body: Mapping[str, JsonValue]) -> str | None:
    refusal = failure.refusal
    if refusal is None or refusal.status not in _STATUSES:
        return None
    return refusal.field(body)


def _cut_off(failure: Failure) -> bool:
    """Whether a reasoning model ran out of tokens: its options were taken, then."""
    refusal = failure.refusal
    return refusal is not None and bool(_CUT_OFF.search(refusal.message))
