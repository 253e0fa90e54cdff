"""TREC's files: what is relevant (qrels), and what a system ranked (a run)."""

import math
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

from judge.errors import InputError
from judge.inputs.files import MAX_LINE, InputFile, TextLines, check_encoding, open_text
from judge.retrieval.ranking import Block
from judge.text.visible import counted

_QRELS: Final = "qid iteration docid relevance"
_RUN: Final = "qid Q0 docid rank score tag"
_COLUMNS_READ: Final = {_QRELS: (0, 2, 3), _RUN: (0, 2, 4)}
"""Places of qid, docid, and relevance or score."""
_GRADE: Final = "relevance"
_CELL: Final = re.compile(r"[^ \t\r\n\f\v]+")
_MARK: Final = "\0"
_BLOCK_BYTES: Final = 1 << 17


class ScatteredError(InputError):
    """The lines of one query are not adjacent; read the run `whole`."""


class _Lines(NamedTuple):
    numbers: Sequence[int]
    columns: Sequence[Sequence[str]]


def read_qrels(path: Path | str, *, max_line: float = MAX_LINE) -> dict[str, dict[str, float]]:
    """Relevance by document id by qid: four columns, white space between them; plain or gzip.

    `max_line` is the MB that a line may have.

    Raises:
        InputError: names file and line: a column too few or too many, a relevance that is no
            finite number, a document graded twice and differently, or no line at all.
    """
    path = Path(path)
    qrels: dict[str, dict[str, float]] = {}
    for lines in _lines(path, _QRELS, max_line):
        qids, docs, written = lines.columns
        grades = _numbers(lines, written, _GRADE, path)
        for qid, start, end in _stretches(qids):
            graded = qrels.setdefault(qid, {})
            for place in range(start, end):
                doc, grade = docs[place], grades[place]
                if graded.setdefault(doc, grade) != grade:
                    message = f"{doc!r} of query {qid!r} is graded {grade:g} here and "
                    message += f"{graded[doc]:g} above; keep one of the lines"
                    number = lines.numbers[place]
                    raise InputError(message, path=str(path), line=number, field=_GRADE)
    return qrels


def read_run(
    path: Path | str, *, whole: bool = False, max_line: float = MAX_LINE
) -> Iterator[Block]:
    """Each query's documents and scores: six columns, white space between them; plain or gzip.

    The stated ranks are not looked at: the score orders a run, as it does in trec_eval. `whole`
    holds the file in memory, so that a query's lines may stand anywhere; `max_line` is the MB that
    a line may have.

    Raises:
        ScatteredError: a query's lines do not stand together, and `whole` is not set.
        InputError: names file and line: a column too few or too many, a score that is no number,
            or no line at all.
    """
    path = Path(path)
    finished: set[str] = set()
    held: dict[str, tuple[list[str], list[float]]] = {}
    for lines in _lines(path, _RUN, max_line):
        qids, docs, written = lines.columns
        scores = _numbers(lines, written, "score", path)
        for qid, start, end in _stretches(qids):
            if qid in finished:
                message = f"query {qid!r} goes on here, and others stand between"
                raise ScatteredError(message, path=str(path), line=lines.numbers[start])
            if not whole and qid not in held:
                yield from ((earlier, *lists) for earlier, lists in held.items())
                finished.update(held)
                held.clear()
            kept = held.setdefault(qid, ([], []))
            kept[0].extend(docs[start:end])
            kept[1].extend(scores[start:end])
    yield from ((qid, *lists) for qid, lists in held.items())


def _stretches(qids: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Each stretch of one qid: where it begins, and where it has ended."""
    start = 0
    for qid, same in groupby(qids):
        end = start + len(list(same))
        yield qid, start, end
        start = end


def _lines(path: Path, columns: str, max_line: float) -> Iterator[_Lines]:
    """Lines that are not blank, in their columns, a block of the file at a time."""
    empty = True
    file = InputFile(str(path))
    with open_text(file) as stream:
        for first, text in TextLines(stream, file, _BLOCK_BYTES, max_line=max_line):
            lines = _split_block(first, text, columns) or _split_lines(first, text, columns, path)
            empty = empty and not lines.numbers
            yield lines
    if empty:
        raise InputError(f"holds no line; each is: {columns}", path=str(path))


def _split_block(first: int, text: str, columns: str) -> _Lines | None:
    """Split all lines at once, three times as fast; None where a line has another width.

    A mark between lines shows that no line has a cell too few and the next a cell too many.
    """
    if _MARK in text or not text.isascii():
        return None
    width = len(columns.split())
    lines = text.removesuffix("\n").split("\n")
    cells = f" {_MARK} ".join(lines).split()
    marks = cells[width :: width + 1]
    if len(cells) != (width + 1) * len(lines) - 1 or marks.count(_MARK) != len(lines) - 1:
        return None
    read = [cells[i :: width + 1] for i in _COLUMNS_READ[columns]]
    return _Lines(range(first, first + len(lines)), read)


def _split_lines(first: int, text: str, columns: str, path: Path) -> _Lines:
    """Split lines at ASCII white space, for an id may hold other white space."""
    width = len(columns.split())
    lines = [(at, line) for at, line in enumerate(text.split("\n"), first) if line.strip()]
    for number, line in lines:
        check_encoding(line, number, path)
    rows = [_CELL.findall(line) for _, line in lines]
    numbers = [number for number, _ in lines]
    for number, cells in zip(numbers, rows, strict=True):
        if len(cells) != width:
            message = f"has {counted(len(cells), 'column')}; {width} are needed: {columns}"
            raise InputError(message, path=str(path), line=number)
    return _Lines(numbers, [[cells[i] for cells in rows] for i in _COLUMNS_READ[columns]])


def _numbers(lines: _Lines, written: Sequence[str], field: str, path: Path) -> list[float]:
    """All at once; one by one only where something is wrong."""
    try:
        numbers = list(map(float, written))
    except ValueError:
        numbers = [math.nan]
    if not math.isfinite(sum(numbers)):
        for text, line in zip(written, lines.numbers, strict=True):
            _refuse(text, field, path, line)
    return numbers


def _refuse(text: str, field: str, path: Path, line: int) -> None:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value) or (math.isinf(value) and field == _GRADE):
        message = f"{text!r} is no {'finite ' if field == _GRADE else ''}number; mend the line"
        raise InputError(message, path=str(path), line=line, field=field)
