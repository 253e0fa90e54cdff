"""Batches of a provider: requests in a folder, their replies, and the cache filled by them."""

import asyncio
import hashlib
import os
import re
import shutil
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from pydantic import Field, JsonValue, model_validator
from pydantic_core import to_json

from judge.backends.openai.batches import WAITS, BatchReply, RequestKey, ask_batch
from judge.backends.openai.chat import PATHS
from judge.backends.openai.model import Send
from judge.backends.store.cache import cache_folder
from judge.compose import address, compose, open_provider, settled
from judge.config import Config, load_config
from judge.errors import ConfigError, InputError, JudgeUnhealthy, RunError
from judge.evaluator import Evaluator
from judge.inputs.runs import LOCK, has_bytes, hold, parse
from judge.inputs.samples import check_samples, read_samples
from judge.inputs.tables import replacing, writing
from judge.judges.prompted import BARREN
from judge.records import Document, Record, Unscored, Verdict
from judge.records.run import RunInput
from judge.reports.worst import outcomes

if TYPE_CHECKING:
    from judge.backends.openai.batches import Batch, Provider

RECORD: Final = "batch.json"
REPLIES: Final = "replies"
OVER: Final = frozenset({"completed", "failed", "expired", "cancelled"})
"""The states in which a batch brings no more replies."""
_LEFTOVER: Final = re.compile(r"requests-\d{3,}\.jsonl|.*\.[0-9a-f]{16}\.part")
_LINE_START: Final = re.compile(rb'\{"custom_id":"(judge-[0-9a-f]{40}-\d+)"')
_JUDGED: Final = "judged"
MEND: Final = "mend that, and run the same command again"
_DROPPED: Final = frozenset({"max_line", "state", "done", "failed", "outputs", "why"})
"""Settings and fields of a file that earlier versions wrote into the record."""


class RequestFile(Record):
    """A file of requests."""

    name: str = Field(pattern=r"^requests-\d{3,}\.jsonl$")
    """The name of the file in the folder."""
    requests: int
    """The number of requests."""
    size: int
    """The size of the file in bytes."""
    sha256: str
    """The hash of its bytes. The provider keeps it with the batch, so that none is sent twice."""
    batch: str = ""
    """The provider's id of the batch; empty before it is sent."""
    answered: bool = False
    """Whether its replies are here. A request without a reply is then sent again."""


class BatchRecord(Document):
    """The record of a batch folder: its settings, samples and files."""

    config: dict[str, JsonValue]
    """The settings without secrets."""
    input: RunInput
    """The samples."""
    takes: dict[str, JsonValue] = Field(default_factory=dict)
    """The options of the server that the requests use."""
    files: tuple[RequestFile, ...] = ()
    """The files of requests, in the order in which they were written."""

    @model_validator(mode="before")
    @classmethod
    def _without_dropped_fields(cls, data: Any) -> Any:  # noqa: ANN401  whatever is validated
        """Leave out what earlier versions wrote, so that replies that were paid for can be read."""
        if not isinstance(data, dict) or not isinstance(data.get("files", ()), list | tuple):
            return data
        files = [_without_dropped(each) for each in data.get("files", ())]
        return data | {"config": _without_dropped(data.get("config")), "files": files}


def _without_dropped(value: Any) -> Any:  # noqa: ANN401  whatever is validated
    if not isinstance(value, dict):
        return value
    return {name: each for name, each in value.items() if name not in _DROPPED}


