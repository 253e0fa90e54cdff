"""What runs on the machines of a cluster: the check of a file, its blocks, and who scores them."""

import asyncio
import json
import logging
import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from socket import gethostname
from typing import Any, Final, NamedTuple

from judge.backends.store.cache import cache_folder
from judge.cluster.blocks import Block, blocks
from judge.cluster.shards import Door, Shard
from judge.config import Config
from judge.errors import (
    ConfigError,
    JudgeError,
    JudgeUnavailable,
    JudgeUnhealthy,
    RunError,
)
from judge.evaluator import Evaluator
from judge.inputs.files import InputFile, hash_of
from judge.inputs.tables import writing
from judge.records import SampleResult
from judge.scores.totals import Totals

Row = dict[str, Any]
"""Of a Ray dataset."""
HEADERS: Final = "JUDGE_HEADERS"
_ENVIRONMENT: Final = "the environment in which Ray was started there"
_ASKING: Final = 0.1
_COMPUTING: Final = 0.9
_SHARED: Final = (
    "see that the machine of each replica has this folder on a disk that all share, and room there"
)


class Plan(NamedTuple):
    """What every machine must know of a run."""

    settings: str
    """The `Config`, as JSON."""
    folder: str
    """Of the run, an absolute path that all machines share."""
    skip: bool
    """Whether bad lines are set aside."""
    named: bool
    """Whether each row must have a qid."""
    copied: bool
    """Whether the samples are to be copied into the run."""
    session: str
    """Of the driver."""

    @property
    def config(self) -> Config:
        """As of `config_of`."""
        return config_of(self.settings)


def config_of(settings: str) -> Config:
    """The settings in this JSON; headers, which may be secrets, are those of this environment.

    A verdict counts once the disk has it, for workers may be killed at any time.
    """
    given = {**json.loads(settings), "durable": True}
    headers = os.environ.get(HEADERS, "").strip()
    return Config.model_validate(given | ({"headers": headers} if headers else {}))


def portable(config: Config) -> Config:
    """The settings as any machine may read them.

    Raises:
        ConfigError: for what one process alone can keep to.
    """
    for name, held in (
        ("max_tokens", config.max_tokens),
        ("max_cost", config.max_cost),
    ):
        if held:
            raise ConfigError(f"{name}: a cluster keeps no count of it; leave it out")
    if config.headers and not os.environ.get(HEADERS, "").strip():
        raise ConfigError(
            f"headers: they may be secrets, and go to no cluster; set {HEADERS} there"
        )
    # A folder that is meant by its relation to this process, or to its user, is named in full.
    place = {} if config.cache_url else {"cache_dir": cache_folder(config).absolute()}
    return config.model_copy(update=place)


