"""Inputs that are no text, and inputs of many files: the same samples through every door."""

import gzip
import hashlib
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import openpyxl
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

from judge import ConfigError, InputError, Sample
from judge.inputs.samples import Rejected, check_samples, read_samples
from tests.commands import judge

ROWS = [
    {"qid": "gym", "query": "When?", "answer": "At six [1].", "chunks": ["The gym opens at six."]},
    {"qid": "会", "query": "哪天？", "answer": "1月16日[2]。", "chunks": ["年会。", "1月16日。"]},
    {"qid": "empty", "query": "", "answer": "", "chunks": []},
]


def as_parquet(path: Path, rows: list[dict[str, object]]) -> None:
    parquet.write_table(pa.Table.from_pylist(rows), path)


def as_stream(path: Path, rows: list[dict[str, object]]) -> None:
    table = pa.Table.from_pylist(rows)
    with ipc.new_stream(path, table.schema) as file:
        file.write_table(table, max_chunksize=2)


def as_file(path: Path, rows: list[dict[str, object]]) -> None:
    table = pa.Table.from_pylist(rows)
    with ipc.new_file(path, table.schema) as file:
        file.write_table(table)


def as_lines(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def as_zstd(path: Path, rows: list[dict[str, object]]) -> None:
    half = [json.dumps(row) + "\n" for row in rows]
    frames = [pa.compress(each.encode(), "zstd", asbytes=True) for each in half]
    path.write_bytes(b"".join(frames))


def as_gzip(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))


def as_sheet(path: Path, rows: list[dict[str, object]]) -> None:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.append(list(rows[0]))
    for row in rows:
        sheet.append([v if isinstance(v, int | str) else json.dumps(v) for v in row.values()])
    book.create_sheet("another").append(["answer", "chunks"])
    book.save(path)


Written = Callable[[Path, list[dict[str, object]]], None]
FORMS: dict[str, Written] = {
    "a.jsonl": as_lines,
    "a.jsonl.gz": as_gzip,
    "a.ndjson.zst": as_zstd,
    "a.parquet": as_parquet,
    "a.arrow": as_stream,
    "a.feather": as_file,
    "a.xlsx": as_sheet,
}


def rows_of() -> list[dict[str, object]]:
    return [dict(row) for row in ROWS]


