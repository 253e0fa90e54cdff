"""The code that runs on the machines of a cluster: it checks files, reads blocks, scores them."""

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
from judge.cluster.shards import Shard
from judge.config import Config
from judge.errors import (
    ConfigError,
    JudgeError,
    JudgeUnavailable,
    JudgeUnhealthy,
    RunError,
    WorkerLost,
)
from judge.evaluator import Evaluator
from judge.inputs.files import InputFile, hash_of
from judge.inputs.tables import writing
from judge.records import SampleResult
from judge.scores.totals import Totals

Row = dict[str, Any]
"""A row of a Ray dataset."""
HEADERS: Final = "JUDGE_HEADERS"
_MOST_ATTEMPTS: Final = 4
"""Ray replaces a worker that died without end; a block fails after as many without progress."""
_CPUS_TO_ASK: Final = 0.1
_CPUS_TO_COMPUTE: Final = 0.9
"""Less than a whole processor, so that some is left for reading."""
_STEP: Final = (
    "see that the machine of each replica has this folder on a disk that all share, and room there"
)


class Plan(NamedTuple):
    """The parts of a run that every machine must know."""

    settings: str
    """The `Config` as JSON."""
    folder: str
    """The run folder, an absolute path that all machines share."""
    skip: bool
    """Whether bad lines are set aside."""
    needs_qid: bool
    """Whether each row must have a qid."""
    copied: bool
    """Whether the samples are copied into the run folder."""
    session: str
    """A random name of this run of the command."""

    @property
    def config(self) -> Config:
        """The settings, with the headers of this machine."""
        return config_of(self.settings)


def config_of(settings: str) -> Config:
    """Return the settings in this JSON; headers, which may be secret, are this environment's.

    The cache writes each verdict to disk at once, because workers may be killed at any time.
    """
    given = {**json.loads(settings), "durable": True}
    headers = os.environ.get(HEADERS, "").strip()
    return Config.model_validate(given | ({"headers": headers} if headers else {}))


def portable(config: Config) -> Config:
    """Return settings that any machine can read.

    Raises:
        ConfigError: a setting works within one process only.
    """
    for name in ("max_tokens", "max_cost"):
        if getattr(config, name):
            raise ConfigError(f"{name}: a cluster keeps no count of it; leave it out")
    if config.headers and not os.environ.get(HEADERS, "").strip():
        raise ConfigError(
            f"headers: they may be secrets, and go to no cluster; set {HEADERS} there"
        )
    # A relative path, or one in this user's home, would be another folder elsewhere.
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
    """Return the processors that an actor reserves."""
    return _CPUS_TO_ASK if config.asks_server else _CPUS_TO_COMPUTE


def checked(batch: Row, plan: Plan) -> Iterator[Row]:
    """Yield the counts and qids of each block of a file, then the file's hash; or an error."""
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


def read(batch: Row, plan: Plan) -> Iterator[Row]:
    """Yield the blocks of a file that are still to be scored."""
    row = {name: values[0] for name, values in batch.items()}
    starts = dict(zip(row["names"], row["starts"], strict=True))
    found = {"path": row["path"], "name": "", "start": 0, "block": b"", "error": b""}
    try:
        for block in _blocks(plan, row):
            if (start := starts.pop(name := block.name, None)) is not None:
                mine = {"name": name, "start": int(start), "block": pickle.dumps(block)}
                yield _batch(found | mine)
        if starts:
            what = "changed while it was scored; leave it alone, and score it again"
            raise RunError(f"{InputFile(row['path'])}: {what}")
    except JudgeError as error:  # the file was readable when it was checked
        yield _batch(found | {"error": pickle.dumps(error)})


def _blocks(plan: Plan, row: Row) -> Iterator[Block]:
    config = plan.config
    return blocks(
        InputFile(row["path"]),
        int(row["file"]),
        max_line=config.max_line,
        skip=plan.skip,
        needs_qid=plan.needs_qid,
        mapping=config.map,
    )


def _batch(row: Row) -> Row:
    return {name: [value] for name, value in row.items()}


def added_up(row: Row, plan: Plan) -> Row:
    """Return the totals of a finished shard; without totals if it is damaged."""
    results = Shard(Path(plan.folder), row["name"]).whole()
    whole = len(results) == int(row["samples"])
    totals = _totals(results, int(row["start"]), plan.config) if whole else b""
    return {"name": row["name"], "totals": totals, "error": b"", "warnings": []}


def _totals(results: list[SampleResult], start: int, config: Config) -> bytes:
    totals = Totals(max_unscored=config.max_unscored)
    for position, result in enumerate(results, start):
        totals.add(result, position)
    return pickle.dumps(totals)


class Holder:
    """An actor with one `Evaluator`, which is opened at its first use."""

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


class _Warnings(logging.Handler):
    """Keeps the warnings of a worker process, whose log is not read, for the driver."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a warning."""
        self._texts.append(record.getMessage())

    def take(self) -> list[str]:
        """Return the warnings since the last call."""
        texts, self._texts = self._texts, []
        return texts


class Scorer(Holder):
    """Scores blocks into their shards."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan.config)
        self.plan = plan
        self._warnings = _Warnings()
        logging.getLogger("judge").addHandler(self._warnings)

    async def __call__(self, row: Row) -> Row:
        """Score a block; errors and warnings are returned as values."""
        return await self._score(row) | {"warnings": self._warnings.take()}

    async def _score(self, row: Row) -> Row:
        scored: Row = {"name": row["name"], "totals": b"", "error": row["error"]}
        if row["error"]:
            return scored
        folder = Path(self.plan.folder)
        try:
            block: Block = pickle.loads(row["block"])  # noqa: S301  our own
            shard = Shard(folder, row["name"])
            if shard.path.exists():  # the machine that scored it was lost before it could say so
                there = added_up({**row, "samples": len(block.samples)}, self.plan)
                if there["totals"]:
                    return there
            with writing(folder, _STEP):
                if shard.attempts(self.plan.session) > _MOST_ATTEMPTS:
                    raise _deadly(row, block)
                results = await shard.score(block, await self._opened())
                shard.finish(block, results, copied=self.plan.copied)
            scored["totals"] = _totals(results, int(row["start"]), self.plan.config)
        except JudgeError as error:
            scored["error"] = pickle.dumps(_with_host(error))
        return scored


def _deadly(row: Row, block: Block) -> WorkerLost:
    start = int(row["start"])
    return WorkerLost(
        f"{InputFile(row['path'])}, answers {start + 1:,} to {start + len(block.samples):,}: "
        f"{_MOST_ATTEMPTS} workers died while they scored them; take out the answer that kills "
        "them, or give their machine more memory, then run the same command again"
    )


def _with_host(error: JudgeError) -> JudgeError:
    """Return an error about a setting or a key with the machine whose environment lacks it."""
    if isinstance(error, JudgeUnhealthy) or not isinstance(error, ConfigError | JudgeUnavailable):
        return error
    where = f"on {gethostname()}, in the environment in which Ray was started there"
    return type(error)(f"{error} ({where})")
