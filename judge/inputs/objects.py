"""Samples that a program has at hand: rows, tables and objects of other tools."""

import asyncio
import json
import logging
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sized,
)
from contextlib import closing, suppress
from dataclasses import is_dataclass
from decimal import Decimal
from functools import partial
from itertools import chain
from os import PathLike
from typing import Any, Final, NamedTuple
from uuid import UUID

from pydantic import JsonValue

from judge.errors import InputError
from judge.inputs.arrow import batch_rows
from judge.inputs.columns import fields_of as json_fields
from judge.inputs.columns import filled
from judge.inputs.fields import MAX_DEPTH, SCORE_NEEDS
from judge.inputs.rows import AROUND, table_fields
from judge.inputs.samples import Seen
from judge.inputs.shapes import Reader
from judge.records import Sample

_Mapping = Mapping[str, str] | None
Samples = Iterable[Sample] | AsyncIterable[Sample]

_LOG: Final = logging.getLogger("judge")
_BREATH: Final = 100
"""Rows that are checked before others have their turn."""
_METHODS: Final = ("model_dump", "to_dict", "isoformat", "tolist")
"""By which objects give what they hold."""
_AS_TEXT: Final = (UUID, Decimal)
_NULLS: Final = frozenset({"NAType", "NaTType"})
"""What pandas calls its own."""


_Fields = dict[str, JsonValue]


class Rows(NamedTuple):
    """What a caller gave, row by row."""

    read: Callable[[], Iterator[object]]
    """The rows, samples among them."""
    size: int | None
    """How many; None where they can be read but once, and so nobody knows before."""


def rows_of(given: Any, mapping: _Mapping = None) -> Rows:  # noqa: ANN401  each tool has its own
    """The rows in a sample, a mapping, a table, a data set, an object, or any number of these.

    InputError where it is none of them, such as the name of a file.
    """
    if isinstance(given, str | bytes | PathLike):
        what = f"is a {type(given).__name__}; a file is read by judge.read_samples(path)"
        raise InputError(what, field="samples")
    if isinstance(given, Mapping):
        splits = [name for name, each in given.items() if hasattr(each, "column_names")]
        if splits:
            what = f"are several data sets; give one of them: [{splits[0]!r}]"
            raise InputError(what, field="samples")
    if inner := _within(given, mapping):
        given = inner
    if (read := _table(given)) is None:
        a_row = hasattr(given, "to_dict") and hasattr(given, "index")  # pandas' Series
        whole = isinstance(given, Sample | Mapping) or hasattr(given, "model_dump")
        if a_row or whole or not isinstance(given, Iterable):
            return Rows(partial(iter, (given,)), 1)
        read = partial(iter, given)
    return Rows(read, len(given) if isinstance(given, Sized) else None)


def _within(given: Any, mapping: _Mapping) -> list[object]:  # noqa: ANN401  likewise
    """What a tool's result or data set is around, such as test cases; nothing of what is a row."""
    whole = isinstance(given, Mapping) or hasattr(given, "model_dump")
    if isinstance(given, Sample) or (isinstance(given, Iterable) and not whole):
        return []
    get = given.get if isinstance(given, Mapping) else partial(getattr, given)
    found = [inner for key in AROUND if isinstance(inner := get(key, None), list) and inner]
    if not found or any(isinstance(each, str | int | float | list) for each in found[0]):
        return []
    with suppress(InputError):  # of what is no row of any kind
        return [] if Reader(SCORE_NEEDS, mapping).knows(fields_of(given)) else found[0]
    return found[0]


class _TableRow(dict[str, Any]):
    """A row of columns, where an object has all keys that any other under its column has."""


def _table(given: Any) -> Callable[[], Iterator[object]] | None:  # noqa: ANN401  none is a dependency
    """What reads the rows of a table; None where there is none."""
    if hasattr(given, "iter_rows"):  # polars
        return lambda: map(_TableRow, given.iter_rows(named=True))
    if hasattr(given, "itertuples"):  # pandas
        return partial(_framed, given)
    if hasattr(given, "to_batches"):  # Arrow
        batches = given.to_batches()
        rows = partial(map, batch_rows, batches)
        return lambda: (_TableRow(json_fields(row)) for row in chain.from_iterable(rows()))
    if hasattr(given, "column_names"):  # datasets
        return lambda: map(_TableRow, given)
    return None