def test_every_form_gives_the_same_samples_whatever_its_name(tmp_path: Path) -> None:
    expected = [Sample.of(row) for row in rows_of()]
    for name, write in FORMS.items():
        path = tmp_path / name
        write(path, rows_of())
        assert list(read_samples(path)) == expected, name
        assert check_samples(path).sha256 == hashlib.sha256(path.read_bytes()).hexdigest(), name
        nameless = path.rename(tmp_path / "input")
        assert list(read_samples(nameless)) == expected, name
        whole = nameless.read_bytes()
        for size in (len(whole) // 2, len(whole) - 6) if write is not as_lines else ():
            nameless.write_bytes(whole[:size])
            with pytest.raises(InputError, match=r"damaged|no sound|read as XLSX") as caught:
                list(read_samples(nameless))
            assert "\n" not in str(caught.value)


def test_columns_hold_what_json_does_not(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    nanoseconds = pa.array([1_700_000_000_000_000_001] * 2, pa.timestamp("ns"))
    columns = {
        "answer": ["a", "b"],
        "chunk_1": ["one", None],
        "chunk_2": ["two", "zwei"],
        "retrieved": ['["x"]', None],
        "relevance": pa.array([[("x", 2.0)], None], pa.map_(pa.string(), pa.float64())),
        "at": nanoseconds,
        "day": [datetime(2026, 1, 16, tzinfo=UTC), None],
        "raw": ["é".encode(), b"\xff"],
        "much": [float("nan"), 0.5],
        "deep": [{"a": 1, "b": None}, {"a": None, "b": [None, 2]}],
    }
    parquet.write_table(pa.table(columns), path, coerce_timestamps=None, version="2.6")
    one, two = read_samples(path)
    assert [(each.chunk_id, each.text) for each in (*one.chunks, *two.chunks)] == [
        ("1", "one"),
        ("2", "two"),
        ("2", "zwei"),
    ]
    assert (one.qid, one.retrieved, one.relevance) == ("1", ("x",), {"x": 2.0})
    at, day = "2023-11-14 22:13:20", "2026-01-16 00:00:00+00:00"
    assert one.metadata == {"at": at, "day": day, "raw": "é", "deep": {"a": 1}}
    assert two.metadata == {"at": at, "raw": {"bytes": 1}, "much": 0.5, "deep": {"b": [None, 2]}}


def test_a_bad_row_of_a_table_is_named_and_set_aside(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"answer": "a", "chunks": '["c"]'},
        {"answer": "b", "chunks": "no list"},
        {"answer": "c" * 3000, "chunks": '["c"]'},
    ]
    # A sheet numbers its rows as it shows them: the header's is the first.
    for name, first in {"a.parquet": 1, "a.feather": 1, "a.xlsx": 2}.items():
        path = tmp_path / name
        FORMS[name](path, rows)
        with pytest.raises(InputError) as caught:
            list(read_samples(path))
        place = f"{path}, line {first + 1}, field 'chunks': "
        assert str(caught.value).startswith(place)
        bad: list[Rejected] = []
        (sample,) = read_samples(path, on_bad=bad.append, max_line=0.002)
        assert (sample.qid, [each.line for each in bad]) == (str(first), [first + 1, first + 2])
        assert json.loads(bad[0].text) == rows[1]
        assert "longer than 0.002 MB" in str(bad[1].error)


def test_a_table_that_is_none_says_so_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"

    def refused(says: str) -> None:
        with pytest.raises(InputError) as caught:
            check_samples(path)
        told = str(caught.value)
        assert told.startswith(str(path)), told
        assert says in told, told
        assert "\n" not in told

    as_parquet(path, [{"answer": b"\xe4", "chunks": ["c"]}])
    refused("line 1, field 'answer': is an object and no text; found the keys 'bytes'")
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600)
    refused("is an XLS file or bears a password; save it as XLSX")
    twice = pa.table([pa.array(["a"]), pa.array(["b"])], names=["answer", "answer"])
    with ipc.new_file(path, twice.schema) as file:
        file.write_table(twice)
    refused("column 'answer' is there 2 times")
    # Nothing but its full check sees that a text is not UTF-8.
    strings = pa.StringArray.from_buffers(
        1, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")
    )
    astray = pa.RecordBatch.from_arrays([strings], names=["answer"])
    with ipc.new_stream(path, astray.schema) as file:
        file.write_batch(astray)
    refused("is no sound Arrow file (")
    as_sheet(path, [{"answer": "a"}])
    refused("field 'chunks': is missing")
    for header, says in {
        ("answer", "answer"): "line 1: column 'answer' is there 2 times",
        tuple(f"c{number}" for number in range(257)): "over 256 columns have names",
    }.items():
        book = openpyxl.Workbook()
        book.worksheets[0].append(header)
        book.worksheets[0].append(["a"] * len(header))
        book.save(path)
        refused(says)
    openpyxl.Workbook().save(path)
    refused("holds no sample")
    as_parquet(path, [{"answer": "a"}])
    path.write_bytes(path.read_bytes().replace(b"answer", b"bnswer"))
    refused("field 'answer': is missing")


def test_a_sheet_is_the_first_shown_and_no_cell_of_it_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    book = openpyxl.Workbook()
    book.worksheets[0].append(["notes"])
    book.worksheets[0].sheet_state = "hidden"
    sheet = book.create_sheet("answers")
    for cells in (
        ["answer", "chunk_1", "note"],
        ["a", "c", "#N/A"],
        ["b", "c", None, None, "more"],
        ["#N/A", "c"],
        ["d", "#REF!"],
    ):
        sheet.append(cells)
    book.save(path)
    bad: list[Rejected] = []
    (sample,) = read_samples(path, on_bad=bad.append)
    assert (sample.qid, sample.metadata) == ("2", {"note": "#N/A"})
    told = [str(each.error).removeprefix(f"{path}, ") for each in bad]
    assert told[0].startswith("line 3: 5 cells under 3 columns")
    assert told[1].startswith("line 4, field 'answer': is #N/A")
    assert told[2].startswith("line 5, field 'chunk_1': is #REF!")


