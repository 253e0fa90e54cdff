"""A batch folder: requests for a provider, its replies, and the state of each file."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import IO, Final, Self

from pydantic import Field, JsonValue
from pydantic_core import to_json

from judge.backends.openai.batch_model import BatchReply, RequestKey
from judge.backends.openai.chat import PATHS
from judge.config import Config
from judge.errors import InputError, RunError
from judge.inputs.runs import LOCK, hold, parse
from judge.inputs.tables import replacing, writing
from judge.records import Document, Record
from judge.records.run import RunInput

RECORD: Final = "batch.json"
REPLIES: Final = "replies"
MOST_REQUESTS: Final = 50_000
MOST_BYTES: Final = 190_000_000
"""OpenAI takes files of 50,000 requests and 200 MB."""
OVER: Final = frozenset({"completed", "failed", "expired", "cancelled"})
"""The states in which a batch brings no more replies."""
_OWN: Final = re.compile(rf"{re.escape(RECORD)}\b")
_LEFT: Final = re.compile(r"requests-\d{3,}\.jsonl(?:\.part)?|.*\.[0-9a-f]{16}\.part")
_HEAD: Final = re.compile(rb'\{"custom_id":"(judge-[0-9a-f]{40}-\d+)"')
MEND: Final = "mend that, and run the same command again"


class RequestFile(Record):
    """A file of requests and its state."""

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
    state: str = "written"
    """The provider's name of its state; `written` before it is sent."""
    done: int = 0
    """The number of answered requests."""
    failed: int = 0
    """The number of failed requests."""
    outputs: tuple[str, ...] = ()
    """The provider's files of replies and errors."""
    why: str = ""
    """The provider's reason for the failure of the batch."""
    answered: bool = False
    """Whether its replies are here. A request without a reply is then sent again."""


class BatchRecord(Document):
    """The record of a batch folder: its settings, samples and files."""

    config: dict[str, JsonValue]
    """The settings without secrets."""
    input: RunInput
    """The samples."""
    takes: dict[str, JsonValue] = Field(default_factory=dict)
    """The server's capabilities with which the requests were made."""
    files: tuple[RequestFile, ...] = ()
    """The files of requests, in the order in which they were written."""


