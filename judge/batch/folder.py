"""A batch folder: requests for a provider, its replies, and how far each file of them has come."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, Literal, Self

from pydantic import Field, JsonValue
from pydantic_core import to_json

from judge.backends.openai.mailbox import Address, Letter
from judge.config import Config
from judge.errors import InputError, RunError
from judge.files.folder import hold
from judge.files.runs import parse
from judge.files.tables import replacing, writing
from judge.records import Record
from judge.records.run import RunInput

RECORD: Final = "batch.json"
REPLIES: Final = "replies"
MOST_REQUESTS: Final = 50_000
MOST_BYTES: Final = 190_000_000
"""Of a file: OpenAI takes 50,000 requests and 200 MB."""
OVER: Final = frozenset({"completed", "failed", "expired", "cancelled"})
"""The states from which a batch brings no more."""
_HEAD: Final = re.compile(rb'\{"custom_id":"(judge-[0-9a-f]{40}-\d+)"')
_SHOWN: Final = 3
_MEND: Final = "mend that, and run the same command again"


class RequestFile(Record):
    """A file of requests, and what became of it."""

    name: str
    """In the folder."""
    requests: int
    """How many it holds."""
    size: int
    """In bytes."""
    sha256: str
    """Of its bytes; the provider keeps it with the batch, so that none is sent twice."""
    batch: str = ""
    """What the provider calls the batch; empty before it is sent."""
    state: str = "written"
    """The provider's word for how far it is; before that, `written`."""
    done: int = 0
    """Requests the provider has answered."""
    failed: int = 0
    """Requests it could not answer."""
    outputs: tuple[str, ...] = ()
    """The provider's files of replies and errors."""
    why: str = ""
    """What the provider says of a batch that failed."""
    answered: bool = False
    """Whether its replies are here: what has none then is to be asked again."""


class BatchRecord(Record):
    """What a batch folder was made from."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    """Version of this layout."""
    config: dict[str, JsonValue]
    """All settings, without secrets."""
    input: RunInput
    """The samples."""
    takes: dict[str, JsonValue]
    """What the server takes, as requests were made."""
    files: tuple[RequestFile, ...] = ()
    """In the order they were written."""


class BatchFolder:
    """A batch folder; hold it with `held` while it is changed.

    Raises:
        RunError: it is none, or damaged.
    """

    def __init__(self, path: Path, record: BatchRecord) -> None:
        self.path = path
        self.record = record

    @classmethod
    def read(cls, path: Path) -> Self:
        """The folder that is there."""
        try:
            data = (path / RECORD).read_bytes()
        except OSError:
            message = f"{path}: is no batch folder; make one with judge batch write SAMPLES -o"
            raise RunError(message) from None
        return cls(path, parse(data, BatchRecord, str(path / RECORD), "write it anew"))

    @classmethod
    def make(
        cls, path: Path, config: Config, made_from: RunInput, takes: dict[str, JsonValue]
    ) -> Self:
        """The folder for these samples and settings, as far as it has come; new where none is."""
        settings = config.model_dump(mode="json")
        record = BatchRecord(config=settings, input=made_from, takes=takes)
        if (path / RECORD).exists():
            earlier = cls.read(path)
            apart = (earlier.record.input.sha256, earlier.record.config)
            if apart != (made_from.sha256, record.config):
                raise RunError(f"{path}: is of other samples or settings; name another -o")
            return earlier
        with writing(path, "name another -o"):
            path.mkdir(parents=True, exist_ok=True)
            if any(path.iterdir()):
                raise RunError(f"{path}: is not empty, and no batch folder; name another -o")
        return cls(path, record)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other commands from changing it."""
        with hold(self.path, "judge batch"):
            yield

    def save(self, *changed: RequestFile) -> None:
        """Keep the record, with these files in the place of those of the same name."""
        files = {each.name: each for each in (*self.record.files, *changed)}
        self.record = self.record.model_copy(update={"files": tuple(files.values())})
        with replacing(self.path / RECORD, _MEND, follow=False) as part:
            part.write_bytes(self.record.model_dump_json(by_alias=True, indent=2).encode())

    def config(self) -> Config:
        """The settings it was written with."""
        return Config.model_validate(self.record.config)

    def waiting(self) -> set[Address]:
        """The requests that were written, and may still be answered."""
        found = set[Address]()
        for file in self.record.files:
            if not file.answered:
                found.update(_addresses(self.path / file.name))
        return found

    def take(self, name: str, lines: Iterable[bytes]) -> Counter[str]:
        """Keep what came for requests of this folder, as one file; counts what is none of that.

        Raises:
            InputError: not one line is of use.
        """
        odd, kept = Counter[str](), 0
        known = {each for file in self.record.files for each in _addresses(self.path / file.name)}
        with writing(self.path, _MEND):
            (self.path / REPLIES).mkdir(exist_ok=True)
        with replacing(self.path / REPLIES / name, _MEND, follow=False) as part:
            with part.open("xb") as file:
                for line in lines:
                    letter = Letter.parse(line)
                    if letter is None or letter.address not in known:
                        odd["a line is no reply to a request of this folder"] += bool(line.strip())
                        continue
                    kept += 1
                    file.write(line.rstrip(b"\r\n") + b"\n")
            if odd and not kept:
                raise InputError(f"no line of {name} is a reply to a request of {self.path}")
        return odd

    def writer(self, *, requests: int = MOST_REQUESTS, size: int = MOST_BYTES) -> "RequestWriter":
        """Writes the next requests of this folder."""
        return RequestWriter(self, requests, size)