def share(config: Config, replicas: int) -> Config:
    """Return the settings of one of several replicas: each has an equal part of the rates.

    `rpm=600` among 4 replicas is 150 for each; at least 1.
    """
    rates = {"rpm": config.rpm, "tpm": config.tpm}
    parts = {name: max(1, rate // replicas) for name, rate in rates.items() if rate is not None}
    return config.model_copy(update=parts)


def cpus(config: Config) -> float:
    """What an actor takes of a processor; never all, or nothing is read and Ray waits for ever."""
    return _ASKING if config.asks_server else _COMPUTING


def _blocks(plan: Plan, row: Row) -> Iterator[Block]:
    config = plan.config
    return blocks(
        InputFile(row["path"]),
        int(row["file"]),
        max_line=config.max_line,
        skip=plan.skip,
        needs_qid=plan.named,
        mapping=config.map,
    )


def checked(batch: Row, plan: Plan) -> Iterator[Row]:
    """What stands in each block of a file, and its qids; an error in the place of the rest."""
    row = {name: values[0] for name, values in batch.items()}
    found = {"file": int(row["file"]), "name": "", "samples": 0, "rejected": 0, "error": b""}
    found |= {"sha256": "", "first": b"", "qids": []}
    try:
        for block in _blocks(plan, row):
            counts = {"samples": len(block.samples), "rejected": len(block.rejected)}
            qids = [sample.qid for sample in block.samples]
            bad = pickle.dumps(block.rejected[0].error) if block.rejected else b""
            yield _batch(found | counts | {"name": block.name, "qids": qids, "first": bad})
        yield _batch(found | {"sha256": hash_of(row["path"])})
    except JudgeError as error:
        yield _batch(found | {"error": pickle.dumps(error)})


def _batch(row: Row) -> Row:
    return {name: [value] for name, value in row.items()}


def read(batch: Row, plan: Plan) -> Iterator[Row]:
    """The blocks of a file that are still to be scored."""
    row = {name: values[0] for name, values in batch.items()}
    starts = dict(zip(row["names"], row["starts"], strict=True))
    found = {"name": "", "start": 0, "block": b"", "error": b""}
    try:
        for block in _blocks(plan, row):
            if (start := starts.pop(name := block.name, None)) is not None:
                mine = {"name": name, "start": int(start), "block": pickle.dumps(block)}
                yield _batch(found | mine)
        if starts:
            told = "changed while it was scored; leave it alone, and score it again"
            raise RunError(f"{InputFile(row['path'])}: {told}")
    except JudgeError as error:  # the file was there as it was checked
        yield _batch(found | {"error": pickle.dumps(error)})


def added_up(row: Row, plan: Plan) -> Row:
    """The totals of a shard that is there; none where it is damaged."""
    shard = Shard(Path(plan.folder), row["name"])
    results, crashed = shard.whole(), shard.crashed()
    whole = len(results) + len(crashed) == int(row["samples"])
    totals = _totals(results, int(row["start"]), plan.config) if whole else b""
    return {"name": row["name"], "totals": totals, "crashed": crashed, "error": b"", "said": []}


def _totals(results: list[SampleResult], start: int, config: Config) -> bytes:
    totals = Totals(max_unscored=config.max_unscored)
    for position, result in enumerate(results, start):
        totals.add(result, position)
    return pickle.dumps(totals)


class Holder:
    """An actor that has one `Evaluator`, open from its first use on."""

    def __init__(self, config: Config) -> None:
        self._evaluator = Evaluator(config)
        self._opening = asyncio.Lock()
        self._open = False

    async def _opened(self) -> Evaluator:
        async with self._opening:
            if not self._open:
                await self._evaluator.__aenter__()
                self._open = True
        return self._evaluator


class _Said(logging.Handler):
    """Keeps the warnings of a process whose log nobody reads, until they are handed on."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """As of `Handler`."""
        self._texts.append(record.getMessage())

    def handed_on(self) -> list[str]:
        """Those since the last time."""
        texts, self._texts = self._texts, []
        return texts


class Scorer(Holder):
    """Scores some blocks at a time."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan.config)
        self.plan = plan
        self._door = Door()
        self._said = _Said()
        logging.getLogger("judge").addHandler(self._said)

    async def __call__(self, row: Row) -> Row:
        """Score a block into its shard; errors and warnings travel as values."""
        return await self._score(row) | {"said": self._said.handed_on()}

    async def _score(self, row: Row) -> Row:
        scored: Row = {"name": row["name"], "totals": b"", "crashed": [], "error": row["error"]}
        if row["error"]:
            return scored
        folder = Path(self.plan.folder)
        try:
            block: Block = pickle.loads(row["block"])  # noqa: S301  our own
            shard = Shard(folder, row["name"], self.plan.session)
            if shard.path.exists():  # and the machine that said so was lost
                there = added_up({**row, "samples": len(block.samples)}, self.plan)
                if there["totals"]:
                    return there
            with writing(folder, _SHARED):
                results = await shard.score(block, await self._opened(), self._door)
                shard.finish(block, results, copied=self.plan.copied)
            scored["totals"] = _totals(results, int(row["start"]), self.plan.config)
            scored["crashed"] = [block.samples[index].qid for index in shard.lost]
        except JudgeError as found:
            scored["error"] = pickle.dumps(_placed(found))
        return scored


def _placed(error: JudgeError) -> JudgeError:
    """With where it came up, for whoever has set at home what it asks for."""
    if isinstance(error, JudgeUnhealthy) or not isinstance(error, ConfigError | JudgeUnavailable):
        return error
    return type(error)(f"{error} (told by {gethostname()}: what counts is {_ENVIRONMENT})")
