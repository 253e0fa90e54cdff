"""One scoring job of many machines: Ray Data reads blocks, actors score them into shards."""

import asyncio
import hashlib
import logging
import os
import pickle
import secrets
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import ray
import ray.data
from ray.data.expressions import col

from judge.cluster.actors import Plan, Row, Scorer, added_up, checked, cpus, portable, read, share
from judge.cluster.blocks import tasks
from judge.cluster.session import connected, free, ticking
from judge.config import Config
from judge.errors import InputError, JudgeError, RunError, WorkerLost
from judge.evaluator import Evaluator
from judge.inputs.files import (
    PIPED,
    InputFile,
    input_files,
    is_address,
    is_fifo,
    would_hold,
)
from judge.inputs.rows import FORMS
from judge.inputs.runs import REJECTS, SHARDS, RunFolder, results_in, shards
from judge.jobs.job import Watcher, now, priced, run_record
from judge.records import SampleResult, Summary
from judge.records.run import RunInput, RunRecord
from judge.reports.gate import Gates
from judge.scores.totals import Totals

if TYPE_CHECKING:
    from ray.data import Dataset

_LOG: Final = logging.getLogger("judge")
_CPUS_TO_READ: Final = 0.05
"""Differs from what a scorer reserves, or Ray would run both in one process."""
_MOST_QIDS_HERE: Final = 1_000_000
"""The driver compares up to this many qids itself; Ray, which starts slowly, compares more."""
_SHOWN_NAMES: Final = 5
_BLOCKS_AT_A_TIME: Final = 2
"""Blocks that an actor scores at a time, so that it is not idle at the end of one."""


class _Found(NamedTuple):
    """A block that the check found."""

    name: str
    file: int
    start: int
    """The number of samples before it."""
    samples: int


