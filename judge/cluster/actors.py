"""The code that runs on the machines of a cluster: it checks files, reads blocks, scores them."""

import asyncio
import hashlib
import json
import os
import pickle
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from socket import gethostname
from typing import Any, Final, NamedTuple

from judge.backends.store.cache import cache_folder
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
from judge.inputs.fields import SCORE_NEEDS
from judge.inputs.files import InputFile, hash_of_file
from judge.inputs.runs import SHARDS, line_of, misplaced, results_in, whole_lines
from judge.inputs.samples import Rejected, read_samples
from judge.inputs.tables import replacing, writing
from judge.records import Sample, SampleResult
from judge.scores.answer import is_barren, is_fresh

RayRow = dict[str, Any]
"""A row of a Ray dataset."""
HEADERS: Final = "JUDGE_HEADERS"
_MOST_ATTEMPTS: Final = 4
"""Ray replaces a worker that died without end; a block fails after as many without progress."""
SIZE: Final = 500
"""Samples of a block. A run cannot be resumed with another size, as the names of shards differ."""
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

    @property
    def config(self) -> Config:
        """The settings, with the headers of this machine, which may be secret."""
        settings = json.loads(self.settings)
        headers = os.environ.get(HEADERS, "").strip()
        return Config.model_validate(settings | ({"headers": headers} if headers else {}))


@dataclass
class Block:
    """Adjacent samples of a file."""

    file: int
    """The position of the file in the input."""
    number: int
    """The position of the block in the file."""
    samples: list[Sample] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name of the block's shard: its position in the input, then a hash of its content."""
        digest = hashlib.sha256()
        for sample in self.samples:
            digest.update(sample.model_dump_json().encode() + b"\n")
        return f"{self.file:06}-{self.number:06}-{digest.hexdigest()[:16]}"


def blocks(plan: Plan, row: RayRow, rejected: list[Rejected]) -> Iterator[Block]:
    """Yield the blocks of a file; it raises as `read_samples` does, and may skip bad lines."""
    config, file = plan.config, int(row["file"])
    block = Block(file, 0)
    for sample in read_samples(
        InputFile(row["path"]),
        # Line numbers of several files are not unique.
        needs=SCORE_NEEDS | {"qid"} if plan.needs_qid else SCORE_NEEDS,
        on_bad=rejected.append if plan.skip else None,
        is_part=True,
        mapping=config.map,
    ):
        if len(block.samples) == SIZE:
            yield block
            block = Block(file, block.number + 1)
        block.samples.append(sample)
    if block.samples:
        yield block


