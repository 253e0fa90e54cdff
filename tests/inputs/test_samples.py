"""Files of samples: JSON, CSV, Parquet, Arrow and XLSX, packed or piped in, whole or broken."""

import gzip
import hashlib
import io
import json
import os
import sys
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import openpyxl
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

from judge.errors import ConfigError, InputError
from judge.inputs.files import input_files, readable
from judge.inputs.samples import Rejected, Source, check_samples, read_samples
from judge.records import Sample
from tests.commands import judge

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
GOOD = '{"answer": "a", "chunks": ["c"]}\n'
Rows = list[dict[str, object]]


def written(folder: Path, text: str | bytes, name: str = "samples.jsonl") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refused(path: Path | str) -> str:
    """Return the message about a file, which is one line that names it."""
    with pytest.raises(InputError) as caught:
        list(read_samples(path))
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message.removeprefix(f"{path}")


# Text


def test_a_csv_of_excel_is_read() -> None:
    chinese, english = read_samples(FIXTURES / "samples.csv")
    # The BOM is no part of the header.
    assert (chinese.qid, [*chinese.metadata]) == ("csv-zh", ["department"])
    assert [chunk.chunk_id for chunk in chinese.chunks] == ["canteen#1", "canteen#2"]
    assert chinese.answer == "有。\n晚上8点以后下班的，每次餐补30元[canteen#1]。"
    assert '"Slate" calendar' in english.answer


@pytest.mark.parametrize(
    ("name", "qids", "line"),
    [
        ("broken.jsonl", ["bad-json-1", "bad-json-2", "bad-json-4"], 3),
        ("wrong_types.jsonl", ["types-1", "types-3"], 2),
        ("duplicate_qid.jsonl", ["twice", "once"], 3),
    ],
)
def test_bad_lines_can_be_set_aside(name: str, qids: list[str], line: int) -> None:
    bad: list[Rejected] = []
    assert [each.qid for each in read_samples(FIXTURES / name, on_bad=bad.append)] == qids
    text = (FIXTURES / name).read_text("utf-8").splitlines()[line - 1]
    assert [(each.line, each.text.rstrip()) for each in bad] == [(line, text)]
    assert check_samples(FIXTURES / name, on_bad=bad.append)[:2] == (len(qids), 1)


FORMATS = {
    "a.jsonl": '\ufeff{"qid": "q", "answer": "答", "chunks": ["c"]}',
    "a.ndjson": '{"qid": "q", "answer": "答", "chunks": ["c"]}\r\n',
    "a.json": '\ufeff[\n{"qid": "q", "answer": "答", "chunks": ["c"]}]',
    "a.csv": "\ufeffqid,answer,chunk_1\nq,答,c\n",
    "a.TSV": "qid\tanswer\tchunk_1\r\nq\t答\tc\r\n",
    "jsonl": '\n{"qid": "q", "answer": "答", "chunks": ["c"]}',
    "json.txt": '[{"qid": "q", "answer": "答", "chunks": ["c"]}]',
    "csv.bak": "qid;answer;chunk_1\nq;答;c",
    "piped": "qid|answer|chunk_1\nq|答|c",
}


@pytest.mark.parametrize("name", FORMATS)
def test_the_format_is_recognised_by_name_or_content(name: str, tmp_path: Path) -> None:
    data = FORMATS[name].encode()
    for path in (
        written(tmp_path, data, name),
        written(tmp_path, gzip.compress(data), f"{name}.gz"),
    ):
        (sample,) = read_samples(str(path))
        assert (sample.qid, sample.answer, sample.chunks[0].text) == ("q", "答", "c")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        assert check_samples(path) == (1, 0, digest)


