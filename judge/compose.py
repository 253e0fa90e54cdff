"""The one place that names concrete classes: settings in, judges and store out."""

import logging
import os
from collections.abc import AsyncGenerator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from pydantic import JsonValue

from judge.answer.sentences import EDITION
from judge.config import Config, checked_url
from judge.errors import ConfigError
from judge.judges.fallback import FallbackJudge
from judge.judges.nli import NliJudge
from judge.judges.repeated import ReorderedJudge, RepeatedJudge
from judge.judges.similarity import LexicalEmbedder, SimilarityJudge
from judge.judges.windowed import WindowedJudge
from judge.pool import at_once, sockets
from judge.prompt import FAITHFULNESS, load_prompt
from judge.protocols import Embedder, Judge
from judge.signature import Signature, release

if TYPE_CHECKING:
    from judge.backends.openai import Capabilities, Client, OpenAIModel
    from judge.backends.openai.batches import Provider
    from judge.backends.openai.client import Policy
    from judge.backends.store import BackgroundStore
    from judge.judges.prompted import Form

_LOG: Final = logging.getLogger("judge")
OPENAI: Final = "https://api.openai.com/v1"
CORRECTNESS_PROMPT: Final = ("correctness", "v1")
RELEVANCE_PROMPT: Final = ("relevance", "v1")
_THOUGHTS: Final = 16_384
"""Tokens of a reply that are left for thinking."""
_NO_KEY: Final = "none"
"""What a server that asks for no key is sent."""


class Judges(NamedTuple):
    """The judges of one run."""

    faithfulness: Judge
    """An answer's sentences against its chunks."""
    correctness: Judge | None = None
    """Against its reference, and the reference against it; None where that is not asked for."""
    relevance: Judge | None = None
    """Whether it answers the question; likewise."""
    trouble: Callable[[], str] = str
    """What is the matter with the server that is asked; empty where it answers."""
    again: Callable[[int, int], Judge] | None = None
    """The language model about faithfulness, asked past the cache with the seed of one repeat and
    the order of the chunks of another; 0 is the first asking's. None where no such model judges."""


class Served(NamedTuple):
    """A language model whose server was asked what it takes."""

    model: "OpenAIModel"
    name: str
    """What the server calls it."""
    options: tuple[str, ...]
    """What the server takes, as signatures say it."""
    room: int
    """Tokens of a reply to leave for thinking."""


@asynccontextmanager
async def open_model(config: Config) -> AsyncGenerator[Served]:
    """The language model that `config` names, its server asked anew; nothing is kept.

    Raises:
        ConfigError: no key, or an address that is none.
        JudgeUnavailable: as of `compose`.
    """
    from judge.backends.openai import OpenAIModel, settle  # noqa: PLC0415
    from judge.judges.prompted.render import REPLY_SCHEMA  # noqa: PLC0415

    name = config.model or ""
    async with AsyncExitStack() as stack:
        # Whoever asks wants to know how it is now.
        connection = await _connected(config.model_copy(update={"patience": 0.0}), stack)
        settled = await settle(connection, name, REPLY_SCHEMA, None, _wanted(config))
        model = OpenAIModel(connection, name, settled)
        options = tuple(Signature.parse(model.signature).whole)[1:]  # behind its name
        yield Served(model, settled.served, options, _room(settled))


@asynccontextmanager
async def compose(
    config: Config,
    connection: "Client | None" = None,
    *,
    ask: bool = True,
) -> AsyncGenerator[Judges]:
    """The judges that `config` describes, ready to be asked; their connections close on leaving.

    A `connection` of the caller's is asked in the place of one to the server, to the end whatever
    comes of it, and stays open.

    Where a language model judges, its server is probed once: what it takes is in the signature. A
    model of this machine is loaded, once, on a thread of its own. Where nobody is to `ask`, and no
    earlier run found it out, it counts as taking everything, which is not remembered.

    Raises:
        ConfigError: no key, an address that is none, a cache that cannot be opened, or a model that
            cannot be loaded.
        JudgeUnavailable: the server cannot be reached, or refuses the key or the model.
    """
    guarded = connection is None
    async with AsyncExitStack() as stack:
        if connection is None and config.asks_server:
            connection = await _connected(config, stack)
        if connection is None or not config.asks_model:
            yield alone(config, await _second(config, connection, stack))
            return
        first = await _asking(config, connection, stack, ask=ask, guarded=guarded)
        if not config.fallback:
            yield first
            return
        second = alone(config, await _second(config, connection, stack))
        correctness = first.correctness
        if correctness is not None and second.correctness is not None:
            correctness = FallbackJudge(correctness, second.correctness)
        # Of the question nobody else can tell anything.
        backed = FallbackJudge(first.faithfulness, second.faithfulness)
        yield first._replace(faithfulness=backed, correctness=correctness)


