"""A language model behind an OpenAI-compatible server."""

import logging
from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from judge.backends.openai.capabilities import Capabilities, remember
from judge.backends.openai.completion import read_completion
from judge.backends.openai.connection import Connection
from judge.backends.openai.failures import Failure
from judge.protocols import Store
from judge.records import ChatFailure, ChatReply, ChatRequest, UnscoredReason
from judge.text.fold import estimate_tokens

_LOG: Final = logging.getLogger("judge")
_SPARSE: Final = 8
"""Characters a token stands for at most; English has four or five, Chinese fewer than two."""
_LONG: Final = 4000
"""Characters of a prompt that might not fit."""
_WARNINGS: Final = 20
"""A server that makes up a name for each reply is not to fill the log."""
_REFUSES: Final = frozenset({400, 422})


class OpenAIModel:
    """Asks one model with the options that `settle` found.

    Args:
        connection: to the server; outlives this object.
        model: as the server knows it.
        capabilities: what the server takes.
        memory: where `settle` remembered them, to be corrected once they no longer hold.
        room: tokens for thinking, where the limit covers what a model thinks and what it says.
    """

    def __init__(
        self,
        connection: Connection,
        model: str,
        capabilities: Capabilities,
        memory: Store | None = None,
        *,
        room: int = 16_384,
    ) -> None:
        self._connection = connection
        self._model = model
        self._capabilities = capabilities
        self._memory = memory
        self._weighed = False
        self._told: set[tuple[str, str]] = set()
        self._room = room if capabilities.limit == "max_completion_tokens" else 0

    @property
    def signature(self) -> str:
        """`llm:MODEL@HOST|…`: then the options that the capability probe settled.

        Names the model that served last: another after a reply than before it, where the server
        changed models in between.
        """
        return self._capabilities.signature(self._model, self._connection.host)

    async def chat(self, request: ChatRequest) -> ChatReply | ChatFailure:
        """Ask once, retries included. A failure of the world is a value.

        Raises:
            JudgeUnavailable: wrong key, unknown model, exhausted quota, or the server no longer
                takes an option that was settled: nothing steps down in the middle of a run.
        """
        body = self._capabilities.body(self._model, request)
        body[self._capabilities.limit] = request.max_tokens + self._room
        exchange = await self._connection.ask(
            "/chat/completions", body, read_completion, deadline=request.deadline
        )
        outcome, seconds, retries = exchange.outcome, exchange.seconds, exchange.retries
        if isinstance(outcome, Failure):
            self._check(outcome, body)
            return ChatFailure(
                reason=outcome.reason, detail=outcome.detail, seconds=seconds, retries=retries
            )
        self._compare(outcome.model)
        prompt, reply = outcome.prompt_tokens, outcome.reply_tokens
        self._weigh(prompt, len(request.system) + len(request.user))
        return ChatReply(
            text=outcome.text,
            finish=outcome.finish,
            model=outcome.model or self._model,
            prompt_tokens=(
                estimate_tokens(request.system) + estimate_tokens(request.user)
                if prompt is None
                else prompt
            ),
            reply_tokens=estimate_tokens(outcome.text) if reply is None else reply,
            seconds=seconds,
            retries=retries,
        )

    def _check(self, failure: Failure, body: Mapping[str, JsonValue]) -> None:
        """That the failure is not one of an option: then the next request would fail, too."""
        refusal = failure.refusal
        # A request too long or filtered may name a field as well, and refuses none.
        if failure.reason is not UnscoredReason.SERVER_ERROR or refusal is None:
            return
        if refusal.status not in _REFUSES or refusal.field(body) is None:
            return
        self._forget()
        # A message alone may quote what is judged: that is no reason to stop all the others.
        if field := refusal.named_field(body):
            step = "the same command will find out anew what it takes"
            if field == self._capabilities.limit:
                # It may be taken, and only be too high for a model: no probe finds that out.
                step += ", or try a smaller --max-reply-tokens"
            raise self._connection.unavailable(
                self._model, f"the server no longer takes {field!r} ({failure.detail}); {step}"
            )

    def _compare(self, served: str) -> None:
        before = self._capabilities.served
        if served in {"", before}:
            return
        self._capabilities = self._capabilities.model_copy(update={"served": served})
        remember(self._memory, self._connection.base_url, self._model, self._capabilities)
        # A gateway may go to and fro between two: each way is told once.
        if before and (before, served) not in self._told and len(self._told) < _WARNINGS:
            self._told.add((before, served))
            _LOG.warning(
                "the server now answers with model %r, and no longer with %r", served, before
            )

    def _weigh(self, tokens: int | None, characters: int) -> None:
        """Warn once where a prompt may have been cut, as Ollama does beyond its context length."""
        if not tokens or self._weighed or characters < _LONG or tokens * _SPARSE >= characters:
            return
        self._weighed = True
        _LOG.warning(
            "the server counted %d tokens in a prompt of %d characters; if it cuts prompts, raise "
            "its context length or lower --max-evidence-tokens",
            tokens,
            characters,
        )

    def _forget(self) -> None:
        remember(self._memory, self._connection.base_url, self._model, None)
        # What served since is not to bring it back.
        self._memory = None