def _framed(frame: Any) -> Iterator[object]:  # noqa: ANN401  pandas is no dependency
    """The rows of a DataFrame; an index that has a name is a column like others."""
    columns = list(map(str, frame.columns))
    named = [name for name in frame.index.names if name is not None and name not in columns]
    if named:
        frame = frame.reset_index(level=named)
        columns = list(map(str, frame.columns))
    if twice := [name for name in columns if columns.count(name) > 1]:
        raise InputError(f"column {twice[0]!r} stands twice; rename one", field="samples")
    for row in frame.itertuples(index=False, name=None):
        yield _TableRow(zip(columns, row, strict=True))


class _RowReader:
    """Makes samples of rows, one after the other; a sample is let through as it is."""

    def __init__(
        self,
        mapping: _Mapping = None,
        needs: Collection[str] = SCORE_NEEDS,
        told: Callable[[str], object] | None = _LOG.info,
    ) -> None:
        self._reader = Reader(needs, mapping, told)
        self._seen: Seen | None = None
        self._number = 0

    def sample(self, row: object) -> Sample:
        """The sample in a row; InputError where there is none, or its id stood already."""
        self._number += 1
        if isinstance(row, Sample):
            return row
        self._seen = self._seen or Seen("in row")
        try:
            fields = fields_of(row)
            fields = filled(fields) if isinstance(row, _TableRow) else fields
            sample = self._reader.sample(fields, self._number)
            self._seen.add(sample.qid, self._number)
        except InputError as error:
            raise error.at(f"row {self._number}", None) from None
        return sample

    def close(self) -> None:
        """Forget them."""
        if self._seen is not None:
            self._seen.close()


def samples_in(given: object, needs: Collection[str]) -> Iterator[Sample]:
    """Every sample in what is given, in order, as of `each`; `needs` are fields it must have."""
    with closing(_RowReader(needs=needs)) as reader:
        for row in rows_of(given).read():
            yield reader.sample(row)


async def each(given: object, mapping: Mapping[str, str] | None = None) -> AsyncGenerator[Sample]:
    """Every sample in what is given, in order; what can be read both ways, the way that waits.

    What has a length is checked to its end before the first is handed on, as a file is. As what
    another tool's rows are read is logged.

    Args:
        given: as of `rows_of`, or what gives such rows in its own time.
        mapping: paths by field, as `judge.inputs.shapes.Reader` has them.

    Raises:
        InputError: names row and field; of rows that are no samples, also where an id comes twice.
    """
    if isinstance(given, AsyncIterable):
        with closing(_RowReader(mapping)) as reader:
            async for row in given:
                yield reader.sample(row)
        return
    rows = rows_of(given, mapping)
    if rows.size is not None:
        await _check(rows, mapping)
    told = _LOG.info if rows.size is None else None  # once is enough
    with closing(_RowReader(mapping, told=told)) as reader:
        for row in rows.read():
            yield reader.sample(row)


async def _check(rows: Rows, mapping: Mapping[str, str] | None) -> None:
    made = 0
    with closing(_RowReader(mapping)) as reader:
        for row in rows.read():
            if reader.sample(row) is not row:
                made += 1
                if made % _BREATH == 0:
                    await asyncio.sleep(0)


def sample_of(given: object, number: int, mapping: Mapping[str, str] | None) -> Sample:
    """As of `Sample.of`."""
    return Reader(SCORE_NEEDS, mapping).sample(fields_of(given), number)


def fields_of(given: object) -> _Fields:
    """The fields of a row, or of a tool's object; InputError where it has none.

    What a table holds as text is read as the list it is, as in a CSV.
    """
    fields = _plain(given, "")
    if not isinstance(fields, dict):
        what = f"is no row ({type(given).__name__}); one with an answer and its chunks is needed"
        raise InputError(what)
    return table_fields(fields)


def _plain(value: Any, where: str, depth: int = 0) -> JsonValue:  # noqa: ANN401
    """A value as JSON holds it, whatever a tool makes of it; what is not a number is null."""
    if depth > MAX_DEPTH:
        raise InputError(f"is nested over {MAX_DEPTH} deep; flatten it", field=where)
    if isinstance(value, _AS_TEXT):
        value = str(value)
    if type(value).__name__ in _NULLS:
        value = None
    if value is None or isinstance(value, bool | int | float | str):
        atom: JsonValue = json.loads(json.dumps(value), parse_constant=lambda _: None)
        return atom
    if isinstance(value, Mapping):
        return {str(key): _plain(each, str(key), depth + 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, where, depth + 1) for each in value]
    methods = [getattr(value, name, None) for name in _METHODS if not isinstance(value, type)]
    for method in filter(callable, methods):
        return _plain(method(), where, depth + 1)
    if not is_dataclass(value):
        what = f"is a {type(value).__name__}; give a text, a number, a list or a mapping"
        raise InputError(what, field=where)
    return _plain(vars(value), where, depth + 1)