def offline(config: Config, embedder: Embedder | None = None) -> SimilarityJudge:
    """The judge that asks no language model; nobody at all without an `embedder` of your own."""
    return SimilarityJudge(
        embedder or LexicalEmbedder(), prior=config.prior, edition=_edition(config, windows=False)
    )


def alone(config: Config, judge: Judge) -> Judges:
    """A judge that asks no language model, for all that `config` asks for."""
    if not config.correctness:
        return Judges(judge)
    from judge.judges.containment import ContainmentJudge  # noqa: PLC0415  for those who use it

    return Judges(judge, ContainmentJudge(judge))


async def _connected(config: Config, stack: AsyncExitStack) -> "Client":
    # Half a second of imports, for those who use them.
    from judge.backends.openai import Connection, Pace  # noqa: PLC0415

    if (fewer := at_once(config)) < config.concurrency:
        files = fewer == sockets()
        why = "files may be open (ulimit -n)" if files else "may ask within a minute (rpm, tpm)"
        _LOG.info("concurrency is %d, not %d, as no more %s", fewer, config.concurrency, why)
    url, pace = address(config), Pace(fewer, config.rpm, config.tpm)
    connection = Connection(
        url, _key(url), policy=_policy(config), pace=pace, headers=_headers(config)
    )
    return await stack.enter_async_context(connection)


def _headers(config: Config) -> dict[str, str]:
    return {name: text.get_secret_value() for name, text in (config.headers or {}).items()}


def _policy(config: Config) -> "Policy":
    from judge.backends.openai import Policy  # noqa: PLC0415  likewise

    return Policy(
        config.timeout, config.attempts, deadline=config.deadline, patience=config.patience
    )


async def _second(config: Config, connection: "Client | None", stack: AsyncExitStack) -> Judge:
    """The judge that needs no language model: alone, or for what the language model leaves."""
    if config.loads_model:
        return await _loaded(config, stack)
    if connection is None or config.served_embedding is None:
        return offline(config)
    from judge.backends.openai import OpenAIEmbedder  # noqa: PLC0415

    embedder = OpenAIEmbedder(connection, config.served_embedding)
    await embedder.check()
    return offline(config, embedder)


async def _loaded(config: Config, stack: AsyncExitStack) -> Judge:
    from judge.backends import local  # noqa: PLC0415

    worker = ThreadPoolExecutor(1, "judge-model")
    # Leaving waits for nobody: the batch under way ends by itself.
    stack.callback(worker.shutdown, wait=False, cancel_futures=True)
    edition = _edition(config, windows=False)
    if config.infers and config.nli_model is not None:
        return NliJudge(await local.load_scorer(config.nli_model, worker), edition=edition)
    return offline(config, await local.load_embedder(config.local_embedding or "", worker))


async def _asking(
    config: Config, connection: "Client", stack: AsyncExitStack, *, ask: bool, guarded: bool
) -> Judges:
    from judge.backends.openai import Budget, OpenAIModel, settle  # noqa: PLC0415
    from judge.backends.openai.chat import recall  # noqa: PLC0415
    from judge.backends.store.cache import open_store  # noqa: PLC0415
    from judge.judges.prompted import PARTS  # noqa: PLC0415
    from judge.judges.prompted.render import REPLY_SCHEMA  # noqa: PLC0415

    opened = open_store(config, strict=not guarded) if config.cache else None
    store = await stack.enter_async_context(opened) if opened else None
    name, wanted = config.model or "", _wanted(config)
    if ask:
        settled = await settle(connection, name, REPLY_SCHEMA, store, wanted)
    else:
        settled = await recall(store, connection.base_url, name, wanted) or wanted
    budget = Budget(config) if config.limited else None
    model = OpenAIModel(connection, name, settled, store, budget)
    room = _room(settled)
    how = "remembered" if settled.remembered else "asked" if ask else "not asked yet"
    _LOG.info(
        "what the server takes (%s): %s", how, ", ".join(Signature.parse(model.signature).whole)
    )

    asker = _Asker(config, model, store, connection.base_url, room, guarded)
    past = asker._replace(store=None)
    return Judges(
        asker.of_answers(unknown=not ask),
        asker.judge(CORRECTNESS_PROMPT) if config.correctness else None,
        asker.judge(RELEVANCE_PROMPT, form=PARTS) if config.relevance else None,
        lambda: connection.trouble,
        partial(past.judge, (FAITHFULNESS, config.prompt)),
    )


