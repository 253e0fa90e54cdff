"""A check of all that a run needs, before it is begun."""

import os
import secrets
import shutil
import tomllib
from collections.abc import AsyncGenerator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal, NamedTuple
from urllib.parse import urlsplit

from pydantic import Field

from judge import compose
from judge.backends.store.cache import cache_folder, open_store
from judge.config import Config, Endpoint
from judge.errors import JudgeError, PromptMismatch
from judge.evaluator import Evaluator
from judge.judges.prompted import MOST_REPLY_TOKENS
from judge.messages import Lang
from judge.prompt import verify_prompts
from judge.records import (
    ChatFailure,
    ChatReply,
    ChatRequest,
    Chunk,
    Outcome,
    Record,
    Sample,
    Support,
    Unscored,
    Verdict,
)
from judge.text.fold import estimate_tokens

State = Literal["passed", "failed", "skipped"]

_ROOM: Final = 500 * 2**20
"""Bytes that ought to be free where verdicts and runs are kept."""
_SKEW: Final = 60.0
"""Seconds by which a clock may be off: from there on keys and certificates begin to fail."""
_REPLY: Final = 256
"""Tokens that two words and the JSON around them never need."""
_ATTEMPTS: Final = 2
"""At a call of the trial: who looks is waiting."""
_SYSTEM: Final = "Reply with JSON alone, in the shape you are given."
_SCHEMA: Final = {
    "type": "object",
    "properties": {"first": {"type": "string"}, "last": {"type": "string"}},
    "required": ["first", "last"],
    "additionalProperties": False,
}
_TRIAL: Final = (
    Sample(
        qid="en",
        query="When does the museum open, and what is the ticket?",
        answer="The museum opens at nine in the morning. A ticket costs fourteen euros.",
        chunks=(
            Chunk(
                chunk_id="1",
                text="The museum opens at nine in the morning. A ticket costs eight euros.",
            ),
        ),
    ),
    Sample(
        qid="zh",
        query="游泳馆的票价是多少？",
        answer="游泳馆成人票每张三十元。儿童票每张二十元。",
        chunks=(Chunk(chunk_id="1", text="游泳馆成人票每张三十元。儿童票每张十五元。"),),
    ),
)
"""Of each answer its chunk says the first sentence, and denies the second."""


class Finding(NamedTuple):
    """What became of one check."""

    name: str
    """What was looked at: a key of `name` in the texts of `doctor`."""
    state: State
    text: str
    """What was found, and where it failed what to do: a key of `said`."""
    values: Mapping[str, object] = {}
    """What fills that text in."""


class Recipe(Record):
    """What to set for one kind of server, and what its OpenAI-compatible door does not do."""

    name: str
    """What it is called."""
    at: tuple[str, ...]
    """Ends of a dot, its host and the port, such as `.api.openai.com` or `:11434`."""
    endpoint: Endpoint | None = None
    """The only one it is about; null where it is about any."""
    command: str
    """A command that looks whether all is well."""
    read: str
    """Where that is documented."""
    set_: Mapping[Lang, str] = Field(alias="set")
    """What to set."""
    differs: Mapping[Lang, str]
    """What that door does not do, or does in its own way."""


@cache
def recipes() -> tuple[Recipe, ...]:
    """All that ship."""
    source = files("judge").joinpath("data", "recipes.toml").read_text("utf-8")
    return tuple(map(Recipe.model_validate, tomllib.loads(source)["recipe"]))


def recipe_for(config: Config) -> Recipe | None:
    """The recipe for the server that is asked; None where its address tells nothing."""
    host = urlsplit(compose.address(config)).netloc.lower()
    right = (each for each in recipes() if each.endpoint in {None, config.endpoint})
    return next((each for each in right if f".{host}".endswith(each.at)), None)


async def examine(config: Config, *, long: bool = True) -> AsyncGenerator[Finding]:
    """What a run with these settings needs, checked one after another, as each is known.

    Where a language model judges, it is sent some five requests, one of them of
    `max_evidence_tokens` tokens unless `long` is false. Nothing of it is kept.
    """
    yield _prompts()
    kept = config.cache and config.asks_model
    yield await _cache(config)
    yield _disk(cache_folder(config) if kept and config.cache_url is None else Path())
    if not config.asks_model:
        yield Finding("judge", "passed", config.offline)
    else:
        usable = True
        async for found in _model(config, long=long):
            usable &= found.name != "server" or found.state == "passed"
            yield found
        if not usable:
            yield Finding("trial", "skipped", "no_model")
            return
    yield await _trial(config)


def _prompts() -> Finding:
    try:
        return Finding("prompts", "passed", "prompts", {"count": len(verify_prompts())})
    except PromptMismatch as error:
        return Finding("prompts", "failed", "error", {"error": error})


async def _cache(config: Config) -> Finding:
    if not (config.cache and config.asks_model):
        return Finding("cache", "skipped", "no_cache")
    try:
        async with open_store(config):
            pass  # it can be written, which is seen on entering
    except JudgeError as error:
        return Finding("cache", "failed", "error", {"error": error})
    return Finding("cache", "passed", "cache", {"folder": config.cache_url or cache_folder(config)})


