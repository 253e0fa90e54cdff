"""Composes the judges that the settings describe. No other module names their classes."""

import asyncio
import inspect
import json
import logging
import os
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from pydantic import JsonValue

from judge import __version__
from judge.answer.sentences import EDITION
from judge.backends.fake import FakeModel
from judge.backends.hook import described
from judge.backends.store.cache import BackgroundStore, open_store
from judge.config import REVIEW_TOKEN, Config, bearer, checked_url
from judge.errors import ConfigError
from judge.judges.cached import CachedJudge
from judge.judges.fallback import FallbackJudge, UndecidedJudge
from judge.judges.nli import NliJudge
from judge.judges.prompted import PARTS, Form, PromptedJudge
from judge.judges.prompted.render import REPLY_SCHEMA
from judge.judges.repeated import ReorderedJudge, RepeatedJudge
from judge.judges.windowed import WindowedJudge
from judge.pipeline import evaluate_sample
from judge.pool import at_once, sockets
from judge.prompt import FAITHFULNESS, load_prompt
from judge.protocols import Embedder, Judge, ReviewHook
from judge.records import Chunk, Rules, Sample
from judge.signature import Signature

if TYPE_CHECKING:
    from judge.backends.openai.batches import Provider
    from judge.backends.openai.chat import Capabilities
    from judge.backends.openai.client import Connection, Policy
    from judge.backends.openai.model import ChatModel, Send
    from judge.judges.similarity import SimilarityJudge

_LOG: Final = logging.getLogger("judge")
OPENAI: Final = "https://api.openai.com/v1"
CORRECTNESS_PROMPT: Final = ("correctness", "v1")
RELEVANCE_PROMPT: Final = ("relevance", "v1")
_THINKING_TOKENS: Final = 16_384
UNATTENDED_PATIENCE_SECONDS: Final = 10.0
"""How long a server that accepts no connection is waited for at the start, without a terminal."""
_PLACEHOLDER_KEY: Final = "none"
"""Sent to a server that needs no key."""


class Judges(NamedTuple):
    """The judges of one run."""

    faithfulness: Judge
    """Judges an answer's sentences by its chunks."""
    correctness: Judge | None = None
    """Judges an answer by its reference, and the reference by the answer."""
    relevance: Judge | None = None
    """Judges whether an answer answers its question."""
    context: Judge | None = None
    """Judges the claims of a reference by the chunks."""
    trouble: Callable[[], str] = str
    """Returns what is wrong with the server now; empty where it answers."""
    repeat_judge: Callable[[int, int], Judge] | None = None
    """`repeat_judge(seed_of, order_of)` returns the faithfulness judge for one repeat, without the
    cache. It uses the seed of repeat `seed_of` and the chunk order of repeat `order_of`; repeat 0
    is the first request. None where no language model judges."""


class Served(NamedTuple):
    """A language model whose server was probed."""

    model: "ChatModel"
    name: str
    """The server's name for the model."""
    options: tuple[str, ...]
    """The request options that the server accepts, as parts of a signature."""
    room: int
    """Tokens of a reply that are left for thinking."""


@asynccontextmanager
async def open_model(config: Config) -> AsyncGenerator[Served]:
    """Open the language model that `config` names; its server is probed now, without the cache.

    Raises:
        ConfigError: no key, or a malformed address.
        JudgeUnavailable: the server cannot be reached, or refuses the key or the model.
    """
    from judge.backends.openai.model import ChatModel, send_request, settle  # noqa: PLC0415

    name = config.model or ""
    async with AsyncExitStack() as stack:
        connection = await _open_connection(config.model_copy(update={"patience": 0.0}), stack)
        settled = await settle(connection, name, REPLY_SCHEMA, None, _wanted(config))
        send = partial(send_request, connection, settled, None)
        model = ChatModel(connection.server, name, settled, None, send)
        options = tuple(Signature.parse(model.signature).whole)[1:]  # behind its name
        yield Served(model, settled.served, options, _room(settled))