class BatchFolder:
    """A batch folder; hold it with `hold` while it is changed."""

    def __init__(self, path: Path, record: BatchRecord) -> None:
        self.path = path
        self.record = record

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return a batch folder; raise RunError if it is absent or damaged."""
        try:
            data = (path / RECORD).read_bytes()
        except OSError:
            message = f"{path}: is no batch folder; make one with judge batch write SAMPLES -o"
            raise RunError(message) from None
        return cls(path, parse(data, BatchRecord, str(path / RECORD), "write it anew"))

    @classmethod
    @contextmanager
    def prepare(cls, path: Path, config: Config, made_from: RunInput) -> Iterator[Self]:
        """Hold the folder for these samples and settings. A missing folder is created."""
        record = BatchRecord(config=config.model_dump(mode="json"), input=made_from)
        with writing(path, "name another -o"):
            path.mkdir(parents=True, exist_ok=True)
            # A kill -9 may leave a part of the record.
            ours = (LOCK, f".{RECORD}.")
            names = [each.name for each in path.iterdir() if not each.name.startswith(ours)]
        if names and RECORD not in names:
            raise RunError(f"{path}: is not empty, and no batch folder; name another -o")
        if not names:
            cls(path, record).save()
        with cls.hold(path) as folder:
            if not folder.record.files:
                folder.record = record
            elif other := _difference(folder.record, record):
                raise RunError(f"{path}: is of other {other}; name another -o")
            # The samples may have been moved.
            folder.record = folder.record.model_copy(update={"input": made_from})
            yield folder

    @classmethod
    @contextmanager
    def hold(cls, path: Path) -> Iterator[Self]:
        """Hold an existing folder; no other command changes it meanwhile."""
        cls.read(path)
        with hold(path, "judge batch"):
            folder = cls.read(path)  # again, because another command may have changed it
            folder.tidy()
            yield folder

    def tidy(self) -> None:
        """Remove what kill -9 leaves: half a file, or requests that are in no record."""
        names = {file.name for file in self.record.files}
        for each in (*self.path.iterdir(), *(self.path / REPLIES).glob("*.part")):
            if _LEFTOVER.fullmatch(each.name) and each.name not in names:
                each.unlink()

    def save(self, *changed: RequestFile) -> None:
        """Write the record. Each file replaces the one of the same name in it."""
        files = {each.name: each for each in (*self.record.files, *changed)}
        self.record = self.record.model_copy(update={"files": tuple(files.values())})
        with replacing(self.path / RECORD, MEND, follow=False) as part:
            part.write_bytes(self.record.model_dump_json(by_alias=True, indent=2).encode())

    def config(self) -> Config:
        """Return the settings of the folder."""
        return Config.model_validate(self.record.config)

    def keys(self, file: RequestFile) -> Iterator[RequestKey]:
        """Yield the names of the requests in a file."""
        with (self.path / file.name).open("rb") as lines:
            for line in lines:
                found = _LINE_START.match(line)
                if found and (key := RequestKey.parse(found[1].decode())):
                    yield key

    def waiting(self) -> set[RequestKey]:
        """Return the requests that may still be answered."""
        return {key for file in self.record.files if not file.answered for key in self.keys(file)}

    @contextmanager
    def new_replies(self, name: str) -> Iterator[Path]:
        """Yield the path of a new file of replies."""
        stem = "".join(c if c.isalnum() or c in "-_" else "-" for c in name)[-80:]
        (self.path / REPLIES).mkdir(exist_ok=True)
        with replacing(self.path / REPLIES / f"{stem}.jsonl", MEND, follow=False) as part:
            yield part


def write_requests(
    source: Path,
    output: Path,
    settings: Config,
    *,
    skip_bad_lines: bool,
    probe: bool,
    max_requests: int,
    max_bytes: int,
) -> "tuple[list[RequestFile], Filled]":
    """Write the requests that the cache misses into the batch folder `output`.

    `probe` finds out what the server accepts, unless an earlier run did. Return the new files, of
    at most `max_requests` and `max_bytes` each, and the state of the answers.
    """
    if not settings.asks_model:
        raise ConfigError("only a language model is asked in batches; name one with --model")
    if not settings.cache:
        raise ConfigError("a batch fills the cache; leave out --no-cache")
    if str(source) == "-":
        raise ConfigError("a batch is read from a file, not standard input; name one")
    path = str(source.absolute())
    if os.fsencode(path).decode(errors="replace") != path:
        raise ConfigError(f"{path!r}: the path is not UTF-8, as a batch folder needs; rename it")
    on_bad = (lambda _: None) if skip_bad_lines else None
    checked = check_samples(source, on_bad=on_bad, mapping=settings.map)
    made_from = RunInput(
        path=path,
        sha256=checked.sha256,
        samples=checked.samples,
        rejected=checked.rejected,
    )
    # The other steps may be taken elsewhere, in another environment.
    cache = None if settings.cache_url else cache_folder(settings).absolute()
    settings = settings.model_copy(update={"base_url": address(settings), "cache_dir": cache})

    with BatchFolder.prepare(output, settings, made_from) as folder:
        takes = asyncio.run(settled(settings, ask=probe))
        if settings.repeat > 1 and not takes["seed"]:
            raise ConfigError(
                f"repeat {settings.repeat}: {settings.model} takes no seed, and a repeat would be "
                "given the reply of the first; leave it out here, and repeat in judge score"
            )
        if not folder.record.files:  # requests that are there keep what they were made with
            folder.record = folder.record.model_copy(update={"takes": takes})
        folder.save()
        writer = RequestWriter(folder, max_requests, max_bytes)
        try:
            filled = fill(folder, writer.add)
            return writer.finish(), filled
        finally:
            folder.tidy()


async def send_files(folder: BatchFolder) -> AsyncGenerator[tuple[RequestFile, bool, str]]:
    """Send the files that were not sent; yield each, whether it was sent before, and the server."""
    async with _provider(folder) as provider:
        for file in folder.record.files:
            if file.batch or file.answered:
                continue
            path, known = folder.path / file.name, {each.batch for each in folder.record.files}
            if _hash(path) != file.sha256:
                raise RunError(f"{path}: is not as it was written; name another -o")
            found = await provider.find(file.sha256, known)
            endpoint = folder.config().endpoint
            batch = found or await provider.send(path, file.sha256, endpoint)
            folder.save(now := file.model_copy(update={"batch": batch.id}))
            yield now, found is not None, provider.base_url


class BatchState(NamedTuple):
    """The state of a batch."""

    file: RequestFile
    """The file of its requests."""
    batch: "Batch"
    """The provider's record."""
    why: str
    """The provider's reason for the failure of the batch; empty without one."""


