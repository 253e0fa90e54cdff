"""One scoring job of many machines: Ray Data reads blocks, actors score them into shards."""

import asyncio
import contextlib
import logging
import os
import pickle
import signal
import socket
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Final

import ray
import ray.data
from ray.exceptions import RayError, RayTaskError, UserCodeException

from judge.cluster.actors import (
    CheckedFile,
    FoundBlock,
    Plan,
    Scorer,
    Shard,
    check,
    portable,
    read,
)
from judge.config import Config
from judge.errors import ConfigError, InputError, JudgeError, WorkerLost
from judge.evaluator import Evaluator
from judge.inputs.files import PIPED, InputFile, hash_of_hashes, input_files, is_address
from judge.inputs.rows import FORMS
from judge.inputs.runs import REJECTED, SHARDS, RunFolder, shards
from judge.jobs.job import TICK_SECONDS, Watcher, now, priced, run_record, with_cost
from judge.pool import cores
from judge.records import Summary
from judge.records.run import RunInput, RunRecord
from judge.reports.gate import Gates
from judge.scores.totals import Totals

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no telemetry
os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")

_LOOPBACK: Final = "127.0.0.1"
_CONNECT_SECONDS: Final = 10.0
_HTTP2_HELLO: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
"""The beginning of HTTP/2, and so of Ray's gRPC."""
_AUTH: Final = "RAY_AUTH_MODE"
_CPUS_TO_ASK: Final = 0.1
_CPUS_TO_COMPUTE: Final = 0.9
"""Less than a whole processor, so that some is left for reading."""
_CPUS_TO_READ: Final = 0.05
"""Differs from what a scorer reserves, or Ray would run both in one process."""
_BLOCKS_AT_A_TIME: Final = 2
"""Blocks that an actor scores at a time, so that it is not idle at the end of one."""


