"""Parquet and Arrow through pyarrow (extra `data`), rows a batch at a time; and bytes of zstd."""

import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast

from judge.errors import InputError, extra

if TYPE_CHECKING:
    from pyarrow import RecordBatch

PARQUET: Final = b"PAR1"
FILE: Final = b"ARROW1"
STREAM: Final = b"\xff\xff\xff\xff"
"""How a stream of record batches begins."""
_ROWS: Final = 20
"""Held at a time."""
_GROUP: Final = 10_000
"""Rows that are written together."""
_BUFFER: Final = 1 << 20
"""Bytes of a column that are read at a time."""


def unpacked(stream: IO[bytes]) -> io.BufferedReader:
    """The bytes of a zstd file; OSError where it is damaged or cut off."""
    with extra("data", "zstd"):
        import pyarrow as pa  # noqa: PLC0415  an extra, and slow to load
    raw = pa.CompressedInputStream(pa.PythonFile(stream, "r"), "zstd")
    return io.BufferedReader(cast("io.RawIOBase", raw))


def table_rows(stream: IO[bytes], path: str, head: bytes) -> Iterator[dict[str, Any]]:
    """The rows of a file of columns, whose first bytes say which it is.

    Raises:
        ConfigError: pyarrow is not installed.
        InputError: the file is damaged, or names a column twice.
    """
    kind = "Parquet" if head.startswith(PARQUET) else "Arrow"
    with extra("data", kind):
        from pyarrow import ArrowException  # noqa: PLC0415  likewise
    # Of a damaged file anything may be asked, more memory than there is among it.
    try:
        for batch in _batches(stream, head):
            names = batch.schema.names
            if len(set(names)) < len(names):
                twice = Counter(names).most_common(1)[0][0]
                raise InputError(f"column {twice!r} stands twice; rename one", path=path)
            batch.validate(full=True)  # offsets that lead elsewhere would be followed
            yield from batch_rows(batch)
    except (
        ArrowException,
        ArithmeticError,
        LookupError,
        MemoryError,
        OSError,
        ValueError,
    ) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"is no sound {kind} file ({reason}); write it again", path=path) from None


def batch_rows(batch: "RecordBatch") -> Iterator[dict[str, Any]]:
    """The rows of a batch, a map as a mapping; errors as pyarrow raises them."""
    plain = _to_the_microsecond(batch)
    for start in range(0, plain.num_rows, _ROWS):
        yield from plain.slice(start, _ROWS).to_pylist(maps_as_pydicts="strict")


def _batches(stream: IO[bytes], head: bytes) -> Iterator["RecordBatch"]:
    from pyarrow import ipc  # noqa: PLC0415  likewise
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415  likewise

    if head.startswith(PARQUET):
        # Else all of a row group's column would be held.
        file = ParquetFile(stream, buffer_size=_BUFFER, pre_buffer=False)
        yield from file.iter_batches(_ROWS, use_threads=False)
    elif head.startswith(FILE):
        file = ipc.open_file(stream)
        for number in range(file.num_record_batches):
            yield file.get_batch(number)
    else:
        yield from ipc.open_stream(stream)


def write_parquet(
    path: Path, columns: Mapping[str, type], rows: Iterable[Mapping[str, object]]
) -> None:
    """Write rows as Parquet; each column may hold nulls.

    Raises:
        ConfigError: pyarrow is not installed.
        OSError: the file cannot be written.
    """
    with extra("data", "Parquet"):
        import pyarrow as pa  # noqa: PLC0415  likewise
        from pyarrow.parquet import ParquetWriter  # noqa: PLC0415  likewise
    kinds = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in columns.items()])
    rest = iter(rows)
    with ParquetWriter(path, schema, compression="zstd") as file:
        while group := list(islice(rest, _GROUP)):
            file.write_batch(pa.RecordBatch.from_pylist(group, schema))


def _to_the_microsecond(batch: "RecordBatch") -> "RecordBatch":
    """Python's clock knows no nanoseconds, as pandas had them."""
    from pyarrow import schema, timestamp, types  # noqa: PLC0415  likewise

    fields = [
        each.with_type(timestamp("us", each.type.tz))
        if types.is_timestamp(each.type) and each.type.unit == "ns"
        else each
        for each in batch.schema
    ]
    return batch if fields == list(batch.schema) else batch.cast(schema(fields), safe=False)