async def fetch_replies(folder: BatchFolder) -> list[BatchState]:
    """Fetch the replies of the batches that are over; return the state of each."""
    states = list[BatchState]()
    sent = [file for file in folder.record.files if file.batch and not file.answered]
    if not sent:  # a model without a network may have answered the files
        return states
    async with _provider(folder) as provider:
        for file in sent:
            batch = await provider.status(file.batch)
            states.append(BatchState(file, batch, provider.why(batch)))
            if batch.status not in OVER:
                continue
            for output in filter(None, (batch.output_file_id, batch.error_file_id)):
                with folder.new_replies(f"{file.name}-{output}") as part, part.open("xb") as copy:
                    async for replies in provider.fetch(output):
                        copy.write(replies)
            folder.save(file.model_copy(update={"answered": True}))
    return states


def take_replies(folder: BatchFolder, path: Path) -> None:
    """Copy a file of replies from elsewhere into a folder; raise InputError if it has none."""
    with path.open("rb") as lines:
        found = {reply.key for line in lines if (reply := BatchReply.parse(line))}
    files = [each for each in folder.record.files if not found.isdisjoint(folder.keys(each))]
    if not files:
        raise InputError(f"{path}: no line is a reply to a request of {folder.path}")
    with folder.new_replies(f"given-{_hash(path)[:16]}") as part:
        shutil.copyfile(path, part)
    # The replies to a file that was sent are fetched all the same.
    folder.save(*(file.model_copy(update={"answered": True}) for file in files if not file.batch))


