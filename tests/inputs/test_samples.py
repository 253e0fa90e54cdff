"""Files of samples: JSON lines, JSON documents and CSV, packed or piped in, whole or broken."""

import gzip
import hashlib
import io
import json
import os
import sys
import threading
import tracemalloc
from pathlib import Path

import pytest

from judge.errors import ConfigError, InputError, RunError
from judge.inputs.files import readable
from judge.inputs.samples import Rejected, Source, check_samples, read_samples
from judge.records import Sample

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
GOOD = '{"answer": "a", "chunks": ["c"]}\n'


def written(folder: Path, text: str | bytes, name: str = "samples.jsonl") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refused(path: Path, max_line: float = 64.0) -> str:
    """Return the message about a file, which is one line that names it."""
    with pytest.raises(InputError) as caught:
        list(read_samples(path, max_line=max_line))
    told = str(caught.value)
    assert told.startswith(str(path))
    assert "\n" not in told
    return told.removeprefix(f"{path}")


def test_what_the_fixtures_hold() -> None:
    read = {
        name: [
            (sample.qid, [chunk.chunk_id for chunk in sample.chunks], [*sample.metadata])
            for sample in read_samples(FIXTURES / name)
        ]
        for name in ("aliases.jsonl", "ragas.jsonl", "samples.csv", "samples_columns.csv")
    }
    assert read == {
        "aliases.jsonl": [
            ("alias-id", ["memo#1", "memo#2"], []),
            ("alias-contexts", ["1", "2"], []),
            ("3", ["1"], []),
        ],
        "ragas.jsonl": [("1", ["1", "2"], []), ("2", ["1", "2"], [])],
        # The BOM is no part of the header.
        "samples.csv": [
            ("csv-zh", ["canteen#1", "canteen#2"], ["department"]),
            ("csv-en", ["rooms#1"], ["department"]),
        ],
        "samples_columns.csv": [("cols-zh", ["1", "2", "3"], []), ("cols-en", ["1", "2"], [])],
    }
    chinese, english = read_samples(FIXTURES / "samples.csv")
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
    "a.json": '[\n{"qid": "q", "answer": "答", "chunks": ["c"]}]',
    "a.csv": "\ufeffqid,answer,chunk_1\nq,答,c\n",
    "a.TSV": "qid\tanswer\tchunk_1\r\nq\t答\tc\r\n",
    "jsonl": '\n{"qid": "q", "answer": "答", "chunks": ["c"]}',
    "json.txt": '[{"qid": "q", "answer": "答", "chunks": ["c"]}]',
    "csv.bak": "qid;answer;chunk_1\nq;答;c",
    "piped": "qid|answer|chunk_1\nq|答|c",
}


@pytest.mark.parametrize("name", FORMATS)
def test_the_name_or_the_first_line_tells_the_format(name: str, tmp_path: Path) -> None:
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
    "links.md": "[judge](https://example.org), an evaluator\n",
    "page.html": "<!doctype html>\n<html>",
    "notes.txt": "answers, chunks and more\n",
    "none": "nothing\ngood\n",
    "utf16.csv": "qid,answer".encode("utf-16"),
    "binary.csv": b"PK\x05\x06\0\0\0",
    "gzip.csv": b"\x1f\x8b\x08\x00not gzip",
    "x.jsonl": "x",
    "empty.csv": "",
    "blank.jsonl": "\n \n",
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_holds_no_sample_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, OTHERS[name], name)
    with pytest.raises(InputError) as caught:
        check_samples(path, on_bad=lambda _: None)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_what_is_no_file_is_an_input_error(tmp_path: Path) -> None:
    end, write = os.pipe()
    os.close(write)
    for path, says in (
        (tmp_path / "missing.jsonl", "no such file"),
        (tmp_path, "no file there"),
        (tmp_path / ("x" * 5000), "cannot be read"),
        (tmp_path / "a\0b", "cannot be read"),
        (Path(f"/dev/fd/{end}"), "is a pipe"),  # which is read only once
    ):
        assert says in refused(path)
    os.close(end)


def test_a_duplicate_counts_the_line_number_too(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD.replace("{", '{"qid": 2, ') + GOOD)
    assert refused(path).startswith(", line 2, field 'qid': '2' is already on line 1")


def test_samples_come_one_at_a_time_whatever_stands_behind_them(tmp_path: Path) -> None:
    samples = read_samples(written(tmp_path, GOOD * 4 + "broken"))
    read: list[Sample] = [next(samples), next(samples)]
    # Another thread may read on.
    thread = threading.Thread(target=lambda: read.extend((next(samples), next(samples))))
    thread.start()
    thread.join()
    assert [sample.qid for sample in read] == ["1", "2", "3", "4"]
    with pytest.raises(InputError):
        next(samples)


