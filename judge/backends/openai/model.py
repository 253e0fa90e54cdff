"""Find out the options that a server accepts for a model, and ask the model."""

import math
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from judge.backends.openai.chat import (
    PATHS,
    Capabilities,
    prompt_tokens,
    read_completion,
    recall,
    remember,
    reply_limit,
)
from judge.backends.openai.client import Connection, Exchange, hopeless, unavailable
from judge.backends.openai.failures import Failure
from judge.backends.openai.server import Server
from judge.config import Config
from judge.protocols import Store
from judge.records import ChatFailure, ChatReply, ChatRequest, UnscoredReason

_REFUSES_FIELD: Final = frozenset({400, 422})
_SAYS_NO: Final = frozenset(range(400, 500)) - {408, 409, 429}
_PROBE_TOKENS: Final = 256
"""Enough to see that the options are taken; few enough for a model that never ends by itself."""
_CUT_OFF: Final = re.compile(
    r"output limit was reached|could not finish the message", re.IGNORECASE
)
_FIRST_REPLY_TOKENS: Final = 300
"""The estimate for a reply before one has arrived."""
# The word JSON has to be there: OpenAI refuses json_object without it.
_SYSTEM: Final = "Reply with JSON alone, in the shape you are given."
_USER: Final = 'Reply with the shortest JSON object of that shape, such as {"verdicts": []}.'

Send = Callable[[Mapping[str, JsonValue], float | None], Awaitable[Exchange[ChatReply]]]
"""Sends the body of a request, until a deadline on the event loop's clock; None for no deadline."""


async def settle(
    connection: Connection,
    model: str,
    schema: Mapping[str, JsonValue],
    memory: Store | None,
    wanted: Capabilities,
) -> Capabilities:
    """Return the options that the server accepts: remembered from an earlier run, or probed now.

    Probing begins with the `wanted` options and leaves out each one that the server refuses. It
    raises JudgeUnavailable if the server cannot be reached, or refuses what no option explains.
    """
    known = await recall(memory, connection.server.base_url, model, wanted)
    if known is not None:
        return known
    request = ChatRequest(
        system=_SYSTEM, user=_USER, reply_schema=dict(schema), max_tokens=_PROBE_TOKENS
    )
    option = "--model" if wanted.endpoint == "chat" else "--model and --endpoint"
    more = ", --reasoning-effort, --extra-body" if wanted.extra else ""
    settled = wanted
    while True:
        body = settled.body(model, request)
        path = PATHS[settled.endpoint]
        exchange = await connection.ask(path, body, read_completion, option=option, first=True)
        outcome = exchange.outcome
        if isinstance(outcome, ChatReply):
            settled = settled.model_copy(update={"served": outcome.model})
            break
        if _CUT_OFF.search(outcome.message):
            break  # a reasoning model ran out of tokens: it took the options, then
        field = outcome.field(body) if outcome.status in {*_REFUSES_FIELD, 500} else None
        less = settled.without(field) if field else None
        if less is None:
            raise hopeless(outcome, connection.server.base_url, model, option + more)
        settled = less
    await remember(memory, connection.server.base_url, model, settled)
    return settled


async def send_request(
    connection: Connection,
    settled: Capabilities,
    budget: "Budget | None",
    body: Mapping[str, JsonValue],
    deadline: float | None,
) -> Exchange[ChatReply]:
    """Post a request to a server, unless the budget is spent.

    A `partial` with the first three arguments is a `Send`.
    """
    tokens, prompt, reply = prompt_tokens(body) if budget else 0, 0, 0
    if budget and not budget.begin(tokens):
        detail = f"the budget is spent ({budget.over})"
        return Exchange(Failure(UnscoredReason.BUDGET, detail, again=False))
    try:
        exchange = await connection.ask(
            PATHS[settled.endpoint],
            body,
            read_completion,
            deadline=deadline,
            spent=lambda found: found.prompt_tokens + found.reply_tokens,
        )
        if isinstance(found := exchange.outcome, ChatReply):
            prompt, reply = found.prompt_tokens, found.reply_tokens
    finally:
        if budget:
            budget.end(tokens, prompt, reply)
    return exchange


async def count_request(
    counts: Counter[str],
    body: Mapping[str, JsonValue],
    deadline: float | None,  # noqa: ARG001  nothing is waited for
) -> Exchange[ChatReply]:
    """Count a request and its tokens, a reply as a fifth of its limit; send nothing."""
    reply_tokens = reply_limit(body) // 5
    counts.update(calls=1, prompt_tokens=prompt_tokens(body), reply_tokens=reply_tokens)
    return Exchange(Failure(UnscoredReason.BUDGET, "nothing is sent", again=False))