@asynccontextmanager
async def _provider(folder: BatchFolder) -> AsyncGenerator["Provider"]:
    """Open the provider with the headers of the environment, which no file keeps."""
    here, config = load_config({"judge": "similarity"}), folder.config()
    timeout = max(config.timeout, here.timeout)
    settings = config.model_copy(update={"headers": here.headers, "timeout": timeout})
    async with open_provider(settings) as provider:
        yield provider


class Replies:
    """The replies to the requests of a folder, read from disk when they are needed."""

    def __init__(self, folder: BatchFolder) -> None:
        self._places: dict[str, dict[int, tuple[Path, int]]] = {}
        """The file and the position in it, by the digest and the limit of a request."""
        self.served = ""
        """The model that the first reply names; empty if none does."""
        self.troubles = Counter[str]()
        """The provider's reasons for requests without an answer, and lines that are no reply."""
        self.first: dict[str, str] = {}
        """Where each problem occurs first: file and line."""
        troubles = dict[RequestKey, tuple[str, str]]()
        asked = {key.digest for each in folder.record.files for key in folder.keys(each)}
        for path in sorted((folder.path / REPLIES).glob("*.jsonl")):
            place = 0
            with path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    reply, where = BatchReply.parse(line), f"{path}, line {number}"
                    if reply is None:
                        if line.strip():
                            self._count("no JSON, or its custom_id is none of judge", where)
                    elif reply.key.digest not in asked:
                        self._count("its custom_id is no request of this folder", where)
                    elif trouble := reply.trouble:
                        troubles[reply.key] = trouble, where
                    else:
                        self.served = self.served or reply.served
                        limits = self._places.setdefault(reply.key.digest, {})
                        limits[reply.key.limit] = (path, place)
                    place += len(line)
        for key, (trouble, where) in troubles.items():
            if key.limit not in self._places.get(key.digest, {}):
                self._count(trouble, where)

    def _count(self, trouble: str, where: str) -> None:
        self.troubles[trouble] += 1
        self.first.setdefault(trouble, where)

    def __len__(self) -> int:
        return sum(map(len, self._places.values()))

    def find(self, key: RequestKey) -> BatchReply | None:
        """Return the reply to a request, or a complete one to it with another limit."""
        limits = self._places.get(key.digest, {})
        for limit in sorted(limits, key=lambda each: (each != key.limit, each)):
            path, place = limits[limit]
            with path.open("rb") as file:
                file.seek(place)
                reply = BatchReply.parse(file.readline())
            if reply and (limit == key.limit or reply.is_whole):
                return reply
        return None


class RequestWriter:
    """Writes each request once, into files of a size that providers take."""

    def __init__(self, folder: BatchFolder, requests: int, size: int) -> None:
        self._folder = folder
        self._limits = (requests, size)
        self._before = len(folder.record.files)
        self._url = f"/v1{PATHS[folder.config().endpoint]}"
        # Only digests are compared: the reply to a request with another limit may well be whole.
        self._seen = {each.digest for each in folder.waiting()}
        self._counts: list[int] = []
        """The number of requests in each new file."""

    def add(self, key: RequestKey, body: Mapping[str, JsonValue]) -> None:
        """Write a request, unless it is there already."""
        if key.digest in self._seen:
            return
        self._seen.add(key.digest)
        row = {"custom_id": str(key), "method": "POST", "url": self._url}
        line = to_json(row | {"body": body}) + b"\n"
        requests, size = self._limits
        path = self._path(len(self._counts))
        is_full = self._counts and self._counts[-1] >= requests
        if not self._counts or is_full or path.stat().st_size + len(line) > size:
            self._counts.append(0)
            path = self._path(len(self._counts))
        with writing(path, MEND), path.open("ab") as file:
            file.write(line)
        self._counts[-1] += 1

    def finish(self) -> list[RequestFile]:
        """Enter the new files in the folder's record, and return them."""
        written = []
        for number, count in enumerate(self._counts, 1):
            path = self._path(number)
            size, digest = path.stat().st_size, _hash(path)
            written.append(RequestFile(name=path.name, requests=count, size=size, sha256=digest))
        self._folder.save(*written)
        return written

    def _path(self, number: int) -> Path:
        return self._folder.path / f"requests-{self._before + number:03}.jsonl"


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _difference(earlier: BatchRecord, record: BatchRecord) -> str:
    """Return the difference between two folders; empty if they are the same."""
    if earlier.input.sha256 != record.input.sha256:
        return f"samples ({earlier.input.path})"
    names = earlier.config.keys() | record.config.keys()
    changed = sorted(n for n in names if earlier.config.get(n) != record.config.get(n))
    return f"settings ({', '.join(changed)})" if changed else ""