def test_one_line_in_another_encoding_is_set_aside_alone(tmp_path: Path) -> None:
    lines = {
        "a.jsonl": [f'{{"qid": "{qid}", "answer": "好", "chunks": []}}' for qid in "a坏c"],
        "a.csv": ["qid,answer,chunks", 'a,好,"[]"', '坏,坏,"[]"', 'c,好,"[]"'],
    }
    for name, texts in lines.items():
        data = [text.encode("gb18030" if "坏" in text else "utf-8") + b"\n" for text in texts]
        path = written(tmp_path, b"".join(data), name)
        bad: list[Rejected] = []
        assert [sample.qid for sample in read_samples(path, on_bad=bad.append)] == ["a", "c"]
        (rejected,) = bad
        assert "not UTF-8 (byte 0xbb at column" in str(rejected.error)
        assert "\ufffd" in rejected.text
    path.write_bytes('[{"answer": "好"},\n'.encode() + '{"answer": "坏"}]'.encode("gb18030"))
    assert refused(path.rename(tmp_path / "a.json")).startswith(", line 2: not UTF-8")


def test_a_csv_of_chinese_excel_is_read_and_said(tmp_path: Path) -> None:
    told: list[str] = []
    path = FIXTURES / "gb18030.csv"
    (sample,) = read_samples(path, report=told.append)
    assert (sample.query, told) == (
        "班车几点发车？",
        [f"{path}: read as GB18030, because it is not UTF-8"],
    )
    # French in Windows' own encoding is neither.
    path = written(
        tmp_path, "answer,chunk_1\nUn café, s'il vous plaît,c\n".encode("cp1252"), "a.csv"
    )
    assert refused(path).startswith(", line 2: not UTF-8 (byte 0xe9 at column 7)")


BAD_LINES = [
    ('{"answer": "a" "b"}', "Expecting ',' delimiter at column 16: '{\"answer\""),
    ('{"answer": "cut', "Unterminated string starting at column 12: "),
    ("[1, 2]", "holds '[1, 2]'; each line is one JSON object, {…}. Of a JSON array, jq"),
    ('"text"', "holds '\"text\"'"),
    ("qid,answer", "Expecting value at column 1"),
    ('{"answer": "a\tb"}', "Invalid control character"),
    ('{"a": 1} {"a": 2}', "Extra data at column 10"),
    ("[" * 100_000, "nested too deeply"),
    ('{"n": ' + "9" * 5000 + "}", "too many digits"),
]


def test_a_bad_line_is_named_and_the_next_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, "\n".join(f"{GOOD}{line}" for line, _ in BAD_LINES) + f"\n \n{GOOD}")
    bad: list[Rejected] = []
    assert len(list(read_samples(path, on_bad=bad.append))) == len(BAD_LINES) + 1
    assert [each.text.rstrip("\n") for each in bad] == [line for line, _ in BAD_LINES]
    for number, (rejected, (_, says)) in enumerate(zip(bad, BAD_LINES, strict=True), 1):
        told = str(rejected.error)
        assert told.startswith(f"{path}, line {2 * number}: ")
        assert says in told
        assert len(told) < 300 + len(str(path))