@dataclass(eq=False)
class ClusterJob:
    """Scores files into one run folder with Ray, from the start or from where it was interrupted.

    The whole input is checked before the first answer is judged. All machines must share the
    folder.
    """

    source: str
    """A file, a folder, a pattern, or an address such as `s3://bucket/prefix`."""
    folder: Path
    """The run folder."""
    config: Config
    """The settings; `concurrency` is that of each replica, rates are divided among them."""
    _: KW_ONLY
    address: str | None = None
    """The address of a Ray cluster, as `ray.init` takes it; by default one is started here."""
    replicas: int | None = None
    """The number of actors that score; by default one for each CPU, or one if a server judges."""
    force: bool = False
    """Replace a finished run, or an unfinished one that differs."""
    skip_bad_lines: bool = False
    """Write bad lines to `rejected.jsonl` and go on, instead of failing."""
    gates: Gates = field(default_factory=Gates)
    """Bounds on the totals; their outcome is part of the summary."""

    def __post_init__(self) -> None:
        self._path = self.source if is_address(self.source) else str(Path(self.source).absolute())
        self._folder = self.folder.absolute()
        self._totals = Totals(max_unscored=self.config.max_unscored)
        self._answers = 0
        self._watcher = Watcher()

    def stop(self, _: BaseException) -> bool:
        """Return False: shards are resumed, so nothing needs to be waited for."""
        return False

    def run(self, watcher: Watcher | None = None) -> Summary:
        """Do the job; the result and the errors are those of `Job.run`.

        Raises:
            WorkerLost: workers died of a block as often as Ray tried it, or Ray is gone.
        """
        began = time.monotonic()
        self._watcher = watcher = watcher or self._watcher
        if self.source == PIPED:
            raise InputError("--engine ray reads files, each of them twice; save it to one")
        files = input_files(self._path)
        with (
            RunFolder(self._folder, force=self.force, sharded=True) as folder,
            ExitStack() as stack,
        ):
            for each in files:
                folder.refuse_source(each.address)
            folder.refuse_source(self._path)
            with _ticks(watcher, "connecting to Ray"):
                stack.enter_context(_ray_cluster(self.address))
            default = 1 if self.config.asks_server else ray.cluster_resources().get("CPU", 1)
            replicas = self.replicas or max(1, int(default))
            plan = Plan(
                portable(self.config, replicas).model_dump_json(),
                str(self._folder),
                skip=self.skip_bad_lines,
                needs_qid=len(files) > 1,
            )
            with _ticks(watcher, "checking the input"):
                checked = _check(files, plan)
            made_from = self._input(checked)
            record = asyncio.run(self._record(made_from))
            folder.begin(record)
            if self.skip_bad_lines:
                rejected = (bad.as_json() for file in checked for bad in file.rejected)
                folder.write_lines(REJECTED, rejected)
            rest = self._resume([each for file in checked for each in file.blocks], record)
            resumed = self._answers
            earlier = with_cost(self._totals.spent(), self.config) if resumed else None
            with _ticks(watcher):
                for block in _scored(plan, files, rest, replicas):
                    self._add(block)
            if self._answers != made_from.samples:
                what = f"{self._answers:,} of {made_from.samples:,} answers came back"
                raise WorkerLost(f"{what}; the same command goes on from there")
            summary = self.gates.hold(priced(self._totals.summary(), self.config))
            seconds = round(time.monotonic() - began, 3)
            ended = {"finished": now(), "seconds": seconds, "resumed": resumed, "earlier": earlier}
            folder.finish(summary, record.model_copy(update=ended))
            return summary

    def _input(self, checked: list[CheckedFile]) -> RunInput:
        """Return what was read; raise InputError if it holds no sample, or a qid is not unique."""
        samples = sum(len(file.qids) for file in checked)
        rejected = [each for file in checked for each in file.rejected]
        if not samples:
            first = f"all {len(rejected)} lines are bad; the first: " if rejected else ""
            what = f"{first}{rejected[0].error}" if rejected else f"holds no sample; {FORMS}"
            raise InputError(what, path=self.source)
        counts = Counter(qid for file in checked for qid in file.qids)
        if len(counts) < samples:
            qid = counts.most_common(1)[0][0]
            what = f"more than one row has the qid {qid!r}; make each qid unique"
            raise InputError(what, path=self.source, field="qid")
        return RunInput(
            path=self._path,
            sha256=hash_of_hashes([file.sha256 for file in checked]),
            samples=samples,
            rejected=len(rejected),
        )

    async def _record(self, scored: RunInput) -> RunRecord:
        async with Evaluator(self.config) as evaluator:
            record = run_record(evaluator, self.config, scored)
        self.gates.expect(record.signature)
        return record

    def _resume(self, found: list[FoundBlock], record: RunRecord) -> dict[str, FoundBlock]:
        """Add up the shards of an earlier session; return the blocks to score, by name."""
        names = {block.name for block in found}
        paths = {path.stem: path for path in shards(self._folder / SHARDS)}
        for name in paths.keys() - names:
            paths[name].unlink()  # another input's
        kept = sum(block.samples for block in found if block.name in paths)
        self._watcher.on_start(record, kept)
        with _ticks(self._watcher):
            rest = [block for block in found if not (block.name in paths and self._add(block))]
        if self._answers < kept:
            self._watcher.on_start(record, self._answers)
        for block in rest:
            Shard(self._folder, block.name).forget_attempts()
        return {block.name: block for block in rest}

    def _add(self, block: FoundBlock) -> bool:
        """Add the results of a block to the totals; return whether its shard is whole."""
        results = Shard(self._folder, block.name).results()
        if len(results) != block.samples:
            return False
        for result in results:
            self._totals.add(result)
            self._watcher.on_result(result)
        self._answers += len(results)
        return True


def _check(files: list[InputFile], plan: Plan) -> list[CheckedFile]:
    """Read every file before the folder is touched, so that a bad input costs nothing."""
    rows = [{"file": number, "path": each.address} for number, each in enumerate(files)]
    files_to_check = ray.data.from_items(rows).map(check, fn_kwargs={"plan": plan})
    found = {row["file"]: pickle.loads(row["checked"]) for row in files_to_check.iter_rows()}  # noqa: S301  our own
    checked, start = [], 0
    for _, file in sorted(found.items()):
        if isinstance(file, JudgeError):
            raise file
        blocks = []
        for block in file.blocks:
            blocks.append(block._replace(start=start))
            start += block.samples
        checked.append(file._replace(blocks=blocks))
    return checked