class _Asker(NamedTuple):
    """Makes the judges that ask one model."""

    config: Config
    model: "OpenAIModel"
    store: "BackgroundStore | None"
    url: str
    room: int
    guarded: bool

    def of_answers(self, *, unknown: bool) -> Judge:
        """The judge of faithfulness, which asks as often as is set; `unknown` as it has it."""
        prompt, askings = (FAITHFULNESS, self.config.prompt), range(self.config.repeat)
        first, *others = (self.judge(prompt, each, each) for each in askings)
        return RepeatedJudge(first, *others, unknown=unknown) if others else first

    def judge(
        self, prompt: tuple[str, str], seed: int = 0, order: int = 0, *, form: "Form | None" = None
    ) -> Judge:
        """The judge that asks with this prompt, seed, order of the chunks, and form of reply."""
        from judge.backends.openai import SeededModel  # noqa: PLC0415
        from judge.judges.cached import CachedJudge  # noqa: PLC0415
        from judge.judges.prompted import Form, PromptedJudge  # noqa: PLC0415

        config = self.config
        size = config.sentences_per_call if form is None else 1
        judge: Judge = PromptedJudge(
            SeededModel(self.model, seed) if seed else self.model,
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
    """What is asked of a server before it has refused anything."""
    from judge.backends.openai import Capabilities  # noqa: PLC0415  for those who use it

    return Capabilities.wanted(config.endpoint, config.asked_beside)


def _room(settled: "Capabilities") -> int:
    """Tokens to allow beside a reply, where the limit covers what a model thinks, too."""
    # At /responses all limits do: who thinks is known by taking no temperature.
    newer = settled.endpoint == "responses" and not settled.temperature
    return _THOUGHTS if newer or settled.limit == "max_completion_tokens" else 0


async def settled(
    config: Config, known: Mapping[str, JsonValue] | None = None, *, ask: bool = True
) -> dict[str, JsonValue]:
    """What the server takes, remembered from now on at the latest. Errors as of `compose`.

    As an earlier run found, else as is `known`, else asked now; where nobody is to be asked, it
    counts as taking everything. Where no run heard what the server calls its model, `known` tells.
    """
    from judge.backends.openai import Capabilities, settle  # noqa: PLC0415
    from judge.backends.openai.chat import recall, remember  # noqa: PLC0415
    from judge.backends.store.cache import open_store  # noqa: PLC0415
    from judge.judges.prompted.render import REPLY_SCHEMA  # noqa: PLC0415

    name, wanted, url = config.model or "", _wanted(config), address(config)
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_store(config))
        takes = await recall(store, url, name, wanted)
        told = Capabilities.model_validate(known) if known else wanted
        if takes is None and known is None and ask:
            connection = await _connected(config, stack)
            takes = await settle(connection, name, REPLY_SCHEMA, store, wanted)
        elif takes is None or (told.served and not takes.served):
            takes = (takes or told).model_copy(update={"served": told.served})
            await remember(store, url, name, takes, wanted)
    return takes.model_dump(mode="json")


@asynccontextmanager
async def open_provider(config: Config) -> AsyncGenerator["Provider"]:
    """The batches of the server that `config` names. Errors as of `compose`."""
    from judge.backends.openai import Server  # noqa: PLC0415
    from judge.backends.openai.batches import Provider  # noqa: PLC0415

    url = address(config)
    server = Server(url, _key(url), _headers(config))
    async with Provider(server, _policy(config)) as provider:
        yield provider


def address(config: Config) -> str:
    """The server's base URL: as set, else of the environment, else OpenAI's."""
    return config.base_url or checked_url(os.environ.get("OPENAI_BASE_URL") or OPENAI)


def _key(url: str) -> str:
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    if not key and url == OPENAI:
        raise ConfigError(
            "OPENAI_API_KEY is not set; set it, or name your own server with --base-url"
        )
    return key or _NO_KEY


def _edition(config: Config, *, windows: bool) -> tuple[str, ...]:
    return (
        *((f"w:{config.max_evidence_tokens}",) if windows else ()),
        f"split:{EDITION}",
        f"judge:{release('judge')}",
    )