class Budget:
    """Allows requests until the next one might exceed the budget of the settings, and then none.

    Shorter requests that would still fit are refused too: they would be a biased sample.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._prompt_tokens = self._reply_tokens = self._replies = 0
        self._reserved_tokens = self._in_flight = 0
        self.over = ""
        """The option whose limit was reached; empty before that."""

    def begin(self, tokens: int) -> bool:
        """Reserve a request of `tokens` and its reply; return whether the budget allows it."""
        reply = _FIRST_REPLY_TOKENS
        if self._replies:
            reply = math.ceil(self._reply_tokens / self._replies)
        prompts = self._prompt_tokens + self._reserved_tokens + tokens
        replies = self._reply_tokens + (self._in_flight + 1) * reply
        config, cost = self._config, self._config.cost(prompts, replies)
        if config.max_tokens is not None and prompts + replies > config.max_tokens:
            self.over = self.over or f"--max-tokens {config.max_tokens}"
        if config.max_cost is not None and cost is not None and cost > config.max_cost:
            self.over = self.over or f"--max-cost {config.max_cost:g}"
        if self.over:
            return False
        self._reserved_tokens += tokens
        self._in_flight += 1
        return True

    def end(self, tokens: int, prompt: int = 0, reply: int = 0) -> None:
        """Release a reservation and count the tokens used; both are 0 if no reply came."""
        self._reserved_tokens -= tokens
        self._in_flight -= 1
        self._prompt_tokens += prompt
        self._reply_tokens += reply
        self._replies += reply > 0


@dataclass(eq=False)
class ChatModel:
    """A `judge.protocols.Model` that is asked by requests in OpenAI's form."""

    server: Server
    model: str
    settled: Capabilities
    """The options that `settle` found."""
    memory: Store | None
    """The store that remembers them."""
    send: Send
    later_seed: int = 0
    """A number added to the usual seed, if the server takes one; each repeat has another."""

    def __post_init__(self) -> None:
        self.signature = self._full_signature()
        """`llm:MODEL@HOST|…`, then the options; it names the model that served last."""

    def _full_signature(self) -> str:
        return self.settled.signature(self.model, self.server.host, self.later_seed)

    async def chat(self, request: ChatRequest) -> ChatReply | ChatFailure:
        """Ask once, retries included. A failure of the world is a value.

        Raises:
            JudgeUnavailable: wrong key, unknown model, exhausted quota, or the server no longer
                takes an option that was settled: nothing steps down in the middle of a run.
        """
        body = self.settled.body(self.model, request, self.later_seed)
        exchange = await self.send(body, request.deadline)
        outcome, seconds, retries = exchange.outcome, exchange.seconds, exchange.retries
        if isinstance(outcome, Failure):
            return ChatFailure(
                reason=await self._reason(outcome, body),
                detail=outcome.detail,
                seconds=seconds,
                retries=retries,
                refused=outcome.status in _SAYS_NO or outcome.has_no_reply,
            )
        await self._note_model(outcome.model)
        named = {"model": outcome.model or self.model, "seconds": seconds, "retries": retries}
        return outcome.model_copy(update=named)

    async def _reason(self, failure: Failure, body: Mapping[str, JsonValue]) -> UnscoredReason:
        """Return the reason of a failure; raise JudgeUnavailable if an option is refused."""
        field = failure.field(body) if failure.status in _REFUSES_FIELD else None
        # A request too long or filtered may name a field as well, and refuses none.
        if failure.reason is not UnscoredReason.SERVER_ERROR or field is None:
            return failure.reason
        await remember(
            self.memory, self.server.base_url, self.model, self.settled, still_valid=False
        )
        self.memory = None  # a later reply must not store these options again
        if field == self.settled.limit:
            return UnscoredReason.TRUNCATED  # the limit may be too high: a lower one is tried
        # A message alone may quote what is judged: that is no reason to stop all the others.
        if field == failure.param:
            raise unavailable(
                self.server.base_url,
                self.model,
                f"the server no longer takes {field!r} ({failure.detail}); the same command will "
                "find out anew what it takes",
            )
        return failure.reason

    async def _note_model(self, served: str) -> None:
        """Remember a change of the serving model."""
        if served not in {"", self.settled.served}:
            self.settled = self.settled.model_copy(update={"served": served})
            self.signature = self._full_signature()
            await remember(self.memory, self.server.base_url, self.model, self.settled)