@asynccontextmanager
async def compose(config: Config, send: "Send | None" = None) -> AsyncGenerator[Judges]:
    """Open the judges that `config` describes, and close their connections on leaving.

    The server of a language model is probed once, because its options are in the signature. `send`
    answers the requests instead of the server, which is then neither probed nor connected to; its
    replies never end a run.

    Raises:
        ConfigError: no key, a malformed address, a cache that cannot be opened, or a model that
            cannot be loaded.
        JudgeUnavailable: the server cannot be reached, or refuses the key or the model.
    """
    async with AsyncExitStack() as stack:
        asks = send is None and config.asks_server
        connection = await _open_connection(config, stack) if asks else None
        if not config.asks_model:
            yield alone(config, await _second(config, connection, stack))
            return
        first = await _model_judges(config, connection, send, stack)
        if not config.fallback:
            yield first
            return
        second = alone(config, await _second(config, connection, stack))
        # Relevance has no fallback.
        yield first._replace(
            faithfulness=FallbackJudge(first.faithfulness, second.faithfulness),
            correctness=_backed(first.correctness, second.correctness),
            context=_backed(first.context, second.context),
        )


def _backed(first: Judge | None, second: Judge | None) -> Judge | None:
    return FallbackJudge(first, second) if first and second else first


def offline(config: Config, embedder: Embedder | None = None) -> "SimilarityJudge":
    """Return the similarity judge, by default with the built-in embedder, which uses no network."""
    from judge.judges.similarity import LexicalEmbedder, SimilarityJudge  # noqa: PLC0415  numpy

    return SimilarityJudge(
        embedder or LexicalEmbedder(), prior=config.prior, edition=_edition(config, windows=False)
    )


def alone(config: Config, judge: Judge) -> Judges:
    """Return the judges of a run without a language model."""
    faithfulness = judge if config.infers else UndecidedJudge(judge)
    correctness = None
    if config.correctness:
        from judge.judges.containment import ContainmentJudge  # noqa: PLC0415  rules on words

        correctness = ContainmentJudge(judge)
    return Judges(
        faithfulness,
        correctness=correctness,
        context=faithfulness if config.context else None,
    )


async def _open_connection(config: Config, stack: AsyncExitStack) -> "Connection":
    # openai takes half a second to import: only runs that ask a server do it.
    from judge.backends.openai.client import Connection, Pace  # noqa: PLC0415

    if (fewer := at_once(config)) < config.concurrency:
        files = fewer == sockets()
        why = "files may be open (ulimit -n)" if files else "may ask within a minute (rpm, tpm)"
        _LOG.info("concurrency is %d, not %d, as no more %s", fewer, config.concurrency, why)
    url, pace = address(config), Pace(fewer, config.rpm, config.tpm)
    policy, headers = _policy(config), _headers(config)
    connection = Connection(url, _key(url), policy=policy, pace=pace, headers=headers)
    return await stack.enter_async_context(connection)


def _headers(config: Config) -> dict[str, str]:
    return {name: text.get_secret_value() for name, text in (config.headers or {}).items()}


def _policy(config: Config) -> "Policy":
    from judge.backends.openai.client import Policy  # noqa: PLC0415

    # A person who sees the message may start the server; a script may have named a wrong port.
    waits = "patience" in config.model_fields_set or sys.stderr.isatty()
    return Policy(
        config.timeout,
        config.attempts,
        deadline=config.deadline,
        patience=config.patience,
        first_patience=config.patience if waits else UNATTENDED_PATIENCE_SECONDS,
    )


async def _second(config: Config, connection: "Connection | None", stack: AsyncExitStack) -> Judge:
    """Open the judge that needs no language model: the only one, or the fallback."""
    if config.loads_model:
        return await _local_judge(config, stack)
    if connection is None or config.served_embedding is None:
        return offline(config)
    from judge.backends.openai.embedder import OpenAIEmbedder  # noqa: PLC0415  numpy

    embedder = OpenAIEmbedder(connection, config.served_embedding)
    await embedder.check()
    return offline(config, embedder)


async def _local_judge(config: Config, stack: AsyncExitStack) -> Judge:
    from judge.backends import local  # noqa: PLC0415

    worker = ThreadPoolExecutor(1, "judge-model")
    stack.callback(worker.shutdown, wait=False, cancel_futures=True)
    edition = _edition(config, windows=False)
    if config.infers and config.nli_model is not None:
        return NliJudge(await local.load_scorer(config.nli_model, worker), edition=edition)
    return offline(config, await local.load_embedder(config.local_embedding or "", worker))