class Filled(NamedTuple):
    """The state of the answers of a batch folder."""

    answers: int
    judged: int
    """Claims with a verdict, which is in the cache."""
    waiting: int
    """Claims that may still get a verdict by a reply."""
    unscored: Counter[str]
    """The other claims, by reason."""
    asked: int
    """Requests without a reply."""
    troubles: Counter[str]
    """The provider's reasons for requests without an answer, and lines that are no reply."""
    first: dict[str, str]
    """Where each problem occurs first: file and line."""

    @property
    def claims(self) -> int:
        """All claims of the answers."""
        return self.judged + self.waiting + self.unscored.total()


def fill(
    folder: BatchFolder, hand_on: Callable[[RequestKey, Mapping[str, JsonValue]], None]
) -> Filled:
    """Judge the samples of a folder with the replies that are there, as `judge score` would.

    Verdicts go into the cache; `hand_on` is called with each request without a reply, once or more.
    """
    made_from = folder.record.input
    path = made_from.path
    if not has_bytes(path, made_from):
        raise RunError(f"{path}: is not what {folder.path} was written from; put that back")
    # Budgets hold when the files are sent.
    unlimited = {"max_cost": None, "max_tokens": None}
    config = folder.config().model_copy(update=unlimited | {"fallback": False, "workers": 1})
    asked = set[str]()

    def note(key: RequestKey, body: Mapping[str, JsonValue]) -> None:
        asked.add(key.digest)
        hand_on(key, body)

    replies = Replies(folder)
    known = {**folder.record.takes, "served": folder.record.takes["served"] or replies.served}
    send = partial(ask_batch, replies.find, note)
    answers, counts = asyncio.run(_judged(config, known, send, path))
    judged, waiting = counts.pop(_JUDGED, 0), counts.pop(WAITS, 0)
    if len(replies) >= BARREN and not judged:
        message = f"{config.model}: none of {len(replies):,} replies holds a usable verdict; "
        raise JudgeUnhealthy(
            message + f"look into {folder.path / REPLIES}, or name another --model"
        )
    return Filled(answers, judged, waiting, counts, len(asked), replies.troubles, replies.first)


async def _judged(
    config: Config, known: Mapping[str, JsonValue], send: Send, path: str
) -> tuple[int, Counter[str]]:
    """Return the number of answers, and counts of claims: judged, waiting, or by reason."""
    answers, counts = 0, Counter[str]()
    await settled(config, known)
    async with compose(config, send) as judges:
        samples = read_samples(path, on_bad=lambda _: None, mapping=config.map)
        async with aclosing(Evaluator(config, judge=judges).evaluate(samples)) as results:
            async for result in results:
                answers += 1
                for outcome in outcomes(result):
                    if isinstance(outcome, Unscored):
                        waits = outcome.detail == WAITS
                        counts[WAITS if waits else outcome.reason.value] += 1
                    counts[_JUDGED] += isinstance(outcome, Verdict)
    return answers, counts