class ClusterJob:
    """Scores files into one run folder with Ray, from the start or from where it was interrupted.

    The whole input is checked before the first answer is judged. All machines must share the
    folder.

    Args:
        source: a file, a folder, a pattern, or an address such as `s3://bucket/prefix`.
        folder: the run folder.
        config: settings; `concurrency` is that of each replica, rates are divided among them.
        address: of a Ray cluster, as `ray.init` takes it; by default one is started here.
        replicas: actors that score; by default one for each CPU, or one if a server judges.
        force: as in `Job`; so are the next two.
    """

    rejects: Final = f"{REJECTS}/"

    def __init__(
        self,
        source: str,
        folder: Path,
        config: Config,
        *,
        address: str | None = None,
        replicas: int | None = None,
        force: bool = False,
        skip_bad_lines: bool = False,
        gates: Gates | None = None,
    ) -> None:
        self._source, self._folder = source, folder.absolute()
        self._shown = source
        self._config = config
        self._address, self._replicas = address, replicas
        self._force, self._skip = force, skip_bad_lines
        self._gates = gates or Gates()

    def stop(self, _: BaseException) -> bool:
        """Return False: shards are resumed, so nothing needs to be waited for."""
        return False

    def run(self, watcher: Watcher | None = None) -> Summary:
        """Do the job; result and errors as in `Job.run`.

        Raises:
            WorkerLost: workers died of a block as often as Ray tried it, or Ray is gone.
        """
        began = time.monotonic()
        watcher = watcher or Watcher()
        if self._source == PIPED or is_fifo(Path(self._source)):
            raise InputError("--engine ray reads files, each of them twice; save it to one")
        source = self._source
        files = input_files(source if is_address(source) else Path(source).absolute())
        self._refuse_within(files)
        plain = len(files) == 1 and files[0].name.endswith("l") and not is_address(source)
        with (
            RunFolder(self._folder, force=self._force, sharded=True) as folder,
            ExitStack() as held,
        ):
            with ticking(watcher, "connecting to Ray"):
                held.enter_context(connected(self._address))
            replicas = self._replicas or self._default_replicas()
            plan = Plan(
                share(portable(self._config), replicas).model_dump_json(),
                str(self._folder),
                skip=self._skip,
                needs_qid=len(files) > 1,
                copied=not plain,
                session=secrets.token_hex(8),
            )
            with ticking(watcher, lambda: ", ".join(filter(None, ("checking the input", free())))):
                found, made_from = self._check(files, plan)
            record = asyncio.run(self._record(made_from))
            folder.begin(record)
            there = self._there(found)
            kept = sum(each.samples for each in there)
            watcher.on_start(record, kept)
            tally = _Tally(self._folder, Totals(max_unscored=self._config.max_unscored), watcher)
            with ticking(watcher):
                for row in _kept(plan, there):
                    tally.add(row)
            resumed = tally.answers
            if resumed < kept:
                watcher.on_start(record, resumed)
            rest = [each for each in found if each.name not in tally.names]
            with ticking(watcher, lambda: "" if tally.answers > resumed else free()):
                for row in _scored(plan, files, rest, replicas):
                    tally.add(row)
            if tally.answers != made_from.samples:
                what = f"{tally.answers:,} of {made_from.samples:,} answers came back"
                raise WorkerLost(f"{what}; the same command goes on from there")
            summary = self._gates.hold(priced(tally.totals.summary(), self._config))
            seconds = round(time.monotonic() - began, 3)
            ended = {"finished": now(), "seconds": seconds, "resumed": resumed}
            folder.finish(summary, record.model_copy(update=ended))
            return summary

    def _refuse_within(self, files: list[InputFile]) -> None:
        """Raise RunError if the input is or would become part of the run folder."""
        if is_address(self._source):
            return
        folder = os.path.realpath(self._folder)
        for each in files:
            if Path(os.path.realpath(each.address)).is_relative_to(folder):
                raise RunError(f"{each}: stands in the run's own folder; name another -o")
        if would_hold(Path(self._source), self._folder):
            told = "is read whole, and the run would stand in it; name an -o elsewhere"
            raise RunError(f"{self._source}: {told}")

    def _default_replicas(self) -> int:
        return 1 if self._config.asks_server else max(1, int(ray.cluster_resources().get("CPU", 1)))

    def _check(self, files: list[InputFile], plan: Plan) -> tuple[list[_Found], RunInput]:
        """Read the whole input before the folder is touched: so a bad input costs nothing."""
        rows = ray.data.from_items(
            [{"file": number, "path": each.address} for number, each in enumerate(files)],
            override_num_blocks=tasks(files),
        )
        rows = rows.map_batches(checked, fn_kwargs={"plan": plan}, batch_size=1)
        seen = rows.materialize()
        every = sorted(
            seen.drop_columns(["qids"]).iter_rows(),
            key=lambda row: (row["file"], not row["name"], row["name"]),
        )
        if error := next((row["error"] for row in every if row["error"]), None):
            raise _raised(error)
        found, samples = [], 0
        for row in every:
            if row["name"]:
                found.append(_Found(row["name"], row["file"], samples, row["samples"]))
                samples += row["samples"]
        rejected = sum(row["rejected"] for row in every)
        if not samples:
            first = next((row["first"] for row in every if row["first"]), None)
            told = f"all {rejected} lines are bad; the first: {_raised(first)}" if first else ""
            raise InputError(told or f"holds no sample; {FORMS}", path=self._shown)
        if twice := list(_doubled(seen, samples)):
            raise InputError(
                f"{', '.join(map(repr, sorted(twice)[:_SHOWN_NAMES]))} "
                f"{'stands' if len(twice) == 1 else 'stand'} more than once"
                f"{', and others do' if len(twice) > _SHOWN_NAMES else ''}; make each qid unique",
                path=self._shown,
                field="qid",
            )
        digest = hashlib.sha256("".join(each.name for each in found).encode()).hexdigest()
        scored = RunInput(
            path=self._shown if is_address(self._source) else str(Path(self._source).absolute()),
            sha256=digest if plan.copied else every[-1]["sha256"],
            samples=samples,
            rejected=rejected,
        )
        return found, scored

    async def _record(self, scored: RunInput) -> RunRecord:
        async with Evaluator(self._config) as evaluator:
            record = run_record(evaluator, self._config, scored)
        self._gates.expect(record.signature)
        return record

    def _there(self, found: list[_Found]) -> list[_Found]:
        """Return the blocks whose shards are there; remove the shards of other blocks."""
        names = {each.name for each in found}
        there = {path.stem: path for path in shards(self._folder / SHARDS)}
        for name in there.keys() - names:
            there[name].unlink()
        return [each for each in found if each.name in there]