ROW = {"answer": "答", "chunks": ["c"]}
LINE = json.dumps(ROW)
# A document, and the ids of its rows: each counts one more than the one before, from the line on
# which its array or it begins. Else what is wrong.
DOCUMENTS: list[tuple[str, list[str] | str]] = [
    (f" [ {LINE},\n\n{LINE} ]\n", ["1", "2"]),
    (f"\ufeff[{LINE},{LINE},{LINE}]", ["1", "2", "3"]),
    (json.dumps([ROW, ROW], indent=1), ["1", "2"]),
    (json.dumps(ROW, indent=2), ["1"]),
    # Whatever stands around the list.
    (json.dumps({"args": {"k": [1]}, "data": [ROW, ROW], "n": 1}, indent=1), ["1", "2"]),
    (f'{{"version": 1.0, "results": [\n{LINE},\n{LINE}\n]}}', ["1", "2"]),
    (f'{{"examples": [{LINE},\n{LINE}]}}', ["1", "2"]),
    (f"{json.dumps({'data': [ROW, ROW]})}\n{json.dumps({'data': [ROW]})}", ["1", "2", "3"]),
    # Where a row has such a key, it is a row.
    (json.dumps({"query": "q", "results": [{"rank": 1}], **ROW}, indent=1), ["1"]),
    (json.dumps({"results": [{"rank": 1}], **ROW}), ["1"]),
    (f"[{LINE},", "line 1: bad JSON: Expecting value"),
    (f"[\n{LINE}\n{LINE}]", "line 3: bad JSON: Expecting ',' delimiter"),
    (f"[{LINE}]\nx", "line 2: bad JSON: Extra data at column 1"),
    ("[1, 2]", "line 1: holds '1'; each row is one JSON object"),
    (f'[{LINE},\n{{"answer": "cut', "line 2: bad JSON: Unterminated string"),
    ("[" * 100_000, "bad JSON: lists or objects are nested too deeply"),
    (f"[{'9' * 5000}]", "bad JSON: a number has too many digits"),
    (f"[{LINE}, {{}}]", "line 2, field 'answer': is missing"),
    (json.dumps({"data": [[1, 2]]}), "line 1, field 'answer': is missing"),
    (json.dumps({"data": [{"text": "t"}]}, indent=1), "line 1, field 'answer': is missing"),
    ('{\n"a" 1}', "line 2: bad JSON: Expecting ':' delimiter"),
    # A line that was cut off is a line.
    ('{"answer": "a", "chunks": ["c"\n' + LINE, "line 1: bad JSON: Expecting ',' delimiter"),
    ('{"answer": {"0": "a"}, "chunks": {"0": ["c"]}}', "is a column of 1, and"),
    ('{"answer": ["a", "b"], "chunks": [["c"], ["c"]]}', "is a column of 2, and"),
]


@pytest.mark.parametrize(("text", "expected"), DOCUMENTS)
def test_a_json_document_is_read_row_by_row(
    text: str, expected: list[str] | str, tmp_path: Path
) -> None:
    for data in (text.encode(), gzip.compress(text.encode())):
        path = written(tmp_path, data, "rows.json")
        if isinstance(expected, list):
            assert [(each.qid, each.answer) for each in read_samples(path)] == [
                (qid, "答") for qid in expected
            ]
        else:
            assert expected in refused(path)


def test_a_document_is_held_whole_and_has_a_limit(tmp_path: Path) -> None:
    for text in (f"[{LINE * 3_000}]", f"[\n{(LINE + chr(10)) * 3_000}]"):
        told = refused(written(tmp_path, text, "rows.json"), max_line=0.01)
        assert "0.08 MB" in told
        assert told.endswith("--max-line")


def test_a_bad_object_of_an_array_is_set_aside(tmp_path: Path) -> None:
    path = written(tmp_path, f'[{LINE}, {{"x": "\\ud800"}}, 3, {LINE}]', "rows.json")
    bad: list[Rejected] = []
    assert check_samples(path, on_bad=bad.append)[:2] == (2, 2)
    assert [each.text for each in bad] == ['{"x": "\\ud800"}', "3"]


def test_what_is_no_number_is_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, f'{LINE[:-1]}, "reference": NaN, "score": NaN}}')
    (sample,) = read_samples(path)
    assert (sample.gold_answer, sample.metadata) == (None, {"reference": None, "score": None})


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


def test_a_bad_csv_record_is_named_and_the_next_is_read(tmp_path: Path) -> None:
    read, bad = from_csv(
        tmp_path,
        'qid,answer,chunks\nq1,a\nq2,"x"y\nq3,c\nq4,d,,e\nq5,f,text\n'
        f'q7,g,[{"9" * 5000}]\nq6,"never\nclosed',
    )
    assert [each.qid for each in read] == ["q1", "q3"]
    says = [
        "line 3: bad CSV",
        "line 5: 4 cells under 3 columns",
        "line 6, field 'chunks': is no list: 'text'",
        "line 7, field 'chunks': is no list: '[999",
        "line 8: bad CSV: unexpected end of data; close the quotation mark",
    ]
    assert [each in str(row.error) for each, row in zip(says, bad, strict=True)] == [True] * 5


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("qid,answer,qid\n1,a,2", "column 'qid' is there 2 times"),
        ("qid,answer\r1,a\r2,b", "carriage return"),
        ('"qid,answer\n1,a', "close the quotation mark"),
        (f"qid,{'x' * 3000}\n", "longer than 0.002 MB"),
    ],
)
def test_a_bad_header_is_an_error_on_line_one(text: str, says: str, tmp_path: Path) -> None:
    told = refused(written(tmp_path, text, "a.csv"), max_line=0.002)
    assert told.startswith(", line 1: ")
    assert says in told


LONG = json.dumps({"answer": "x" * 3_000, "chunks": ["c"]}) + "\n"