class BatchFolder:
    """A batch folder; hold it with `held` while it is changed."""

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
    def made(
        cls,
        path: Path,
        config: Config,
        made_from: RunInput,
        settle: Callable[[], dict[str, JsonValue]],
    ) -> Iterator[Self]:
        """Hold the folder for these samples and settings, which is made if it does not exist.

        `settle` probes the server's capabilities, once the folder is known to be the right one.
        """
        record = BatchRecord(config=config.model_dump(mode="json"), input=made_from)
        with writing(path, "name another -o"):
            path.mkdir(parents=True, exist_ok=True)
            strange = any(
                each.name != LOCK and not _OWN.match(each.name) for each in path.iterdir()
            )
            if strange and not (path / RECORD).exists():
                raise RunError(f"{path}: is not empty, and no batch folder; name another -o")
        with hold(path, "judge batch"):
            there = cls.read(path) if (path / RECORD).exists() else cls(path, record)
            there.tidy()
            if there.record.files and (other := _difference(there.record, record)):
                raise RunError(f"{path}: is of other {other}; name another -o")
            takes = settle()
            if there.record.files:
                record, takes = there.record, there.record.takes
            there.record = record.model_copy(update={"input": made_from, "takes": takes})
            there.save()  # first of all, so that a record accounts for what follows
            yield there

    @classmethod
    @contextmanager
    def held(cls, path: Path) -> Iterator[Self]:
        """Hold an existing folder; no other command changes it meanwhile."""
        cls.read(path)
        with hold(path, "judge batch"):
            there = cls.read(path)  # again, because another command may have changed it
            there.tidy()
            yield there

    def tidy(self) -> None:
        """Remove what kill -9 leaves: half a file, or requests that are in no record."""
        names = {file.name for file in self.record.files}
        with writing(self.path, MEND):
            for each in (*self.path.iterdir(), *(self.path / REPLIES).glob("*.part")):
                if _LEFT.fullmatch(each.name) and each.name not in names:
                    each.unlink()

    def save(self, *changed: RequestFile) -> None:
        """Write the record, with these files in the place of those of the same name."""
        files = {each.name: each for each in (*self.record.files, *changed)}
        self.record = self.record.model_copy(update={"files": tuple(files.values())})
        with replacing(self.path / RECORD, MEND, follow=False) as part:
            part.write_bytes(self.record.model_dump_json(by_alias=True, indent=2).encode())

    def config(self) -> Config:
        """Return the settings of the folder."""
        return Config.model_validate(self.record.config)

    def waiting(self) -> set[RequestKey]:
        """Return the requests that may still be answered."""
        found = set[RequestKey]()
        for file in self.record.files:
            if not file.answered:
                found.update(_addresses(self.path / file.name))
        return found

    def bytes_of(self, file: RequestFile) -> Path:
        """Return the path of a file of requests; raise RunError if its bytes have changed."""
        path = self.path / file.name
        with reading(path), path.open("rb") as there:
            same = hashlib.file_digest(there, "sha256").hexdigest() == file.sha256
        if not same:
            raise RunError(f"{path}: is not as it was written; put that back, or name another -o")
        return path

    @cached_property
    def _known(self) -> dict[RequestKey, str]:
        """The last file of each request."""
        files = self.record.files
        return {each: file.name for file in files for each in _addresses(self.path / file.name)}

    def take(self, name: str, lines: Iterable[bytes]) -> tuple[set[str], Counter[str]]:
        """Write the replies to requests of this folder into one file.

        Returns:
            The names of the request files, and a count of other lines by description.

        Raises:
            InputError: no line is a reply to a request of this folder.
        """
        odd, kept = Counter[str](), set[str]()
        with writing(self.path, MEND):
            (self.path / REPLIES).mkdir(exist_ok=True)
        with replacing(self.path / REPLIES / name, MEND, follow=False) as part:
            with part.open("xb") as file:
                for line in lines:
                    reply = BatchReply.parse(line)
                    of = self._known.get(reply.key) if reply else None
                    if of is None:
                        odd["a line is no reply to a request of this folder"] += bool(line.strip())
                        continue
                    kept.add(of)
                    file.write(line.rstrip(b"\r\n") + b"\n")
            if odd.total() and not kept:
                raise InputError(f"no line is a reply to a request of {self.path}")
        return kept, odd

    def writer(self, *, requests: int = MOST_REQUESTS, size: int = MOST_BYTES) -> "RequestWriter":
        """Return a writer of the next requests of this folder."""
        return RequestWriter(self, requests, size)


class Replies:
    """The replies to the requests of a folder, read from disk when they are needed."""

    def __init__(self, folder: BatchFolder) -> None:
        self._places: dict[str, dict[int, tuple[Path, int]]] = {}
        self.served = ""
        """The model that the first reply names; empty if none does."""
        self.troubles = Counter[str]()
        """The provider's reasons for requests without an answer."""
        found = dict[RequestKey, str]()
        for path in sorted((folder.path / REPLIES).glob("*.jsonl")):
            with reading(path):
                found |= self._index(path)
        answered = (each for each in found if each.limit not in self._places.get(each.digest, {}))
        self.troubles.update(found[each] for each in answered)

    def __len__(self) -> int:
        return sum(map(len, self._places.values()))

    def _index(self, path: Path) -> dict[RequestKey, str]:
        """Index the replies of a file; return the reasons for requests without one."""
        troubles, place = dict[RequestKey, str](), 0
        with path.open("rb") as file:
            for line in file:
                if reply := BatchReply.parse(line):
                    if trouble := reply.trouble():
                        troubles[reply.key] = trouble
                    else:
                        self.served = self.served or reply.served()
                        limits = self._places.setdefault(reply.key.digest, {})
                        limits[reply.key.limit] = (path, place)
                place += len(line)
        return troubles

    def find(self, key: RequestKey) -> BatchReply | None:
        """Return the reply to a request, or a complete one to it with another limit."""
        limits = self._places.get(key.digest, {})
        for limit in sorted(limits, key=lambda each: (each != key.limit, each)):
            path, place = limits[limit]
            with reading(path), path.open("rb") as file:
                file.seek(place)
                reply = BatchReply.parse(file.readline())
            if reply and (limit == key.limit or reply.is_whole()):
                return reply
        return None