OTHERS: dict[str, str | bytes] = {
    "README.md": "# judge\n\n`judge` reads the answers, and says more.\n",
    "page.html": "<!doctype html>\n<html>",
    "utf16.csv": "qid,answer".encode("utf-16"),
    "binary.csv": b"PK\x05\x06\0\0\0",
    "old.xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600,
    "gzip.csv": b"\x1f\x8b\x08\x00not gzip",
    "x.jsonl": "x",
    "empty.csv": "",
    "blank.jsonl": "\n \n",
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_file_without_samples_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, OTHERS[name], name)
    with pytest.raises(InputError) as caught:
        check_samples(path, on_bad=lambda _: None)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_path_that_is_no_file_is_an_input_error(tmp_path: Path) -> None:
    end, write = os.pipe()
    os.close(write)
    for path, problem in (
        (tmp_path / "missing.jsonl", "no such file"),
        (tmp_path, "no file there that ends in .jsonl, "),
        (tmp_path / ("x" * 5000), "cannot be read"),
        (tmp_path / "a\0b", "cannot be read"),
        (Path(f"/dev/fd/{end}"), "is a pipe"),  # which is read only once
    ):
        assert problem in refused(path)
    os.close(end)


def test_a_duplicate_counts_the_line_number_too(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD.replace("{", '{"qid": 2, ') + GOOD)
    assert refused(path).startswith(", line 2, field 'qid': '2' is already in row 1")


def test_another_encoding_is_named_with_its_place(tmp_path: Path) -> None:
    lines = [f'{{"qid": "{qid}", "answer": "好", "chunks": []}}' for qid in "a坏c"]
    cells = ["qid,answer,chunks", *(f'{qid},好,"[]"' for qid in "a坏c")]
    for name, rows in {"a.jsonl": lines, "a.csv": cells}.items():
        data = [text.encode("gb18030" if "坏" in text else "utf-8") + b"\n" for text in rows]
        bad: list[Rejected] = []
        path = written(tmp_path, b"".join(data), name)
        assert [sample.qid for sample in read_samples(path, on_bad=bad.append)] == ["a", "c"]
        (rejected,) = bad
        assert "not UTF-8 (byte 0xbb at column" in str(rejected.error)
        assert "\ufffd" in rejected.text
    texts = {"a.json": '[{"answer": "好"},\n|{"answer": "坏"}]', "a.csv": "好\n|坏"}
    for name, text in texts.items():
        good, _, other = text.partition("|")
        path = written(tmp_path, good.encode() + other.encode("gb18030"), name)
        assert refused(path).startswith(", line 2: not UTF-8")


def test_a_csv_of_chinese_excel_is_read_and_reported(tmp_path: Path) -> None:
    remarks: list[str] = []
    path = FIXTURES / "gb18030.csv"
    (sample,) = read_samples(path, report=remarks.append)
    assert (sample.query, remarks) == (
        "班车几点发车？",
        [f"{path}: read as GB18030, because it is not UTF-8"],
    )
    # French in Windows' own encoding is neither.
    path = written(
        tmp_path, "answer,chunk_1\nUn café, s'il vous plaît,c\n".encode("cp1252"), "a.csv"
    )
    assert refused(path).startswith(", line 2: not UTF-8 (byte 0xe9 at column 7)")


BAD_LINES = [
    ('{"answer": "a" "b"}', 'expected `,` or `}` at column 16: \'{"answer"'),
    ('{"answer": "cut', "EOF while parsing a string at column 15: "),
    ("[1, 2]", "holds [1, 2]; each row is one JSON object, {…}"),
    ('"text"', "holds 'text'"),
    ("qid,answer", "expected value at column 1"),
    ('{"answer": "a\tb"}', "control character"),
    ('{"a": 1} {"a": 2}', "trailing characters at column 10"),
    ("[" * 100_000, "recursion limit exceeded"),
    ('{"n": ' + "9" * 5000 + "}", "number out of range"),
    ('{"answer": "\\ud800", "chunks": []}', "hex escape at column 19"),
]