@pytest.mark.parametrize(
    ("text", "qids", "lines"),
    [
        (GOOD + LONG * 2 + GOOD, ["1", "4"], [2, 3]),
        (LONG + GOOD, ["2"], [1]),
        (GOOD + LONG.rstrip(), ["1"], [2]),
    ],
)
def test_a_line_over_the_limit_is_a_bad_one_and_the_next_is_read(
    text: str, qids: list[str], lines: list[int], tmp_path: Path
) -> None:
    for data in (text.encode(), gzip.compress(text.encode())):
        path, bad = written(tmp_path, data), list[Rejected]()
        read = read_samples(path, on_bad=bad.append, max_line=0.002)
        assert [sample.qid for sample in read] == qids
        assert [each.line for each in bad] == lines
        assert all("longer than 0.002 MB" in str(each.error) for each in bad)
        assert all(each.text in text and len(each.text) <= 1_000 for each in bad)


CELL = "x" * 3_000


@pytest.mark.parametrize("record", [f'u,"a\n{CELL}\n",c\n', 'v,"' + "a,b\n" * 800, f"w,{CELL},c\n"])
def test_a_csv_record_over_the_limit_ends_the_reading(record: str, tmp_path: Path) -> None:
    path = written(tmp_path, f"qid,answer,chunk_1\nq,a,c\n{record}", "a.csv")
    told = refused(path, max_line=0.002)
    assert "longer than 0.002 MB" in told
    assert told.endswith("--max-line")


def test_a_long_line_is_refused_before_it_is_read_whole(tmp_path: Path) -> None:
    """A hole of 200 MB, and 32 MB in 32 KB: neither is held."""
    first = json.dumps({"answer": "a" * 5_000, "chunks": []}) + "\n"  # further than a glance goes
    hole, bomb = written(tmp_path, first), tmp_path / "bomb.jsonl.gz"
    with hole.open("r+b") as file:
        file.truncate(200_000_000)
    with bomb.open("wb") as file:
        file.write(gzip.compress(first.encode()) + gzip.compress(bytes(1 << 20)) * 32)
    tracemalloc.start()
    for path in (hole, bomb):
        with pytest.raises(InputError, match="line 2: longer than 1 MB"):
            list(read_samples(path, max_line=1))
    assert tracemalloc.get_traced_memory()[1] < 8_000_000
    tracemalloc.stop()


def test_gzip_that_is_damaged_is_named(tmp_path: Path) -> None:
    data = gzip.compress((GOOD * 1_000).encode())
    for spoilt in (data[:-20], data[:-8] + b"\0" * 8, data + b"junk"):
        path = written(tmp_path, spoilt, "a.jsonl.gz")
        assert refused(path).startswith(": the gzip data is damaged (")


PIPE = b'{"qid":"a"}\n{"qid":"b"}\n'


def test_what_is_piped_in_can_be_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PIPE)))
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_bytes, args=(PIPE,))
    writer.start()
    for name in ("-", str(fifo)):
        with readable(name) as path:
            assert path.read_bytes() == path.read_bytes() == PIPE
        assert not path.exists()
    writer.join()


class Broken(io.RawIOBase):
    def readable(self) -> bool:
        return True

    def readinto(self, _: object) -> int:
        raise OSError(5, "Input/output error")


def test_a_pipe_that_breaks_or_is_closed_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Broken())))
    with pytest.raises(RunError, match=r"^standard input: cannot be copied"), readable("-"):
        pass
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ConfigError, match="standard input is closed"), readable("-"):
        pass


def test_a_source_raises_at_a_bad_line_or_tells_of_it(
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
    for _ in range(2):
        with lenient.samples() as samples:
            assert [sample.qid for sample in samples] == ["a"]
    assert lenient.rejected == 2
    told = capsys.readouterr().err.splitlines()
    assert [each.startswith(f"judge: left out: {path}, line ") for each in told] == [True, True]
    piped = io.BytesIO(b'{"qid":"\x1b[31m\n{"qid":"b"}\n')
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(piped))
    with Source("-", (), skip_bad_lines=True).samples() as samples:
        assert [sample.qid for sample in samples] == ["b"]
    line = capsys.readouterr().err
    assert line.startswith("judge: left out: standard input, line 1: ")
    assert "\x1b" not in line


def test_a_first_line_that_is_cut_is_one_bad_line(tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text('{"answer": "cut",\n{"answer": "It opens.", "chunks": ["x"]}\n')
    with pytest.raises(InputError, match="line 1: bad JSON"):
        list(read_samples(file))
    found = read_samples(file, on_bad=lambda _: None)
    assert [each.answer for each in found] == ["It opens."]