class _Tally:
    """Adds up the shards as they come."""

    def __init__(self, folder: Path, totals: Totals, watcher: Watcher) -> None:
        self.totals, self._folder, self._watcher = totals, folder / SHARDS, watcher
        self.names: set[str] = set()
        self._warned: set[str] = set()
        self.answers = 0

    def add(self, row: Row) -> None:
        """Add what an actor returns for a shard; log a warning that is new."""
        for text in row["warnings"]:
            if text not in self._warned:
                self._warned.add(text)
                _LOG.warning("%s", text)
        if row["error"]:
            raise _raised(row["error"])
        if not row["totals"]:  # the shard is damaged, and is made again
            return
        self.names.add(row["name"])
        self.totals.merge(pickle.loads(row["totals"]))  # noqa: S301  our own actor's
        with (self._folder / f"{row['name']}.jsonl").open("rb") as file:
            for result in results_in(file):
                if isinstance(result, SampleResult):
                    self.answers += 1
                    self._watcher.on_result(result)


def _raised(error: bytes) -> JudgeError:
    """Return the error that an actor met."""
    met: JudgeError = pickle.loads(error)  # noqa: S301  our own actor's
    return met


def _doubled(seen: "Dataset", samples: int) -> Iterable[str]:
    """Return the qids that are not unique."""
    qids = seen.select_columns(["qids"])
    if samples <= _MOST_QIDS_HERE:
        counts = Counter(qid for row in qids.iter_rows() for qid in row["qids"])
        return [qid for qid, count in counts.items() if count > 1]
    flat = qids.flat_map(lambda row: [{"qid": qid} for qid in row["qids"]])
    counted = flat.groupby("qid").count().filter(expr=col("count()") > 1)
    return (row["qid"] for row in counted.iter_rows())


def _kept(plan: Plan, there: list[_Found]) -> Iterable[Row]:
    """Return a row for each shard that an earlier session finished."""
    if not there:
        return []
    rows = ray.data.from_items([each._asdict() for each in there])
    found: Iterable[Row] = rows.map(added_up, fn_kwargs={"plan": plan}).iter_rows()
    return found


def _scored(plan: Plan, files: list[InputFile], rest: list[_Found], replicas: int) -> Iterable[Row]:
    """Return a row for each block, once its shard is written."""
    if not rest:
        return []
    rows: list[Row] = []
    numbers = sorted({each.file for each in rest})
    for number in numbers:
        mine = [each for each in rest if each.file == number]
        starts = {"names": [each.name for each in mine], "starts": [each.start for each in mine]}
        rows.append({"file": number, "path": files[number].address, **starts})
    count = tasks([files[number] for number in numbers])
    given = ray.data.from_items(rows, override_num_blocks=count)
    # One block of ours is one of Ray's, else an actor would be handed all of a file at once.
    given.context.target_max_block_size = 1
    pool = ray.data.ActorPoolStrategy(
        size=replicas,
        max_tasks_in_flight_per_actor=2 * _BLOCKS_AT_A_TIME,
        max_concurrent_calls_per_actor=_BLOCKS_AT_A_TIME,
    )
    reading = {"num_cpus": _CPUS_TO_READ, "concurrency": replicas}
    blocks = given.map_batches(read, fn_kwargs={"plan": plan}, batch_size=1, **reading)
    done = blocks.map(
        Scorer,
        fn_constructor_args=(plan,),
        compute=pool,
        num_cpus=cpus(plan.config),
    )
    found: Iterable[Row] = done.iter_rows()
    return found