async def _model_judges(
    config: Config,
    connection: "Connection | None",
    send: "Send | None",
    stack: AsyncExitStack,
) -> Judges:
    from judge.backends.openai.chat import recall  # noqa: PLC0415
    from judge.backends.openai.model import Budget, ChatModel, send_request, settle  # noqa: PLC0415
    from judge.backends.openai.server import Server  # noqa: PLC0415

    guarded = connection is not None
    opened = open_store(config, strict=not guarded) if config.cache else None
    store = await stack.enter_async_context(opened) if opened else None
    name, wanted = config.model or "", _wanted(config)
    server = connection.server if connection else Server(address(config))
    if connection:
        warming = asyncio.create_task(asyncio.to_thread(asyncio.run, _warm_up(config)))
        settled = await settle(connection, name, REPLY_SCHEMA, store, wanted)
        await warming
        budget = Budget(config) if config.limited else None
        send = partial(send_request, connection, settled, budget)
    else:
        settled = await recall(store, server.base_url, name, wanted) or wanted
    if send is None:
        raise RuntimeError("no server is connected, and nothing answers in its place")
    model = ChatModel(server, name, settled, store, send)
    _LOG.info("what the server takes: %s", ", ".join(Signature.parse(model.signature).whole))
    made = _ModelJudges(config, model, store, server.base_url, _room(settled), guarded)
    prompt = (FAITHFULNESS, config.prompt)
    first, *others = (made.judge(prompt, each, each) for each in range(config.repeat))
    return Judges(
        RepeatedJudge(first, *others) if others else first,
        made.judge(CORRECTNESS_PROMPT) if config.correctness else None,
        made.judge(RELEVANCE_PROMPT, form=PARTS) if config.relevance else None,
        first if config.context else None,
        (lambda: connection.outage.state) if connection else str,
        partial(made._replace(store=None).judge, prompt),
    )


async def _warm_up(config: Config) -> None:
    """Judge a small answer without the server, so that what the first answers need is loaded."""
    if config.fallback:
        alone(config, offline(config))
    # The long patterns for abstentions and pleasantries are compiled as well.
    text = "The documents do not say when it costs 600. Feel free to ask. 旅馆600元。"
    entry = {"support": "none", "evidence": [], "reason": ""}
    reply = json.dumps({"verdicts": [{"id": "s1", **entry}, {"id": "s3", **entry}]})
    model = FakeModel([reply])
    judge = PromptedJudge(model, load_prompt(FAITHFULNESS, config.prompt))
    sample = Sample(qid="", query="", answer=text, chunks=(Chunk(chunk_id="1", text=text),))
    (await evaluate_sample(sample, judge, Rules())).model_dump_json()


class _ModelJudges(NamedTuple):
    """Makes the judges that ask one model."""

    config: Config
    model: "ChatModel"
    store: BackgroundStore | None
    url: str
    room: int
    guarded: bool

    def judge(
        self, prompt: tuple[str, str], seed: int = 0, order: int = 0, *, form: Form | None = None
    ) -> Judge:
        """Return a judge with this prompt, seed, order of the chunks and form of the reply."""
        config = self.config
        size = config.sentences_per_call if form is None else 1
        judge: Judge = PromptedJudge(
            replace(self.model, later_seed=seed) if seed else self.model,
            load_prompt(*prompt),
            sentences_per_call=size,
            max_reply_tokens=config.max_reply_tokens,
            room=self.room,
            edition=_edition(config, windows=form is None),
            form=form or Form(),
            guarded=self.guarded,
        )
        if form is None:
            judge = WindowedJudge(judge, max_evidence_tokens=config.max_evidence_tokens)
        if order:
            judge = ReorderedJudge(judge, order)
        if self.store is None:
            return judge
        repeat = f"{seed}:{order}" if seed or order else 0
        return CachedJudge(judge, self.store, self.url, group=size, repeat=repeat)