def test_what_is_missing_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    heads = {"Parquet": b"PAR1", "Arrow": b"ARROW1\0\0", "zstd": b"\x28\xb5\x2f\xfd"}
    for what, head in {**heads, "XLSX": b"PK\x03\x04"}.items():
        path = tmp_path / "input"
        path.write_bytes(head)
        needed = rf"^{what} needs .*run pip install 'rag-judge\[data\]'$"
        with pytest.raises(ConfigError, match=needed):
            list(read_samples(path))


def test_files_of_a_folder_or_a_pattern_are_one_input(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "deep").mkdir(parents=True)
    as_parquet(data / "b.parquet", rows_of()[1:2])
    as_lines(data / "a.jsonl", rows_of()[:1])
    as_zstd(data / "deep" / "c.jsonl.zst", rows_of()[2:])
    for unread in (".hidden.jsonl", "_SUCCESS.json", "notes.txt"):
        (data / unread).write_text("no sample", encoding="utf-8")

    def qids(name: str) -> list[str]:
        return [each.qid for each in read_samples(name)]

    assert qids(str(data)) == ["gym", "会", "empty"]
    assert qids(f"{data}/?.*") == ["gym", "会"]
    assert qids(f"{data}/**/*.zst") == ["empty"]
    as_lines(tmp_path / "[1].jsonl", rows_of())  # a name may look like a pattern
    assert len(qids(str(tmp_path / "[1].jsonl"))) == 3
    as_lines(data / "z.jsonl", [{"answer": "a", "chunks": []}])
    wrong = {
        f"{data}/[a-z]*.[jp]*": f"{data}/z.jsonl, line 1, field 'qid': is missing",
        f"{data}/*.csv": f"{data}/*.csv: no file there; check the name",
        f"{data}/absent": f"{data}/absent: no such file; check the path",
        "n" * 5_000: "n" * 5_000 + ": cannot be read: File name too long",
    }
    for name, says in wrong.items():
        with pytest.raises(InputError) as caught:
            qids(name)
        assert str(caught.value).startswith(says)
    as_lines(data / "z.jsonl", rows_of()[:1])
    with pytest.raises(InputError, match=rf"z\.jsonl, line 1, .* on line 1 of {data}/a\.jsonl;"):
        qids(str(data))
    empty = tmp_path / "nothing"
    empty.mkdir()
    with pytest.raises(InputError, match=r"no file there that ends in \.jsonl, .*\.xlsx; check"):
        qids(str(empty))


def test_a_run_of_many_files_goes_on_and_finds_its_rows_again(tmp_path: Path) -> None:
    data, run = tmp_path / "data", tmp_path / "run"
    data.mkdir()
    as_lines(data / "a.jsonl", rows_of()[:1])
    as_parquet(data / "b.parquet", rows_of()[1:])
    score = ("score", data, "-o", run, "--judge", "similarity")
    assert judge(*score)[0] == 0
    record = json.loads((run / "run.json").read_bytes())
    assert record["input"]["samples"] == 3
    code, out, _ = judge("show", run, "会")
    assert (code, "哪天？" in out) == (0, True)  # which stands in the samples alone
    # A further file makes it another input.
    as_lines(data / "c.jsonl", [{"qid": "more", "answer": "a", "chunks": []}])
    code, _, err = judge("review", "draw", run, "-o", tmp_path / "sheet.csv")
    assert (code, "changed since" in err) == (2, True)
    code, _, err = judge("score", data, "-o", data / "run")
    assert (code, "name an -o elsewhere" in err, (data / "run").exists()) == (2, True, False)
    assert judge("score", data / "*.parquet", "-o", data / "run")[0] == 0