def test_a_bad_line_is_named_and_the_next_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, "\n".join(f"{GOOD}{line}" for line, _ in BAD_LINES) + f"\n \n{GOOD}")
    bad: list[Rejected] = []
    assert len(list(read_samples(path, on_bad=bad.append))) == len(BAD_LINES) + 1
    assert [each.text.rstrip("\n") for each in bad] == [line for line, _ in BAD_LINES]
    for number, (rejected, (_, problem)) in enumerate(zip(bad, BAD_LINES, strict=True), 1):
        message = str(rejected.error)
        assert message.startswith(f"{path}, line {2 * number}: ")
        assert problem in message
        assert len(message) < 300 + len(str(path))


ROW = {"answer": "答", "chunks": ["c"]}
LINE = json.dumps(ROW)
# A document, and the ids of its rows: each counts one more than the one before, from the line on
# which its array or it begins. Else the problem.
DOCUMENTS: list[tuple[str, list[str] | str]] = [
    (f" [ {LINE},\n\n{LINE} ]\n", ["1", "2"]),
    (json.dumps([ROW, ROW], indent=1), ["1", "2"]),
    (json.dumps(ROW, indent=2), ["1"]),
    (LINE.replace(", ", ",\n"), ["1"]),
    (f"[\n{LINE}\n{LINE}]", "line 3: bad JSON: expected `,` or `]`"),
    (f"[{LINE}, {{}}]", "line 2, field 'answer': is missing"),
    # A line that was cut off is a line.
    ('{"answer": "a", "chunks": ["c"\n' + LINE, "line 1: bad JSON: EOF while parsing"),
]


@pytest.mark.parametrize(("text", "expected"), DOCUMENTS)
def test_a_json_document_is_read_row_by_row(
    text: str, expected: list[str] | str, tmp_path: Path
) -> None:
    path = written(tmp_path, text, "rows.json")
    if isinstance(expected, str):
        assert expected in refused(path)
    else:
        assert [(each.qid, each.answer) for each in read_samples(path)] == [
            (qid, "答") for qid in expected
        ]


def test_nan_is_null(tmp_path: Path) -> None:
    path = written(tmp_path, f'{LINE[:-1]}, "reference": NaN, "score": NaN}}')
    (sample,) = read_samples(path)
    assert (sample.gold_answer, sample.metadata) == (None, {"reference": None, "score": None})


# CSV


def from_csv(folder: Path, text: str) -> tuple[list[Sample], list[Rejected]]:
    bad: list[Rejected] = []
    path = written(folder, text, "a.csv")
    return list(read_samples(path, needs=(), on_bad=bad.append)), bad


def test_csv_with_line_breaks_quotes_and_delimiters_in_cells(tmp_path: Path) -> None:
    read, _ = from_csv(tmp_path, 'qid,answer,note\nq1,"two\nlines, ""quoted""",x;y\n\nq2,one,')
    assert [(each.qid, each.answer, each.metadata) for each in read] == [
        ("q1", 'two\nlines, "quoted"', {"note": "x;y"}),
        ("q2", "one", {}),
    ]
    # The header may have blanks. An empty cell is an absent field; an empty answer is an answer.
    (one,), _ = from_csv(tmp_path, 'id,"answer\n(final)",answer,query\n1,x,,')
    assert (one.qid, one.answer, one.metadata) == ("1", "", {"answer\n(final)": "x"})
    (long,), _ = from_csv(tmp_path, "answer\n" + "长" * 1_000_000)
    assert len(long.answer) == 1_000_000


def test_chunks_are_a_json_cell_or_numbered_columns(tmp_path: Path) -> None:
    chunks = [{"chunk_id": "a#1", "text": "十元，\n不含税"}]
    cell = json.dumps(chunks).replace('"', '""')
    (one,), _ = from_csv(tmp_path, f'chunks\n"{cell}"')
    assert [each.model_dump() for each in one.chunks] == chunks
    read, _ = from_csv(tmp_path, "answer,chunk_2,chunk_1,chunk_10\na,two,one,\nb,,,ten\nc,,,")
    texts = [[(chunk.chunk_id, chunk.text) for chunk in each.chunks] for each in read]
    assert texts == [[("1", "one"), ("2", "two")], [("10", "ten")], []]