def _scored(
    plan: Plan, files: list[InputFile], rest: dict[str, FoundBlock], replicas: int
) -> Iterator[FoundBlock]:
    """Yield each block once its shard is written."""
    if not rest:
        return
    by_file: dict[int, list[FoundBlock]] = {}
    for block in rest.values():
        by_file.setdefault(block.file, []).append(block)
    files_to_score = ray.data.from_items(
        [
            {
                "file": number,
                "path": files[number].address,
                "names": [block.name for block in mine],
                "starts": [block.start for block in mine],
            }
            for number, mine in by_file.items()
        ]
    )
    # One block of ours is one of Ray's, else an actor would be handed all of a file at once.
    files_to_score.context.target_max_block_size = 1
    pool = ray.data.ActorPoolStrategy(
        size=replicas,
        max_tasks_in_flight_per_actor=2 * _BLOCKS_AT_A_TIME,
        max_concurrent_calls_per_actor=_BLOCKS_AT_A_TIME,
    )
    reading = {"num_cpus": _CPUS_TO_READ, "concurrency": replicas}
    blocks = files_to_score.map_batches(read, fn_kwargs={"plan": plan}, batch_size=1, **reading)
    cpus = _CPUS_TO_ASK if plan.config.asks_server else _CPUS_TO_COMPUTE
    scored = blocks.map(Scorer, fn_constructor_args=(plan,), compute=pool, num_cpus=cpus)
    for row in scored.iter_rows():
        done: str | JudgeError = pickle.loads(row["done"])  # noqa: S301  our own
        if isinstance(done, JudgeError):
            raise done
        yield rest[done]


@contextmanager
def _ticks(watcher: Watcher, text: str = "") -> Iterator[None]:
    """Call the watcher's `on_tick` from a thread, with what is done meanwhile."""
    done = threading.Event()

    def tick() -> None:
        while not done.wait(TICK_SECONDS):
            watcher.on_tick(text)

    ticker = threading.Thread(target=tick, daemon=True)
    ticker.start()
    try:
        yield
    finally:
        done.set()
        ticker.join(2 * TICK_SECONDS)  # the watcher may wait for a cluster that is gone


def _reason(error: RayError) -> str:
    """Return the first line of an error of Ray's own; raise the error if it is a bug of ours."""
    cause = error.cause if isinstance(error, RayTaskError) else error
    if not isinstance(cause, RayError) or isinstance(cause, UserCodeException):
        raise error
    return str(cause).partition("\n")[0]


@contextmanager
def _ray_cluster(address: str | None) -> Iterator[None]:
    """Connect to a Ray cluster, or start one here; one that runs in this process stays as it is.

    Raises:
        ConfigError: the cluster cannot be reached or started.
        WorkerLost: it is lost meanwhile.
    """
    if ray.is_initialized():
        with _quiet():
            yield
        return
    with _quiet():
        _connect(address)
        try:
            yield
        except RayError as error:
            why = _reason(error)
            raise WorkerLost(f"Ray: {why}; the same command goes on from there") from None
        finally:
            ray.shutdown()


def _connect(address: str | None) -> None:
    option = f"--address {address}" if address else f"RAY_ADDRESS {os.environ.get('RAY_ADDRESS')}"
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    options: dict[str, object] = {}
    if address == "local":
        options = {"num_cpus": cores(), "include_dashboard": False, "_node_ip_address": _LOOPBACK}
    host, _, port = address.rpartition(":")
    handler = signal.getsignal(signal.SIGTERM)
    try:
        if host and port.isdecimal() and "//" not in host:
            _greet(host, int(port))
        # Ray puts the driver's working folder on the import path of its workers.
        with _without_stderr(), contextlib.chdir("/"):
            ray.init(address, log_to_driver=False, logging_level="ERROR", **options)
    except (OSError, ValueError, RuntimeError, RayError) as error:
        why = str(error).partition("\n")[0].partition(". ")[0]
        step = "" if _AUTH in os.environ else f", set {_AUTH}=token where it asks for a token"
        message = f"{option}: {why}; start Ray there{step}, or leave it out"
        if options:
            message = f"Ray cannot be started here: {why}; RAY_TMPDIR names another folder for it"
        raise ConfigError(message) from None
    finally:
        if threading.current_thread() is threading.main_thread():
            # Ray's own handler ends the process without a word.
            signal.signal(signal.SIGTERM, handler)


def _greet(host: str, port: int) -> None:
    """Raise OSError if no server answers HTTP/2 there: `ray.init` would try for ever."""
    with socket.create_connection((host, port), _CONNECT_SECONDS) as line:
        line.sendall(_HTTP2_HELLO)
        line.recv(1)


@contextmanager
def _without_stderr() -> Iterator[None]:
    """Close standard error meanwhile: Ray's C++ announces its log level there."""
    stderr = os.dup(2)
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide Ray Data's plans and warnings; send what Ray says of dead workers to standard error."""
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    with warnings.catch_warnings(), contextlib.redirect_stdout(sys.stderr):
        warnings.filterwarnings("ignore", "The m(in|ax)imum number of concurrent", UserWarning)
        yield
