"""A check of everything that a run needs: prompts, cache, disk, server, model, a trial."""

import os
import secrets
import shutil
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Final, Literal, NamedTuple

from judge import compose
from judge.backends.store.cache import cache_folder, open_store
from judge.config import Config
from judge.errors import JudgeError, PromptMismatch
from judge.evaluator import Evaluator
from judge.judges.prompted import THINKING_TOKENS
from judge.prompt import verify_prompts
from judge.records import (
    ChatFailure,
    ChatReply,
    ChatRequest,
    Chunk,
    Outcome,
    Sample,
    Support,
    UnscoredReason,
    Verdict,
    failure_of,
)
from judge.records.result import ADDED
from judge.text.fold import estimate_tokens

State = Literal["passed", "failed", "skipped"]

_ROOM: Final = 500 * 2**20
"""Bytes that should be free for the cache and the run folder."""
_REPLY: Final = 256
"""More tokens than two words in JSON need."""
_ATTEMPTS: Final = 2
"""Attempts of a call in the trial, because the user is waiting."""
_SERVER: Final = "server and model"
_TRIAL_NAME: Final = "a trial"
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
"""The chunk of each answer supports its first sentence, and contradicts the second."""


class Finding(NamedTuple):
    """The result of one check."""

    name: str
    """The name of the check."""
    state: State
    text: str
    """The finding, and the next step if the check failed."""


async def examine(config: Config, *, long: bool = True) -> AsyncGenerator[Finding]:
    """Check everything that a run with these settings needs; yield each result as it is known.

    A language model is sent about five requests, one of them of `max_evidence_tokens` tokens
    unless `long` is false. Nothing is kept.
    """
    yield _prompts()
    kept = config.cache and config.asks_model
    yield await _cache(config)
    yield _disk(cache_folder(config) if kept and config.cache_url is None else Path())
    if not config.asks_model:
        yield Finding("judge", "passed", _OFFLINE[config.offline])
    else:
        usable = True
        async for found in _model(config, long=long):
            usable &= found.name != _SERVER or found.state == "passed"
            yield found
        if not usable:
            yield Finding(_TRIAL_NAME, "skipped", "there is no model to try")
            return
    yield await _trial(config)


def _prompts() -> Finding:
    try:
        count = len(verify_prompts())
    except PromptMismatch as error:
        return Finding("prompts", "failed", str(error))
    return Finding("prompts", "passed", f"{count} prompts have the pinned bytes")


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
    there = f"{free / 1e9:.1f} GB free at {place}"
    if free >= _ROOM:
        return Finding("disk", "passed", there)
    step = f"free {_ROOM / 1e9:.1f} GB, or name another folder: --cache-dir, -o"
    return Finding("disk", "failed", f"only {there}; {step}")


async def _model(config: Config, *, long: bool) -> AsyncGenerator[Finding]:
    """Check the server, its model, its options and its context length."""
    try:
        async with compose.open_model(config) as served:
            said = f"{config.model} answers at {compose.address(config)} as {served.name or '?'}"
            yield Finding(_SERVER, "passed", said)
            options = ", ".join(served.options)
            yield Finding("reply formats", "passed", f"the server takes {options}")
            if long:
                yield Finding("context length", *await _context(config, served))
            else:
                yield Finding("context length", "skipped", "no long prompt was sent")
    except JudgeError as error:
        yield Finding(_SERVER, "failed", str(error))


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
    prompt = f"a prompt of {size} tokens"
    unanswered = (
        f"{prompt} was not answered ({{}}); lower --max-evidence-tokens, or raise the server's "
        "context length"
    )
    reply = await served.model.chat(request)
    if isinstance(reply, ChatReply) and reply.finish == "length":
        # Some models think within the limit of a reply; a run gives a cut reply as much.
        most = config.max_reply_tokens or max(2 * request.max_tokens, THINKING_TOKENS)
        reply = await served.model.chat(request.model_copy(update={"max_tokens": most}))
        if isinstance(reply, ChatReply) and reply.finish == "length":
            cut = f"the reply was cut at {most} tokens; see --max-reply-tokens"
            return "failed", unanswered.format(cut)
    if isinstance(reply, ChatFailure):
        return "failed", unanswered.format(reply.detail)
    ends = (first in reply.text, last in reply.text)
    if all(ends):
        size = reply.prompt_tokens
        return "passed", f"a prompt of {size} tokens was read to its end, in {reply.seconds:.1f} s"
    if any(ends):
        return "failed", (
            f"{prompt} was read in part: the server cuts prompts; raise its context length, or "
            "lower --max-evidence-tokens"
        )
    return "failed", (
        f"the model repeated neither the first nor the last word of {prompt}; lower "
        "--max-evidence-tokens until it does, or take another model"
    )


def _long_prompt(first: str, last: str, size: int) -> str:
    """Return a prompt of about `size` tokens that asks for words of its first and last lines."""
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
    """Check that two answers get the right verdicts: one sentence of each is contradicted.

    Similarity may leave such a sentence undecided.
    """
    plain = {"cache": False, "workers": 1} | dict.fromkeys(ADDED, False)
    plain |= {"attempts": min(config.attempts, _ATTEMPTS)}
    unlimited = {"max_tokens": None, "max_cost": None}
    outcomes: list[Outcome] = []
    try:
        async with Evaluator(config.model_copy(update=plain | unlimited)) as evaluator:
            async for result in evaluator.evaluate(_TRIAL):
                outcomes += [each.outcome for each in result.sentences]
    except JudgeError as error:
        return Finding(_TRIAL_NAME, "failed", str(error))
    failures = [
        failure
        for each in outcomes
        if (failure := failure_of(each)) and failure.reason is not UnscoredReason.UNDECIDED
    ]
    if failures:
        judged, why = len(outcomes) - len(failures), f"{failures[0].reason}: {failures[0].detail}"
        return Finding(
            _TRIAL_NAME,
            "failed",
            f"{judged} of {len(outcomes)} plain sentences got a verdict ({why}); look at the "
            "server's log, or try another model",
        )
    full = [isinstance(each, Verdict) and each.support is Support.FULL for each in outcomes]
    right = sum(found is (number % 2 == 0) for number, found in enumerate(full))
    of_all = f"{right} of {len(outcomes)} plain sentences"
    if right < len(outcomes):
        step = "take another model before you trust this one"
        return Finding(_TRIAL_NAME, "failed", f"{of_all} judged right; {step}")
    return Finding(
        _TRIAL_NAME,
        "passed",
        f"{of_all}, in English and Chinese, judged right; how good a judge is shows on labels "
        "alone: judge review",
    )