def test_a_bad_row_of_a_csv_is_named_and_the_next_is_read(tmp_path: Path) -> None:
    rows = 'q1,a\nq2,d,,e\nq3,f,text\nq4,"x"y\nq5,c\nq6,"never\nclosed'
    read, bad = from_csv(tmp_path, f"qid,answer,chunks\n{rows}")
    assert [each.qid for each in read] == ["q1", "q5"]
    problems = [
        "line 3: 4 cells under 3 columns",
        "line 4, field 'chunks': is text, 'text'; a list",
        "line 5: bad CSV: ',' expected after",
        "line 7: bad CSV: unexpected end of data; close quotation",
    ]
    assert [each in str(row.error) for each, row in zip(problems, bad, strict=True)] == [True] * 4
    assert [row.text for row in bad[2:]] == ['q4,"x"y\n', 'q6,"never\nclosed']


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("qid,answer,qid\n1,a,2", ", line 1: column 'qid' is there 2 times"),
        ("qid,answer\r1,a\r2,b", ", line 1: bad CSV: new-line character"),
        ('"qid,answer\n1,a', ", line 1: bad CSV: unexpected end of data; close quotation"),
    ],
)
def test_what_makes_all_of_a_csv_unsound_is_an_error(
    text: str, problem: str, tmp_path: Path
) -> None:
    path = written(tmp_path, text, "a.csv")
    with pytest.raises(InputError) as caught:
        list(read_samples(path, needs=(), on_bad=lambda _: None))
    assert str(caught.value).startswith(f"{path}{problem}")


# Limits


def test_a_long_line_is_refused_before_it_is_read_whole(tmp_path: Path) -> None:
    first = json.dumps({"answer": "a" * 5_000, "chunks": []}) + "\n"  # longer than is peeked at
    head, bomb = gzip.compress(first.encode()), gzip.compress(bytes(1 << 20)) * 256
    lines = written(tmp_path, head + bomb, "a.jsonl.gz")
    cells = gzip.compress((b"a," * 999 + b"\n") * 500)
    quoted = written(tmp_path, gzip.compress(b'answer,chunk_1\na,c\n"') + cells * 65, "a.csv.gz")
    tracemalloc.start()
    assert refused(lines) == ", line 2: longer than 64 MB; mend it, or shorten its texts"
    assert tracemalloc.get_traced_memory()[1] < 150_000_000
    tracemalloc.stop()
    assert "line 3: bad CSV: field larger than field limit (64000000)" in refused(quoted)


def test_gzip_that_is_damaged_is_named(tmp_path: Path) -> None:
    data = gzip.compress((GOOD * 1_000).encode())
    for damaged in (data[:-20], data[:-8] + b"\0" * 8, data + b"junk"):
        path = written(tmp_path, damaged, "a.jsonl.gz")
        assert refused(path).startswith(": the gzip data is damaged (")


# Standard input, and commands that go on at bad lines


def test_standard_input_can_be_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    piped = b'{"qid":"a"}\n{"qid":"b"}\n'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(piped)))
    with readable("-") as source:
        (copy,) = input_files(source)
        assert (Path(copy.address).read_bytes(), str(copy)) == (piped, "standard input")
    assert not Path(copy.address).exists()
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ConfigError, match="standard input is closed"), readable("-"):
        pass


