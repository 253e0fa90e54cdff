"""TREC's files: relevance judgments (qrels), and the rankings of a system (a run)."""

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from judge.errors import InputError
from judge.inputs.files import MAX_LINE, InputFile, open_text, text_lines
from judge.text.visible import counted

_QRELS: Final = "qid iteration docid relevance"
_RUN: Final = "qid Q0 docid rank score tag"
_CELL: Final = re.compile(r"[^ \t\r\n\f\v]+")
"""A cell ends at ASCII white space; an id may contain other white space."""


def read_qrels(path: Path | str, *, max_line: float = MAX_LINE) -> dict[str, dict[str, float]]:
    """Return relevance by document id by qid.

    The file has four columns with white space between them, and may be compressed. `max_line` is
    the limit of a line in MB.

    Raises:
        InputError: names file and line: another number of columns, a relevance that is no finite
            number, a document with two grades, or no line at all.
    """
    qrels: dict[str, dict[str, float]] = {}
    for line, (qid, _, doc, cell) in _rows(Path(path), _QRELS, max_line):
        grade = _number(cell)
        if not math.isfinite(grade):
            message = f"{cell!r} is no finite number; mend the line"
            raise InputError(message, path=str(path), line=line, field="relevance")
        graded = qrels.setdefault(qid, {})
        if graded.setdefault(doc, grade) != grade:
            message = f"{doc!r} of query {qid!r} is graded {grade:g} here and {graded[doc]:g} above"
            message += "; keep one of the lines"
            raise InputError(message, path=str(path), line=line, field="relevance")
    return qrels


def read_run(path: Path | str, *, max_line: float = MAX_LINE) -> dict[str, dict[str, float]]:
    """Return scores by document id by qid.

    The file has six columns with white space between them, and may be compressed. As in trec_eval,
    the score orders a run and the stated ranks are ignored. `max_line` is the limit of a line in
    MB.

    Raises:
        InputError: names file and line: another number of columns, a score that is no number, a
            document that a query ranks twice, or no line at all.
    """
    run: dict[str, dict[str, float]] = {}
    for line, (qid, _, doc, _, cell, _) in _rows(Path(path), _RUN, max_line):
        score = _number(cell)
        if math.isnan(score):
            message = f"{cell!r} is no number; mend the line"
            raise InputError(message, path=str(path), line=line, field="score")
        scores = run.setdefault(qid, {})
        if doc in scores:
            message = f"query {qid!r} ranks {doc!r} twice; keep one of the lines"
            raise InputError(message, path=str(path), line=line)
        scores[doc] = score
    return run


def _rows(path: Path, columns: str, max_line: float) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each line that is not blank, with its number."""
    width, empty = len(columns.split()), True
    file = InputFile(str(path))
    with open_text(file) as stream:
        for line, text, error in text_lines(stream, max_line):
            if error is not None:
                raise error.at(str(path), line)
            cells = _CELL.findall(text)
            if not cells:
                continue
            if len(cells) != width:
                message = f"has {counted(len(cells), 'column')}; {width} are needed: {columns}"
                raise InputError(message, path=str(path), line=line)
            empty = False
            yield line, cells
    if empty:
        raise InputError(f"holds no line; each is: {columns}", path=str(path))


def _number(cell: str) -> float:
    """Return the number in a cell, or NaN."""
    try:
        return float(cell)
    except ValueError:
        return math.nan