class Replies:
    """What came for the requests of a folder, looked up where it lies; close it in the end."""

    def __init__(self, folder: BatchFolder) -> None:
        self._places: dict[str, dict[int, tuple[int, int]]] = {}
        self._files: list[IO[bytes]] = []
        self.served = ""
        """What the server calls its model, as the first reply says; empty where none does."""
        self.troubles = Counter[str]()
        """What the provider says of requests that it did not answer."""
        found = dict[Address, str]()
        for path in sorted((folder.path / REPLIES).glob("*.jsonl")):
            self._files.append(path.open("rb"))
            found |= self._index(len(self._files) - 1)
        answered = (each for each in found if each.limit not in self._places.get(each.key, {}))
        self.troubles.update(found[each] for each in answered)

    def _index(self, number: int) -> dict[Address, str]:
        """Note where the replies of a file are; what it says of requests without one."""
        troubles, place = dict[Address, str](), 0
        for line in self._files[number]:
            if letter := Letter.parse(line):
                if trouble := letter.trouble():
                    troubles[letter.address] = trouble
                else:
                    self.served = self.served or letter.served()
                    limits = self._places.setdefault(letter.address.key, {})
                    limits[letter.address.limit] = (number, place)
            place += len(line)
        return troubles

    def find(self, address: Address) -> Letter | None:
        """The reply to a request; else one to the same with another limit, which did not cut it."""
        limits = self._places.get(address.key, {})
        for limit in sorted(limits, key=lambda each: (each != address.limit, each)):
            letter = self._read(*limits[limit])
            if letter and (limit == address.limit or not letter.is_cut()):
                return letter
        return None

    def _read(self, number: int, place: int) -> Letter | None:
        self._files[number].seek(place)
        return Letter.parse(self._files[number].readline())

    def close(self) -> None:
        """Let go of the files."""
        for file in self._files:
            file.close()


class RequestWriter:
    """Writes requests into files of a size that providers take, each request once.

    A context manager: the files count, and stand in the folder's record, once it is left whole.
    """

    def __init__(self, folder: BatchFolder, requests: int, size: int) -> None:
        self._folder = folder
        self._most = (requests, size)
        self._seen = folder.waiting()
        self.waiting = len(self._seen)
        """Requests that were written before, and may still be answered."""
        self.written: list[RequestFile] = []
        """The new files."""
        self._open: tuple[IO[bytes], Path] | None = None
        self._count = self._size = 0
        self._digest = hashlib.sha256()

    def __enter__(self) -> Self:
        for left in self._folder.path.glob("requests-*.part"):
            left.unlink()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._close()
        parts = [self._folder.path / f"{file.name}.part" for file in self.written]
        if kind is None and self.written:
            for part in parts:
                part.replace(part.with_suffix(""))
            self._folder.save(*self.written)
        else:
            for part in parts:
                part.unlink(missing_ok=True)
            self.written.clear()

    def add(self, address: Address, body: Mapping[str, JsonValue]) -> None:
        """Write a request, unless it stands there already."""
        if address in self._seen:
            return
        self._seen.add(address)
        row = {"custom_id": str(address), "method": "POST", "url": "/v1/chat/completions"}
        line = to_json(row | {"body": body}) + b"\n"
        if self._count and (self._count >= self._most[0] or self._size + len(line) > self._most[1]):
            self._close()
        if self._open is None:
            number = len(self._folder.record.files) + len(self.written) + 1
            path = self._folder.path / f"requests-{number:03}.jsonl"
            with writing(path, _MEND):
                self._open = (path.with_name(f"{path.name}.part").open("xb"), path)
        with writing(self._open[1], _MEND):
            self._open[0].write(line)
        self._digest.update(line)
        self._count += 1
        self._size += len(line)

    def _close(self) -> None:
        if self._open is None:
            return
        self._open[0].close()
        file = RequestFile(
            name=self._open[1].name,
            requests=self._count,
            size=self._size,
            sha256=self._digest.hexdigest(),
        )
        self.written.append(file)
        self._open, self._count, self._size, self._digest = None, 0, 0, hashlib.sha256()


def _addresses(path: Path) -> Iterator[Address]:
    try:
        with path.open("rb") as file:
            for line in file:
                found = _HEAD.match(line)
                if found and (address := Address.parse(found[1].decode())):
                    yield address
    except OSError as error:
        raise RunError(f"{path}: cannot be read ({error.strerror}); {_MEND}") from None