def test_a_source_raises_at_a_bad_line_or_reports_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, '{"qid":"a","answer":"x"}\n{"answer":\n{"qid":"c"}\n')
    strict = Source(str(path), ("answer",), skip_bad_lines=False)
    with pytest.raises(InputError, match=r"samples\.jsonl, line 2"), strict.samples() as samples:
        list(samples)
    # Errors of the caller's block name the source too.
    with pytest.raises(InputError, match=r"samples\.jsonl: holds no query"), strict.samples():
        raise InputError("holds no query")
    lenient = Source(str(path), ("answer",), skip_bad_lines=True)
    with lenient.samples() as samples:
        assert [sample.qid for sample in samples] == ["a"]
    assert lenient.rejected == 2
    lines = capsys.readouterr().err.splitlines()
    assert [each.startswith(f"judge: left out: {path}, line ") for each in lines] == [True, True]
    piped = io.BytesIO(b'{"qid":"\x1b[31m\n{"qid":"b"}\n')
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(piped))
    with Source("-", (), skip_bad_lines=True).samples() as samples:
        assert [sample.qid for sample in samples] == ["b"]
    line = capsys.readouterr().err
    assert line.startswith("judge: left out: standard input, line 1: ")
    assert "\x1b" not in line


# Tables, and several files as one input


def as_parquet(path: Path, rows: Rows) -> None:
    parquet.write_table(pa.Table.from_pylist(rows), path)


def as_stream(path: Path, rows: Rows) -> None:
    table = pa.Table.from_pylist(rows)
    with ipc.new_stream(path, table.schema) as file:
        file.write_table(table, max_chunksize=2)


def as_file(path: Path, rows: Rows) -> None:
    table = pa.Table.from_pylist(rows)
    with ipc.new_file(path, table.schema) as file:
        file.write_table(table)


def as_lines(path: Path, rows: Rows) -> None:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def as_sheet(path: Path, rows: Rows) -> None:
    book = openpyxl.Workbook()
    # The first sheet that is shown is read.
    book.worksheets[0].append(["notes"])
    book.worksheets[0].sheet_state = "hidden"
    sheet = book.create_sheet("answers")
    sheet.append(list(rows[0]))
    for row in rows:
        sheet.append([v if isinstance(v, int | str) else json.dumps(v) for v in row.values()])
    book.create_sheet("another").append(["answer", "chunks"])
    book.save(path)


TABLES: dict[str, Callable[[Path, Rows], None]] = {
    "a.parquet": as_parquet,
    "a.arrow": as_stream,
    "a.feather": as_file,
    "a.xlsx": as_sheet,
}


def rows_of() -> Rows:
    return [
        {"qid": "gym", "query": "When?", "answer": "At six [1].", "chunks": ["It opens at six."]},
        {
            "qid": "会",
            "query": "哪天？",
            "answer": "1月16日[2]。",
            "chunks": ["年会。", "1月16日。"],
        },
        {"qid": "empty", "query": "", "answer": "", "chunks": []},
    ]


