"""A check of everything that a run needs: cache, disk, server, model, context length."""

import os
import secrets
import shutil
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Final, Literal, NamedTuple

from judge import compose
from judge.backends.store.cache import cache_folder, open_store
from judge.config import Config
from judge.errors import JudgeError
from judge.judges.prompted import THINKING_TOKENS
from judge.records import ChatFailure, ChatReply, ChatRequest
from judge.text.fold import estimate_tokens

State = Literal["passed", "failed", "skipped"]

_ROOM: Final = 500 * 2**20
"""Bytes that should be free for the cache and the run folder."""
_REPLY: Final = 256
"""More tokens than two words in JSON need."""
_OFFLINE: Final = {
    "similarity": "similarity, for no language model is named: --model",
    "nli": "the NLI model on this machine",
}
_SYSTEM: Final = "Reply with JSON alone, in the shape you are given."
_SCHEMA: Final = {
    "type": "object",
    "properties": {"first": {"type": "string"}, "last": {"type": "string"}},
    "required": ["first", "last"],
    "additionalProperties": False,
}


class Finding(NamedTuple):
    """The result of one check."""

    name: str
    """The name of the check."""
    state: State
    text: str
    """The finding, and the next step if the check failed."""


async def examine(config: Config) -> AsyncGenerator[Finding]:
    """Check everything that a run with these settings needs; yield each result as it is known.

    A language model is sent about three requests, one of them of `max_evidence_tokens` tokens.
    """
    has_cache = config.cache and config.asks_model
    yield await _cache(config)
    yield _disk(cache_folder(config) if has_cache and config.cache_url is None else Path())
    if not config.asks_model:
        yield Finding("judge", "passed", _OFFLINE[config.offline])
        return
    try:
        async with compose.open_model(config) as served:
            options = ", ".join(served.options)
            address = compose.address(config)
            text = f"{config.model} answers at {address} as {served.name or '?'}, takes {options}"
            yield Finding("server and model", "passed", text)
            yield Finding("context length", *await _context(config, served))
    except JudgeError as error:
        yield Finding("server and model", "failed", str(error))


async def _cache(config: Config) -> Finding:
    if not (config.cache and config.asks_model):
        text = "no verdicts are kept: only a language model's are, with --cache"
        return Finding("cache", "skipped", text)
    try:
        async with open_store(config):
            pass  # entering it shows that it can be written
    except JudgeError as error:
        return Finding("cache", "failed", str(error))
    place = config.cache_url or cache_folder(config)
    return Finding("cache", "passed", f"{place} can be written")


def _disk(folder: Path) -> Finding:
    place = folder.absolute()
    while not os.path.exists(place):  # noqa: PTH110  also false without permission
        place = place.parent
    free = shutil.disk_usage(place).free
    text = f"{free / 1e9:.1f} GB free at {place}"
    if free >= _ROOM:
        return Finding("disk", "passed", text)
    step = f"free {_ROOM / 1e9:.1f} GB, or name another folder: --cache-dir, -o"
    return Finding("disk", "failed", f"only {text}; {step}")


async def _context(config: Config, served: compose.Served) -> tuple[State, str]:
    """Check that a prompt of the greatest length is read from its first line to its last."""
    first, last = secrets.token_hex(4), secrets.token_hex(4)
    size = config.max_evidence_tokens
    request = ChatRequest(
        system=_SYSTEM,
        user=_long_prompt(first, last, size),
        reply_schema=dict(_SCHEMA),
        max_tokens=_REPLY + served.room,
    )
    step = "lower --max-evidence-tokens, or raise the server's context length"
    reply = await served.model.chat(request)
    if isinstance(reply, ChatReply) and reply.finish == "length":
        # Some models think within the limit of a reply; a run gives a cut reply as much.
        most = config.max_reply_tokens or max(2 * request.max_tokens, THINKING_TOKENS)
        reply = await served.model.chat(request.model_copy(update={"max_tokens": most}))
    if isinstance(reply, ChatFailure):
        return "failed", f"a prompt of {size} tokens was not answered ({reply.detail}); {step}"
    if first in reply.text and last in reply.text:
        seconds = f"{reply.seconds:.1f} s"
        text = f"a prompt of {reply.prompt_tokens} tokens was read to its end, in {seconds}"
        return "passed", text
    return "failed", (
        f"the model did not repeat the first and the last word of a prompt of {size} tokens, as if "
        f"the server cut it; {step}, or take another model"
    )


def _long_prompt(first: str, last: str, size: int) -> str:
    """Return a prompt of about `size` tokens that asks for words of its first and last lines."""
    opening = f"The first word to remember is {first}.\n"
    ending = f'The last word to remember is {last}.\nReply {{"first": …, "last": …}} with both.'
    rest = size - estimate_tokens(opening + ending)
    line = "The box on the shelf holds old letters.\n"
    return opening + line * -(-rest // estimate_tokens(line)) + ending
