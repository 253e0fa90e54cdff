"""TREC's files: relevance judgments (qrels), and the rankings of a system (a run)."""

import math
import re
from typing import Final

from judge.errors import InputError
from judge.inputs.files import InputFile, InputName, open_text, text_lines
from judge.text.visible import counted

_QRELS: Final = "qid iteration docid relevance"
_RUN: Final = "qid Q0 docid rank score tag"
_CELL: Final = re.compile(r"[^ \t\r\n\f\v]+")
"""A cell ends at ASCII white space; an id may contain other white space."""


def read_qrels(path: InputName) -> dict[str, dict[str, float]]:
    """Return relevance by document id by qid, from four columns; errors as in `read_run`."""
    return _read(path, _QRELS, "relevance")


def read_run(path: InputName) -> dict[str, dict[str, float]]:
    """Return scores by document id by qid, from a file of six columns.

    The columns have white space between them, and the file may be compressed. As in trec_eval, the
    score orders a run and the stated ranks are ignored.

    Raises:
        InputError: names file and line: another number of columns, a value that is no finite
            number, a document that a query names twice, or no line at all.
    """
    return _read(path, _RUN, "score")


def _read(path: InputName, columns: str, field: str) -> dict[str, dict[str, float]]:
    """Return the numbers in the column `field` by document id by qid."""
    found: dict[str, dict[str, float]] = {}
    names = columns.split()
    file = path if isinstance(path, InputFile) else InputFile(str(path))
    with open_text(file) as stream:
        for line, text in enumerate(text_lines(stream), 1):
            cells = _CELL.findall(text)
            if not cells:
                continue
            if len(cells) != len(names):
                message = f"has {counted(len(cells), 'column')}; {len(names)} are needed: {columns}"
                raise InputError(message, path=str(path), line=line)
            row = dict(zip(names, cells, strict=True))
            value, numbers = _number(row[field]), found.setdefault(row["qid"], {})
            if not math.isfinite(value):
                message = f"{row[field]!r} is no finite number; mend the line"
                raise InputError(message, path=str(path), line=line, field=field)
            if row["docid"] in numbers:
                message = (
                    f"query {row['qid']!r} names {row['docid']!r} twice; keep one of the lines"
                )
                raise InputError(message, path=str(path), line=line)
            numbers[row["docid"]] = value
    if not found:
        raise InputError(f"holds no line; each is: {columns}", path=str(path))
    return found


def _number(cell: str) -> float:
    """Return the number in a cell, or NaN."""
    try:
        return float(cell)
    except ValueError:
        return math.nan