@pytest.mark.parametrize("name", TABLES)
def test_every_table_gives_the_same_samples_whatever_its_name(name: str, tmp_path: Path) -> None:
    expected = [Sample.of(row) for row in rows_of()]
    TABLES[name](tmp_path / name, rows_of())
    assert list(read_samples(tmp_path / name)) == expected
    path = (tmp_path / name).rename(tmp_path / "input")
    assert list(read_samples(path)) == expected
    whole = path.read_bytes()
    for size in (len(whole) // 2, len(whole) - 6):
        path.write_bytes(whole[:size])
        assert any(each in refused(path) for each in ("no sound", "read as XLSX"))


def test_noise_in_the_place_of_a_table_is_named_as_such(tmp_path: Path) -> None:
    for noise in (b"\x8f\x00\x17", b"\x8f\x17", b""):
        path = written(tmp_path, noise, "a.parquet")
        assert refused(path).startswith(": does not begin as a Parquet or Arrow file does; write")


def test_columns_of_other_types_are_read(tmp_path: Path) -> None:
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
    at, day = "2023-11-14T22:13:20", "2026-01-16T00:00:00+00:00"
    assert one.metadata == {"at": at, "day": day, "raw": "é", "deep": {"a": 1}}
    assert two.metadata == {"at": at, "raw": {"bytes": 1}, "much": 0.5, "deep": {"b": [None, 2]}}


def test_a_bad_row_of_a_table_is_named_and_set_aside(tmp_path: Path) -> None:
    rows: Rows = [
        {"answer": "a", "chunks": '["c"]'},
        {"answer": "b", "chunks": "no list"},
    ]
    # A sheet numbers its rows as it shows them: the header's is the first.
    for name, first in {"a.parquet": 1, "a.feather": 1, "a.xlsx": 2}.items():
        path = tmp_path / name
        TABLES[name](path, rows)
        assert refused(path).startswith(f", line {first + 1}, field 'chunks': ")
        bad: list[Rejected] = []
        (sample,) = read_samples(path, on_bad=bad.append)
        assert (sample.qid, [each.line for each in bad]) == (str(first), [first + 1])
        assert json.loads(bad[0].text) == rows[1]


def test_a_wrong_table_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    twice = pa.table([pa.array(["a"]), pa.array(["b"])], names=["answer", "answer"])
    with ipc.new_file(path, twice.schema) as file:
        file.write_table(twice)
    assert "column 'answer' is there 2 times" in refused(path)
    # Only the full check finds a text that is not UTF-8.
    strings = pa.StringArray.from_buffers(
        1, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")
    )
    wrong = pa.RecordBatch.from_arrays([strings], names=["answer"])
    with ipc.new_stream(path, wrong.schema) as file:
        file.write_batch(wrong)
    assert "is no sound Arrow file (" in refused(path)
    openpyxl.Workbook().save(path)
    assert "holds no sample" in refused(path)
    as_sheet(path, [{"answer": "a"}])
    assert "field 'chunks': is missing" in refused(path)


def test_a_missing_library_is_named_with_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    heads = {"Parquet": b"PAR1", "Arrow": b"ARROW1\0\0", "XLSX": b"PK\x03\x04"}
    for kind, head in heads.items():
        path = written(tmp_path, head, "input")
        needed = rf"^{kind} needs .*run pip install 'rag-judge\[data\]'$"
        with pytest.raises(ConfigError, match=needed):
            list(read_samples(path))


def test_files_of_a_folder_or_a_pattern_are_one_input(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "deep").mkdir(parents=True)
    as_parquet(data / "b.parquet", rows_of()[1:2])
    as_lines(data / "a.jsonl", rows_of()[:1])
    as_lines(data / "deep" / "c.ndjson", rows_of()[2:])
    for unread in (".hidden.jsonl", "_SUCCESS.json", "notes.txt"):
        (data / unread).write_text("no sample", encoding="utf-8")

    def qids(name: str) -> list[str]:
        return [each.qid for each in read_samples(name)]

    assert qids(str(data)) == ["gym", "会", "empty"]
    assert qids(f"{data}/?.*") == ["gym", "会"]
    assert qids(f"{data}/**/*.ndjson") == ["empty"]
    as_lines(tmp_path / "[1].jsonl", rows_of())  # a name may look like a pattern
    assert len(qids(str(tmp_path / "[1].jsonl"))) == 3
    assert refused(f"{data}/*.csv") == ": no file there; check the name"
    as_lines(data / "z.jsonl", [{"answer": "a", "chunks": []}])
    with pytest.raises(InputError, match=r"z\.jsonl, line 1, field 'qid': is missing"):
        qids(f"{data}/[a-z]*.[jp]*")
    as_lines(data / "z.jsonl", rows_of()[:1])
    with pytest.raises(InputError, match=rf"z\.jsonl, line 1, .* in row 1 of {data}/a\.jsonl;"):
        qids(str(data))


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
    assert (code, "哪天？" in out) == (0, True)  # the query is in the samples alone
    # A further file makes it another input.
    as_lines(data / "c.jsonl", [{"qid": "more", "answer": "a", "chunks": []}])
    code, _, err = judge("review", "draw", run, "-o", tmp_path / "sheet.csv")
    assert (code, "changed since" in err) == (2, True)
    code, _, err = judge("score", data, "-o", data / "run")
    assert (code, "name an -o elsewhere" in err, (data / "run").exists()) == (2, True, False)
    assert judge("score", data / "*.parquet", "-o", data / "run")[0] == 0
