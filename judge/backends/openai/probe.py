"""The question before the first one: what does this server take?"""

import re
from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from judge.backends.openai.capabilities import Capabilities, recall, remember
from judge.backends.openai.completion import read_completion
from judge.backends.openai.connection import Connection
from judge.backends.openai.failures import Failure
from judge.backends.openai.watch import Watch
from judge.protocols import Store
from judge.records import ChatRequest

_MAX_TOKENS: Final = 256
"""Enough to see that the options are taken; few enough for a model that never ends by itself."""
_STATUSES: Final = frozenset({400, 422, 500})
_CUT_OFF: Final = re.compile(
    r"output limit was reached|could not finish the message", re.IGNORECASE
)

# The word JSON has to be there: OpenAI refuses json_object without it.
_SYSTEM: Final = "Reply with JSON alone, in the shape you are given."
_USER: Final = 'Reply with the shortest JSON object of that shape, such as {"verdicts": []}.'


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
    known = recall(memory, connection.base_url, model)
    if known is not None:
        return known
    request = _request(schema)
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
    remember(memory, connection.base_url, model, settled)
    return settled


def _request(schema: Mapping[str, JsonValue]) -> ChatRequest:
    return ChatRequest(
        system=_SYSTEM, user=_USER, reply_schema=dict(schema), max_tokens=_MAX_TOKENS
    )


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
