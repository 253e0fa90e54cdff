"""TREC's files: what is relevant (qrels), and what a system ranked (a run)."""

import math
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

from judge.errors import InputError
from judge.files.source import MAX_LINE, TextLines, check_encoding, open_source
from judge.retrieval.ranking import Block
from judge.text.visible import counted

_QRELS: Final = "qid iteration docid relevance"
_RUN: Final = "qid Q0 docid rank score tag"
_LOOKED_AT: Final = {4: (0, 2, 3), 6: (0, 2, 4)}
"""Of the columns, by how many there are: qid, docid, and relevance or score."""
_GRADE: Final = "relevance"
_ASCII_SPACE: Final = re.compile(r"[ \t\r\n\f\v]+")
_ODD: Final = re.compile(r"[^\S\x00-\x7f]|[\ud800-\udfff]")
"""White space that is of the id that holds it, and bytes that are no UTF-8."""
_BYTES: Final = 1 << 17
"""Of the lines that are taken apart together: so many fit a processor's cache."""
_MARK: Final = "\0"


class ScatteredError(InputError):
    """The lines of one query do not stand together; read the run `whole`."""


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
    """Lines that are not blank, in their columns, many at a time."""
    width = len(columns.split())
    empty = True
    with open_source(path) as stream:
        for first, text in TextLines(stream, path, _BYTES, max_line=max_line):
            lines = _split_at_once(first, text, width) or _one_by_one(first, text, columns, path)
            empty = empty and not lines.numbers
            yield lines
    if empty:
        raise InputError(f"holds no line; each is: {columns}", path=str(path))


def _split_at_once(first: int, text: str, width: int) -> _Lines | None:
    """All lines split at once, which takes half the time; None where one is not of this width."""
    if _MARK in text or not (text.isascii() or _ODD.search(text) is None):
        return None
    text = text.removesuffix("\n")
    count = text.count("\n") + 1
    # A mark between the cells of each two lines: so no line has lent another one of its cells.
    cells = text.replace("\n", f"\n{_MARK} ").split()
    marks = cells[width :: width + 1]
    if len(cells) != (width + 1) * count - 1 or marks.count(_MARK) != count - 1:
        return None
    columns = [cells[i :: width + 1] for i in _LOOKED_AT[width]]
    return _Lines(range(first, first + count), columns)


def _one_by_one(first: int, text: str, columns: str, path: Path) -> _Lines:
    width = len(columns.split())
    kept = []
    for number, line in enumerate(text.split("\n"), first):
        check_encoding(line, number, path)
        cells = _ASCII_SPACE.split(line.strip(" \t\r\n\f\v"))
        if len(cells) == width:
            kept.append((number, cells))
        elif line.strip():
            message = f"has {counted(len(cells), 'column')}; {width} are needed: {columns}"
            raise InputError(message, path=str(path), line=number)
    columns_of = [[cells[i] for _, cells in kept] for i in _LOOKED_AT[width]]
    return _Lines([number for number, _ in kept], columns_of)


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