def _wanted(config: Config) -> "Capabilities":
    """Return the options of a request to a server that has refused none."""
    from judge.backends.openai.chat import Capabilities  # noqa: PLC0415

    return Capabilities.wanted(config.endpoint, config.asked_beside)


def _room(settled: "Capabilities") -> int:
    """Return the tokens to allow for thinking, where the limit on a reply includes it."""
    # At /responses the limit always does; a model that thinks accepts no temperature.
    thinks = settled.endpoint == "responses" and not settled.temperature
    return _THINKING_TOKENS if thinks or settled.limit == "max_completion_tokens" else 0


async def settled(
    config: Config, known: Mapping[str, JsonValue] | None = None, *, ask: bool = True
) -> dict[str, JsonValue]:
    """Return the options that the server accepts, and remember them in the cache.

    They are those that an earlier run found, else `known`, which also has the server's name for the
    model, else those of a probe. Without `ask` there is no probe, and the server counts as
    accepting everything. The errors are those of `compose`.
    """
    from judge.backends.openai.chat import Capabilities, recall, remember  # noqa: PLC0415
    from judge.backends.openai.model import settle  # noqa: PLC0415

    name, wanted, url = config.model or "", _wanted(config), address(config)
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_store(config))
        takes = await recall(store, url, name, wanted)
        found = Capabilities.model_validate(known) if known else wanted
        if takes is None and known is None and ask:
            connection = await _open_connection(config, stack)
            takes = await settle(connection, name, REPLY_SCHEMA, store, wanted)
        elif takes is None or (found.served and not takes.served):
            takes = (takes or found).model_copy(update={"served": found.served})
            await remember(store, url, name, takes)
    return takes.model_dump(mode="json")


@asynccontextmanager
async def open_provider(config: Config) -> AsyncGenerator["Provider"]:
    """Open the provider batches of the server that `config` names; it raises as `compose` does."""
    from judge.backends.openai.batches import Provider  # noqa: PLC0415
    from judge.backends.openai.server import Server  # noqa: PLC0415

    url = address(config)
    server = Server(url, _key(url), _headers(config))
    retries = config.attempts - 1
    async with server.open(config.timeout, read=config.timeout, retries=retries) as client:
        yield Provider(server, client)


def open_hook(name: str) -> ReviewHook:
    """Return the review hook of this name.

    An http address is posted to, with the token JUDGE_REVIEW_TOKEN of the environment if there is
    one. Any other name is `module:object`, which is imported and called.

    Raises:
        ConfigError: there is no such hook; the message repeats no address, which may be secret.
    """
    if "://" in name or name.lower().startswith(("http:", "https:")):
        from judge.backends.webhook import Webhook  # noqa: PLC0415  loads httpx

        token = os.environ.get(REVIEW_TOKEN, "").strip()
        return Webhook(name, headers=bearer(token, REVIEW_TOKEN))
    if not all(name.replace(":", ".").split(".")) or ":" not in name:
        raise ConfigError(
            f"review hook {name!r}: name an object of a module, such as hooks:keep, or an address "
            "such as https://host/path"
        )
    # Last, so that no file of the working folder takes the place of a library.
    if (place := str(Path.cwd())) not in sys.path:
        sys.path.append(place)
    try:
        hook: Any = resolve_name(name)
        if inspect.isclass(hook):
            hook = hook()
        inspect.signature(hook).bind("sample", "result", 1.0)
    except Exception as error:  # noqa: BLE001  the user's code may raise anything
        raise ConfigError(f"review hook {name!r}: {described(error)}") from None
    return cast(ReviewHook, hook)


def address(config: Config) -> str:
    """Return the server's base URL: the setting, else OPENAI_BASE_URL, else OpenAI's."""
    return config.base_url or checked_url(os.environ.get("OPENAI_BASE_URL") or OPENAI)


def _key(url: str) -> str:
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    if not key and url == OPENAI:
        raise ConfigError(
            "OPENAI_API_KEY is not set; set it, or name your own server with --base-url"
        )
    return key or _PLACEHOLDER_KEY


def _edition(config: Config, *, windows: bool) -> tuple[str, ...]:
    return (
        *((f"w:{config.max_evidence_tokens}",) if windows else ()),
        f"split:{EDITION}",
        f"judge:{__version__}",
    )
