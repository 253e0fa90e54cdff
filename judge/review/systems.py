"""Systems whose rankings are pooled: what they rank for some queries, and the texts of it."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from judge.errors import InputError
from judge.files.columns import TABLES
from judge.files.documents import jsonl_rows
from judge.files.fields import chunk_of
from judge.files.inputs import is_many
from judge.files.samples import Source
from judge.files.source import (
    PEEK,
    TextLines,
    open_source,
    placed,
    readable,
    spoken,
)
from judge.records import Chunk, Sample
from judge.retrieval.ranking import Order, run_queries
from judge.retrieval.records import RankRules
from judge.retrieval.trec import ScatteredError, read_run
from judge.text.visible import clip

Place = tuple[str, str]
"""A qid and a chunk id: ids that only number a query's chunks name other ones elsewhere."""

_SHOWN: Final = 60
_TREC: Final = 6
_SCORE: Final = 4


class System(NamedTuple):
    """A system's rankings: a file of samples, or a TREC run."""

    name: str
    file: str


class Reader:
    """How samples are read: a file each time in one way, and its bad lines are told once.

    Args:
        skip_bad_lines: as of `Source`.
        max_line: likewise.
    """

    def __init__(self, skip_bad_lines: bool, max_line: float) -> None:  # noqa: FBT001
        self.max_line = max_line
        self._skip_bad_lines = skip_bad_lines
        self._sources: dict[str, Source] = {}

    def source(
        self,
        name: str,
        needs: Collection[str] = (),
        check: Callable[[Sample], None] | None = None,
    ) -> Source:
        """A file of samples; arguments as of `Source`, and those of the first time count."""
        if name not in self._sources:
            skip, longest = self._skip_bad_lines, self.max_line
            source = Source(name, needs, skip_bad_lines=skip, check=check, max_line=longest)
            self._sources[name] = source
        return self._sources[name]


class Ranked(NamedTuple):
    """What a system has of the queries that are wanted, by qid."""

    system: System
    rankings: dict[str, tuple[str, ...]]
    """Chunk ids, best first, each once."""
    samples: dict[str, Sample]
    """Empty where the file is a TREC run."""
    qids: set[str]
    """Of all its queries, wanted or not."""


def read_system(system: System, wanted: Collection[str], reader: Reader) -> Ranked:
    """What a system ranks for the queries that are wanted.

    Raises:
        InputError: the file cannot be read as samples or as a TREC run.
    """
    qids: set[str] = set()

    def is_wanted(qid: str) -> bool:
        qids.add(qid)
        return qid in wanted

    with placed(spoken(system.file)), readable(system.file) as path:
        if _is_run(path):
            try:
                rankings = dict(_of_run(path, is_wanted, reader.max_line, whole=False))
            except ScatteredError:  # rare, and only then the run must fit the memory
                rankings = dict(_of_run(path, is_wanted, reader.max_line, whole=True))
            return Ranked(system, rankings, {}, qids)
    with reader.source(system.file).samples() as read:
        samples = {sample.qid: sample for sample in read if is_wanted(sample.qid)}
    return Ranked(system, {qid: ranking_of(each) for qid, each in samples.items()}, samples, qids)


def ranking_of(sample: Sample) -> tuple[str, ...]:
    """The ids that a sample ranks, best first, each once."""
    ids = sample.retrieved
    if ids is None:
        ids = tuple(chunk.chunk_id for chunk in sample.chunks)
    return tuple(dict.fromkeys(ids))


def texts_of(
    wanted: Collection[Place], systems: Sequence[Ranked], corpus: str | None, reader: Reader
) -> dict[Place, str]:
    """The texts of pooled chunks: of the query's samples, the corpus, or any other sample.

    Raises:
        InputError: one query's samples give a chunk two texts.
    """
    found = _own_texts(wanted, systems)
    elsewhere = [_chunks(systems, reader)]
    if corpus is not None:
        elsewhere.insert(0, _corpus_chunks(corpus, reader))
    for chunks in elsewhere:
        missing = {name for qid, name in wanted if (qid, name) not in found}
        if not missing:
            break
        texts: defaultdict[str, set[str]] = defaultdict(set)
        for chunk in chunks:
            if chunk.chunk_id in missing and chunk.text.strip():
                texts[chunk.chunk_id].add(chunk.text)
        # An id that names several texts names none.
        for qid, name in (place for place in wanted if place not in found):
            if len(texts[name]) == 1:
                found[qid, name] = next(iter(texts[name]))
    return found


def _own_texts(wanted: Collection[Place], systems: Sequence[Ranked]) -> dict[Place, str]:
    """Those that the samples of the same query have."""
    found: dict[Place, str] = {}
    said: dict[Place, str] = {}
    for system in systems:
        for qid, sample in system.samples.items():
            for chunk in sample.chunks:
                place = (qid, chunk.chunk_id)
                if place not in wanted or not chunk.text.strip():
                    continue
                earlier = found.setdefault(place, chunk.text)
                first = said.setdefault(place, system.system.file)
                if plain(earlier) != plain(chunk.text):
                    raise InputError(
                        f"chunk {clip(chunk.chunk_id, _SHOWN)!r} of query {clip(qid, _SHOWN)!r} "
                        f"has another text in {spoken(first)}; give each chunk an id that names "
                        "the same text in all files",
                        path=spoken(system.system.file),
                    )
    return found


def plain(text: str) -> str:
    """A text by which it is known again: white space does not count."""
    return " ".join(text.split())


def _chunks(systems: Sequence[Ranked], reader: Reader) -> Iterator[Chunk]:
    """Those of all samples; what can be read but once was read already."""
    for system in systems:
        path = Path(system.system.file)
        if system.samples and (path.is_file() or is_many(path)):
            with reader.source(system.system.file).samples() as samples:
                for sample in samples:
                    yield from sample.chunks


def _corpus_chunks(name: str, reader: Reader) -> Iterator[Chunk]:
    """Those of a corpus, under their titles where they have any."""
    with placed(spoken(name)), readable(name) as path, open_source(path) as stream:
        for row in jsonl_rows(TextLines(stream, path, max_line=reader.max_line), path):
            if isinstance(row.fields, InputError):
                raise row.fields
            try:
                chunk = chunk_of({"id": row.fields.get("_id"), **row.fields}, "", "chunk")
            except InputError as error:
                raise error.at(str(path), row.line) from None
            if not chunk.chunk_id:
                message = "is missing; give each chunk its id"
                raise InputError(message, path=str(path), line=row.line, field="chunk_id")
            title = row.fields.get("title")
            titled = f"{title}\n{chunk.text}" if isinstance(title, str) and title else chunk.text
            yield chunk.model_copy(update={"text": titled})


def _is_run(path: Path) -> bool:
    """Whether a file begins as a TREC run does."""
    if is_many(path):
        return False
    with open_source(path, tables=TABLES) as stream:
        head = stream.peek(PEEK).decode("utf-8-sig", "replace").lstrip()
    cells = head.partition("\n")[0].split()
    if len(cells) != _TREC or head.startswith(("{", "[")):
        return False
    try:
        float(cells[_SCORE])
    except ValueError:
        return False
    return True


def _of_run(
    path: Path, is_wanted: Callable[[str], bool], max_line: float, *, whole: bool
) -> Iterator[tuple[str, tuple[str, ...]]]:
    blocks = (b for b in read_run(path, whole=whole, max_line=max_line) if is_wanted(b[0]))
    for query in run_queries({}, blocks, RankRules()):
        yield query.qid, tuple(Order([query]).ids(0))