def _disk(folder: Path) -> Finding:
    place = folder.absolute()
    while not os.path.exists(place):  # noqa: PTH110  false, too, where nobody may look
        place = place.parent
    free = shutil.disk_usage(place).free
    enough = free >= _ROOM
    values = {"folder": place, "free": f"{free / 1e9:.1f}", "room": f"{_ROOM / 1e9:.1f}"}
    return Finding("disk", "passed" if enough else "failed", f"disk_{enough}".lower(), values)


async def _model(config: Config, *, long: bool) -> AsyncGenerator[Finding]:
    """Whether the server, its model, its options and its context length are as a run needs them."""
    try:
        async with compose.open_model(config) as served:
            values = {
                "model": config.model,
                "url": compose.address(config),
            }
            values["served"] = served.name or "?"
            yield Finding("server", "passed", "server", values)
            yield Finding("options", "passed", "options", {"options": ", ".join(served.options)})
            yield _clock(served.date)
            if long:
                yield await _context(config, served)
            else:
                yield Finding("context", "skipped", "no_long")
    except JudgeError as error:
        yield Finding("server", "failed", "error", {"error": error})


def _clock(date: str) -> Finding:
    """How far the clock here and the server's are apart; the server tells whole seconds."""
    try:
        there = parsedate_to_datetime(date)
        # HTTP knows no zone but GMT, and Python none where that is called -0000.
        there = there.astimezone(UTC) if there.tzinfo else there.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return Finding("clock", "skipped", "no_date")
    apart = abs((datetime.now(UTC) - there).total_seconds())
    right = apart <= _SKEW
    values = {"seconds": f"{apart:.0f}"}
    return Finding("clock", "passed" if right else "failed", f"clock_{right}".lower(), values)


async def _context(config: Config, served: compose.Served) -> Finding:
    """Whether a prompt as long as a run's longest is read from its first line to its last."""
    first, last = secrets.token_hex(4), secrets.token_hex(4)
    size = config.max_evidence_tokens
    request = ChatRequest(
        system=_SYSTEM,
        user=_long_prompt(first, last, size),
        reply_schema=dict(_SCHEMA),
        max_tokens=_REPLY + served.room,
    )
    values: dict[str, object] = {"size": size}
    reply = await served.model.chat(request)
    if isinstance(reply, ChatReply) and reply.finish == "length":
        # Some models think within the limit of a reply; a run gives them as much.
        most = config.max_reply_tokens or MOST_REPLY_TOKENS
        reply = await served.model.chat(request.model_copy(update={"max_tokens": most}))
        if isinstance(reply, ChatReply) and reply.finish == "length":
            cut = f"the reply was cut at {most} tokens; see --max-reply-tokens"
            return Finding("context", "failed", "refused", values | {"detail": cut})
    if isinstance(reply, ChatFailure):
        return Finding("context", "failed", "refused", values | {"detail": reply.detail})
    values |= {"tokens": reply.prompt_tokens, "seconds": f"{reply.seconds:.1f}"}
    return Finding("context", *_read(reply, first, last), values)


def _read(reply: ChatReply, first: str, last: str) -> tuple[State, str]:
    ends = (first in reply.text, last in reply.text)
    if all(ends):
        return "passed", "context"
    return "failed", "cut" if any(ends) else "unread"


def _long_prompt(first: str, last: str, size: int) -> str:
    """Lines of about `size` tokens between two that hold a word each, and the question for them."""
    opening = f"The first word to remember is {first}.\n"
    ending = f'The last word to remember is {last}.\nReply {{"first": …, "last": …}} with both.'
    lines, tokens = list[str](), estimate_tokens(opening + ending)
    while tokens < size:
        line = (
            f"Box {len(lines) + 1} stands on shelf {len(lines) % 40 + 1} and holds old letters.\n"
        )
        lines.append(line)
        tokens += estimate_tokens(line)
    return "".join((opening, *lines, ending))


async def _trial(config: Config) -> Finding:
    """Whether two answers get verdicts, and right ones: one sentence of each is denied."""
    plain = {"cache": False, "workers": 1, "correctness": False, "relevance": False}
    plain |= {"attempts": min(config.attempts, _ATTEMPTS)}
    unlimited = {"max_tokens": None, "max_cost": None}
    outcomes: list[Outcome] = []
    try:
        async with Evaluator(config.model_copy(update=plain | unlimited)) as evaluator:
            async for result in evaluator.evaluate(_TRIAL):
                outcomes += [each.outcome for each in result.sentences]
    except JudgeError as error:
        return Finding("trial", "failed", "error", {"error": error})
    judged = [each for each in outcomes if isinstance(each, Verdict) and not each.fallback_from]
    values: dict[str, object] = {"claims": len(outcomes), "judged": len(judged)}
    if len(judged) < len(outcomes):
        lost = (each.fallback_from if isinstance(each, Verdict) else each for each in outcomes)
        values["why"] = next(
            f"{each.reason}: {each.detail}" for each in lost if isinstance(each, Unscored)
        )
        return Finding("trial", "failed", "unscored", values)
    right = sum((each.support is Support.FULL) is (i % 2 == 0) for i, each in enumerate(judged))
    values["right"] = right
    if right < len(judged):
        return Finding("trial", "failed", "wrong", values)
    return Finding("trial", "passed", "trial", values)