class RequestWriter:
    """A context manager that writes each request once, into files of a size that providers take.

    The files enter the folder's record when it is left without an error.
    """

    def __init__(self, folder: BatchFolder, requests: int, size: int) -> None:
        self._folder = folder
        self._most = (requests, size)
        self._url = f"/v1{PATHS[folder.config().endpoint]}"
        # By key alone: the reply to one with another limit may well be whole.
        self._seen = {each.digest for each in folder.waiting()}
        self.written: list[RequestFile] = []
        """The new files."""
        self._open: tuple[IO[bytes], Path] | None = None
        self._count = self._size = 0
        self._digest = hashlib.sha256()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            if self._open:
                with suppress(OSError):  # the disk is full
                    self._open[0].close()
            self.written.clear()
            self._folder.tidy()
            return
        self._close()
        if self.written:
            with writing(self._folder.path, MEND):
                for file in self.written:
                    part = self._folder.path / f"{file.name}.part"
                    part.replace(part.with_suffix(""))
            self._folder.save(*self.written)

    def add(self, key: RequestKey, body: Mapping[str, JsonValue]) -> None:
        """Write a request, unless it is there already."""
        if key.digest in self._seen:
            return
        self._seen.add(key.digest)
        row = {"custom_id": str(key), "method": "POST", "url": self._url}
        line = to_json(row | {"body": body}) + b"\n"
        if self._count and (self._count >= self._most[0] or self._size + len(line) > self._most[1]):
            self._close()
        if self._open is None:
            number = len(self._folder.record.files) + len(self.written) + 1
            path = self._folder.path / f"requests-{number:03}.jsonl"
            with writing(path, MEND):
                self._open = (path.with_name(f"{path.name}.part").open("xb"), path)
        with writing(self._open[1], MEND):
            self._open[0].write(line)
        self._digest.update(line)
        self._count += 1
        self._size += len(line)

    def _close(self) -> None:
        if self._open is None:
            return
        with writing(self._open[1], MEND):
            self._open[0].close()
        file = RequestFile(
            name=self._open[1].name,
            requests=self._count,
            size=self._size,
            sha256=self._digest.hexdigest(),
        )
        self.written.append(file)
        self._open, self._count, self._size, self._digest = None, 0, 0, hashlib.sha256()


def _addresses(path: Path) -> Iterator[RequestKey]:
    with reading(path), path.open("rb") as file:
        for line in file:
            found = _HEAD.match(line)
            if found and (key := RequestKey.parse(found[1].decode())):
                yield key


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn an OSError about `path` into a RunError."""
    try:
        yield
    except OSError as error:
        raise RunError(f"{path}: cannot be read ({error.strerror}); {MEND}") from None


def _difference(earlier: BatchRecord, record: BatchRecord) -> str:
    """Return the difference between two folders; empty if they are the same."""
    if earlier.input.sha256 != record.input.sha256:
        return f"samples ({earlier.input.path})"
    names = earlier.config.keys() | record.config.keys()
    apart = sorted(n for n in names if earlier.config.get(n) != record.config.get(n))
    return f"settings ({', '.join(apart)})" if apart else ""