class Shard:
    """The files of one block in a run folder.

    While the block is scored, each result is appended to a `.part` as one line. A worker that takes
    the block over, on any machine, goes on after the last sound line.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / SHARDS / f"{name}.jsonl"
        self._part = self.path.with_suffix(".jsonl.part")
        self._attempts = self.path.with_suffix(".attempts")

    def results(self) -> list[SampleResult]:
        """Return the results of a finished shard, up to the first damaged one."""
        try:
            with self.path.open("rb") as file:
                return [each for each in results_in(file) if not isinstance(each, str)]
        except FileNotFoundError:
            return []

    def _kept(self, samples: list[Sample]) -> list[SampleResult]:
        """Return the sound results in the `.part`, and cut off the lines behind them."""
        try:
            with self._part.open("rb") as file:
                lines = list(whole_lines(file))
        except FileNotFoundError:
            return []
        found: list[SampleResult] = []
        for number, (result, sample) in enumerate(zip(results_in(lines), samples, strict=False), 1):
            if isinstance(result, str) or misplaced(number, result, sample):
                break
            found.append(result)
        os.truncate(self._part, sum(map(len, lines[: len(found)])))
        return found

    def note_attempt(self) -> int:
        """Note an attempt to score the block; return how many made no progress, with this one."""
        size = self._part.stat().st_size if self._part.exists() else 0
        with self._attempts.open("a+", encoding="utf-8") as file:
            file.write(f"{size}\n")
            file.seek(0)
            return file.readlines().count(f"{size}\n")

    def forget_attempts(self) -> None:
        """Forget the attempts of an earlier session, whose driver may have been stopped."""
        self._attempts.unlink(missing_ok=True)

    async def score(self, block: Block, evaluator: Evaluator) -> None:
        """Score the block, or the rest of it, and write the shard."""
        results = self._kept(block.samples)
        sound = len(results)
        try:
            with self._part.open("ab") as file:
                async with aclosing(evaluator.evaluate(block.samples[sound:])) as fresh:
                    async for result in fresh:
                        file.write(line_of(result))
                        file.flush()
                        results.append(result)
                        follows = sound == len(results) - 1
                        if not is_barren(result) and (follows or is_fresh(result)):
                            sound = len(results)
        except JudgeUnhealthy:
            with self._part.open("rb+") as file:
                file.truncate(sum(len(line) for line, _ in zip(file, range(sound), strict=False)))
            raise
        # Not a renamed `.part`: a worker of an earlier driver may still write there.
        with replacing(self.path, _STEP) as path, path.open("wb") as file:
            file.writelines(map(line_of, results))
            file.flush()
            os.fsync(file.fileno())
        self._part.unlink(missing_ok=True)
        self.forget_attempts()


class FoundBlock(NamedTuple):
    """A block that the check found."""

    name: str
    file: int
    samples: int
    start: int = 0
    """The number of samples before it in the whole input."""


class CheckedFile(NamedTuple):
    """The result of reading a file once."""

    blocks: list[FoundBlock]
    qids: list[str]
    rejected: list[Rejected]
    sha256: str
    """The hash of its bytes."""


def portable(config: Config, replicas: int) -> Config:
    """Return the settings of one of several replicas, which any machine can read.

    Each replica has an equal part of the rates: `rpm=600` among 4 is 150 for each; at least 1.

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
    rates = {"rpm": config.rpm, "tpm": config.tpm}
    changes: dict[str, object] = {
        name: max(1, rate // replicas) for name, rate in rates.items() if rate is not None
    }
    if not config.cache_url:
        # A relative path, or one in this user's home, would be another folder elsewhere.
        changes["cache_dir"] = cache_folder(config).absolute()
    return config.model_copy(update=changes)


def check(row: RayRow, plan: Plan) -> RayRow:
    """Read a file once; return a pickled `CheckedFile` or JudgeError."""
    return {"file": row["file"], "checked": pickle.dumps(_checked(row, plan))}


def _checked(row: RayRow, plan: Plan) -> CheckedFile | JudgeError:
    found = CheckedFile([], [], [], "")
    try:
        for block in blocks(plan, row, found.rejected):
            found.blocks.append(FoundBlock(block.name, block.file, len(block.samples)))
            found.qids.extend(sample.qid for sample in block.samples)
        return found._replace(sha256=hash_of_file(InputFile(row["path"])))
    except JudgeError as error:
        return error


def read(batch: RayRow, plan: Plan) -> Iterator[RayRow]:
    """Yield the blocks of a file that are still to be scored, or a JudgeError, pickled."""
    row = {name: values[0] for name, values in batch.items()}
    starts = dict(zip(row["names"], row["starts"], strict=True))
    try:
        for block in blocks(plan, row, []):
            if (start := starts.pop(block.name, None)) is not None:
                yield _block_row(row, int(start), block)
        if starts:
            what = "changed while it was scored; leave it alone, and score it again"
            raise RunError(f"{InputFile(row['path'])}: {what}")
    except JudgeError as error:  # the file was readable when it was checked
        yield _block_row(row, 0, error)


def _block_row(row: RayRow, start: int, block: Block | JudgeError) -> RayRow:
    return {"path": [row["path"]], "start": [start], "block": [pickle.dumps(block)]}


class Scorer:
    """An actor that scores blocks into their shards, with one `Evaluator` for all of them."""

    def __init__(self, plan: Plan) -> None:
        self._evaluator = Evaluator(plan.config)
        self._opening = asyncio.Lock()
        self._is_open = False
        self._folder = Path(plan.folder)

    async def __call__(self, row: RayRow) -> RayRow:
        """Score a block; return its name or an error."""
        block: Block | JudgeError = pickle.loads(row["block"])  # noqa: S301  our own
        done: str | JudgeError
        if isinstance(block, JudgeError):
            done = block
        else:
            try:
                await self._score(block, row)
                done = block.name
            except JudgeError as error:
                done = _with_host(error)
        return {"done": pickle.dumps(done)}

    async def _score(self, block: Block, row: RayRow) -> None:
        shard = Shard(self._folder, block.name)
        # The machine that scored it may have been lost before it could say so.
        if len(shard.results()) == len(block.samples):
            return
        with writing(self._folder, _STEP):
            if shard.note_attempt() > _MOST_ATTEMPTS:
                start = int(row["start"])
                place = f"answers {start + 1:,} to {start + len(block.samples):,}"
                raise WorkerLost(
                    f"{InputFile(row['path'])}, {place}: {_MOST_ATTEMPTS} workers died while they "
                    "scored them; take out the answer that kills them, or give their machine more "
                    "memory, then run the same command again"
                )
            async with self._opening:
                if not self._is_open:
                    await self._evaluator.__aenter__()
                    self._is_open = True
            await shard.score(block, self._evaluator)


def _with_host(error: JudgeError) -> JudgeError:
    """Return an error about a setting or a key with the machine whose environment lacks it."""
    if isinstance(error, JudgeUnhealthy) or not isinstance(error, ConfigError | JudgeUnavailable):
        return error
    where = f"on {gethostname()}, in the environment in which Ray was started there"
    return type(error)(f"{error} ({where})")
