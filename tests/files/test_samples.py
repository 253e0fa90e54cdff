import gc
import gzip
import hashlib
import io
import json
import sys
import threading
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from judge.errors import InputError
from judge.files.documents import Row, jsonl_rows
from judge.files.objects import each
from judge.files.rows import csv_rows
from judge.files.samples import Rejected, Source, check_samples, read_samples
from judge.records import Sample

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
GOOD = '{"answer": "a", "chunks": ["c"]}\n'
PATH = Path("samples.txt")


def written(folder: Path, text: str | bytes, name: str = "samples.jsonl") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


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
    assert '"Slate" calendar' in english.chunks[0].text


def test_bad_lines_can_be_set_aside() -> None:
    rows = [
        ("broken.jsonl", ["bad-json-1", "bad-json-2", "bad-json-4"], 3),
        ("wrong_types.jsonl", ["types-1", "types-3"], 2),
        ("duplicate_qid.jsonl", ["twice", "once"], 3),
    ]
    for name, qids, line in rows:
        bad: list[Rejected] = []
        samples = read_samples(FIXTURES / name, on_bad=bad.append)
        assert [sample.qid for sample in samples] == qids
        text = (FIXTURES / name).read_text("utf-8").splitlines()[line - 1]
        assert [(each.line, each.text.rstrip()) for each in bad] == [(line, text)]
        checked = check_samples(FIXTURES / name, on_bad=bad.append)
        assert (checked.samples, checked.rejected) == (len(qids), 1)


def test_the_name_or_the_first_line_tells_the_format(tmp_path: Path) -> None:
    texts = {
        "a.jsonl": '\ufeff{"qid": "q", "answer": "答", "chunks": ["c"]}',
        "a.ndjson": '{"qid": "q", "answer": "答", "chunks": ["c"]}\r\n',
        "a.csv": "\ufeffqid,answer,chunk_1\nq,答,c\n",
        "a.TSV": "qid\tanswer\tchunk_1\r\nq\t答\tc\r\n",
        "jsonl": '\n{"qid": "q", "answer": "答", "chunks": ["c"]}',
        "csv": "qid;answer;chunk_1\nq;答;c",
        "piped": "qid|answer|chunk_1\nq|答|c",
    }
    for name, text in texts.items():
        plain = written(tmp_path, text, name)
        zipped = written(tmp_path, gzip.compress(text.encode()), f"{name}.gz")
        for path in (plain, zipped):
            (sample,) = read_samples(str(path))
            assert (sample.qid, sample.answer, sample.chunks[0].text) == ("q", "答", "c"), path


def test_a_duplicate_counts_the_line_number_too(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD.replace("{", '{"qid": 2, ') + GOOD)
    with pytest.raises(InputError, match=r"line 2, field 'qid': '2' stands already on line 1"):
        list(read_samples(path))


def test_nothing_to_read_is_no_sample_and_an_error_where_a_run_is_meant(tmp_path: Path) -> None:
    for name, text in (("a", ""), ("a.jsonl", "\n \n"), ("a.csv", "")):
        path = written(tmp_path, text, name)
        assert list(read_samples(path)) == []
        with pytest.raises(InputError, match="holds no sample"):
            check_samples(path)
    rows = {
        "x": "the only line is bad; the first: line 1: bad JSON: Expecting value",
        '{"answer": "a"}\n{"qid": 1}\n': (
            "all 2 lines are bad; the first: line 1, field 'chunks': is missing"
        ),
    }
    for text, said in rows.items():
        with pytest.raises(InputError) as caught:
            check_samples(written(tmp_path, text, "a.jsonl"), on_bad=lambda _: None)
        assert str(caught.value).startswith(f"{tmp_path / 'a.jsonl'}: {said}")


def test_what_is_neither_json_lines_nor_csv_is_no_table_of_columns(tmp_path: Path) -> None:
    """A known ending decides; under another name, or none, what stands on the first line."""
    others = {
        "README.md": "# judge\n\n`judge` reads the answers, and says more.\n",
        "links.md": "[judge](https://example.org), an evaluator\n",
        "score.py": "from judge import evaluate, summarize\n",
        "page.html": "<!doctype html>\n<html>",
        "notes.txt": "answers, chunks and more\n",
        "notes.jsonl.txt.gz": "回答,段落\n",
        "none": "nothing\ngood\n",
    }
    for name, text in others.items():
        data = gzip.compress(text.encode()) if name.endswith(".gz") else text.encode()
        path = written(tmp_path, data, name)
        bad: list[Rejected] = []
        for on_bad in (None, bad.append):
            with pytest.raises(InputError) as caught:
                check_samples(path, on_bad=on_bad)
            said = str(caught.value)
            assert said.startswith(f"{path}: is neither JSON lines nor CSV: it begins with ")
            assert said.endswith(
                "JSON object a line (.jsonl), or CSV under a header (.csv), is needed"
            )
            assert "\n" not in said
    table = 'id,"answer",chunk_1\nq,a,b\n'
    for name in ("in", "in.txt", "in.dat", "in.md", "in.csv.bak"):
        for text in (GOOD, f"\ufeff{GOOD}", f"\n{GOOD}", table, table.replace(",", ";")):
            assert check_samples(written(tmp_path, text, name)).samples == 1
    # A JSON array is read, and no Markdown.
    assert check_samples(written(tmp_path, f"[{GOOD.strip()}]", "in.txt")).samples == 1


def test_a_check_counts_and_hashes_the_bytes_as_they_lie(tmp_path: Path) -> None:
    data = gzip.compress((GOOD * 3).encode())
    found = check_samples(written(tmp_path, data))
    assert found == (3, 0, hashlib.sha256(data).hexdigest())


def test_samples_come_one_at_a_time_whatever_stands_behind_them(tmp_path: Path) -> None:
    samples = read_samples(written(tmp_path, GOOD * 2 + "broken"))
    assert isinstance(samples, Iterator)
    assert [next(samples).qid, next(samples).qid] == ["1", "2"]
    with pytest.raises(InputError):
        next(samples)
    samples = read_samples("no/such/file.jsonl")  # nothing is opened before it is asked for
    with pytest.raises(InputError, match="no such file"):
        next(samples)


def test_another_thread_may_read_on(tmp_path: Path) -> None:
    samples = read_samples(written(tmp_path, GOOD * 3))
    read: list[Sample] = [next(samples)]
    thread = threading.Thread(target=lambda: read.extend(samples))
    thread.start()
    thread.join()
    assert [sample.qid for sample in read] == ["1", "2", "3"]


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
        assert "not UTF-8" in str(rejected.error)
        assert "\ufffd" in rejected.text


def from_jsonl(text: str) -> list[Row]:
    return list(jsonl_rows(iter(list(enumerate(text.splitlines(keepends=True), 1))), PATH))


def from_csv(text: str) -> list[Row]:
    lines = enumerate((line + "\n" for line in text.split("\n")), 1)
    return list(csv_rows(iter(list(lines)), PATH))


def problem(row: Row) -> str:
    assert isinstance(row.fields, InputError)
    assert "\n" not in str(row.fields)
    return str(row.fields)


def test_a_json_object_a_line_and_blank_lines_between() -> None:
    rows = from_jsonl('{"a": 1}\n\n  \n{"b": "十"}')
    assert [(row.line, row.fields) for row in rows] == [(1, {"a": 1}), (4, {"b": "十"})]


def test_a_bad_line_is_named_and_the_next_is_read() -> None:
    bad = [
        ('{"answer": "a" "b"}', "Expecting ',' delimiter at column 16: '{\"answer\""),
        ('{"answer": "cut', "Unterminated string starting at column 12: "),
        ("[1, 2]", "holds '[1, 2]'; each line is one JSON object, {…}. Of a JSON array, jq"),
        ("null", "holds 'null'"),
        ('"text"', "holds '\"text\"'"),
        ("qid,answer", "Expecting value at column 1"),
        ('{"answer": "a\tb"}', "Invalid control character"),
        ('{"a": 1} {"a": 2}', "Extra data at column 10"),
        ("[" * 100_000, "too deep in each other"),
        ('{"a":' * 100_000, "too deep in each other"),
        ('{"n": ' + "9" * 5000 + "}", "too many digits"),
        ('{"a": 1, "b": {"k": 1, "a": 2, "k": 1}}', "the key 'k' stands twice in an object"),
    ]
    text = "\n".join(f'{{"a": 1}}\n{line}' for line, _ in bad) + '\n{"a": 4}'
    rows = from_jsonl(text)
    assert rows[-1].fields == {"a": 4}
    assert [row.text for row in rows[1:-1:2]] == [line + "\n" for line, _ in bad]
    told = [problem(row) for row in rows[1:-1:2]]
    assert [text for text, (_, says) in zip(told, bad, strict=True) if says not in text] == []
    assert all(text.startswith(f"samples.txt, line {2 * n}: ") for n, text in enumerate(told, 1))
    assert max(map(len, told)) < 300


def test_a_json_document_over_many_lines_is_told_how_to_become_lines() -> None:
    assert "jq -c '.[]'" in problem(from_jsonl("[\n{}\n]")[0])
    assert "jq -c ." in problem(from_jsonl('{\n"a": 1\n}')[0])


def test_csv_with_line_breaks_quotes_and_delimiters_in_cells() -> None:
    rows = from_csv('qid,answer,note\nq1,"two\nlines, ""quoted""",x;y\n\nq2,one,')
    assert [(row.line, row.fields) for row in rows] == [
        (2, {"qid": "q1", "answer": 'two\nlines, "quoted"', "note": "x;y"}),
        (5, {"qid": "q2", "answer": "one"}),
    ]
    assert rows[0].text == 'q1,"two\nlines, ""quoted""",x;y\n'
    # So it is in the header. And an empty cell is an absent field, but an empty answer an answer.
    rows = from_csv('qid,"answer\n(final)",answer,query\n1,x,,')
    assert [(row.line, row.fields) for row in rows] == [
        (3, {"qid": "1", "answer\n(final)": "x", "answer": ""})
    ]


def test_chunks_are_a_json_cell_or_numbered_columns() -> None:
    chunks = [{"chunk_id": "a#1", "text": "十元，\n不含税"}]
    cell = json.dumps(chunks).replace('"', '""')
    assert from_csv(f'chunks\n"{cell}"')[0].fields == {"chunks": chunks}
    rows = from_csv("answer,chunk_2,chunk_1,chunk_10\na,two,one,\nb,,,ten\nc,,,")
    texts = [
        [(chunk["chunk_id"], chunk["text"]) for chunk in row.fields["chunks"]]  # type: ignore[index,union-attr,call-overload]
        for row in rows
    ]
    assert texts == [[("1", "one"), ("2", "two")], [("10", "ten")], []]


def test_a_bad_csv_record_is_named_and_the_next_is_read() -> None:
    rows = from_csv(
        'qid,answer,chunks\nq1,a\nq2,"x"y\nq3,c\nq4,d,,e\nq5,f,text\n'
        f'q7,g,[{"9" * 5000}]\nq8,h,"[{{""text"": ""t"", ""text"": ""u""}}]"\nq6,"never\nclosed'
    )
    says = {
        1: "line 3: bad CSV",
        3: "line 5: 4 cells under 3 columns",
        4: "'text'; write the cell with json.dumps",
        5: "line 7, field 'chunks': bad JSON: a number has too many digits",
        6: "line 8, field 'chunks': the key 'text' stands twice in an object",
        7: "line 9: bad CSV: unexpected end of data; close the quotation mark",
    }
    assert [number for number, text in says.items() if text not in problem(rows[number])] == []
    assert "line 6, field 'chunks': not JSON" in problem(rows[4])
    assert [rows[number].fields for number in (0, 2)] == [
        {"qid": "q1", "answer": "a"},
        {"qid": "q3", "answer": "c"},
    ]
    assert len(rows) == 8


def test_a_bad_header_is_an_error_on_line_one() -> None:
    table = {
        "qid,answer,qid\n1,a,2": "'qid' stands twice",
        "qid,answer\r1,a\r2,b": "carriage return",
        '"qid,answer\n1,a': "close the quotation mark",
    }
    for text, says in table.items():
        with pytest.raises(InputError, match=says) as caught:
            from_csv(text)
        assert caught.value.line == 1


def test_a_cell_of_a_megabyte_is_read() -> None:
    (row,) = from_csv("answer\n" + "长" * 1_000_000)
    assert row.fields == {"answer": "长" * 1_000_000}


def test_a_line_over_the_limit_is_a_bad_one_and_the_next_is_read(tmp_path: Path) -> None:
    good, cell = {"answer": "a", "chunks": ["c"]}, "x" * 3_000
    long = json.dumps(good | {"answer": cell}) + "\n"
    # A quoted cell of many lines, one of which is long; one of many short lines; one never closed.
    short = "a,b\n" * 800
    records = f'u,"a\n{cell}\n,""b\n",c\n', f'v,"{short}",c\n', f'w,"{short}'
    head, row = "qid,answer,chunk_1\n", "q,a,c\n"
    table = [
        ("a.jsonl", GOOD + long + GOOD, ["1", "3"], [2]),
        ("a", GOOD + long * 2 + GOOD, ["1", "4"], [2, 3]),  # by what it begins with
        ("b", long + GOOD, ["2"], [1]),
        ("c.jsonl", GOOD + long.rstrip(), ["1"], [2]),
        ("a.csv", head + records[0] + row, ["q"], [2]),
        ("b.csv", head + records[1] + row + records[2] + row, ["q"], [2, 804]),
        ("c.csv", f"{head}u,{cell},c\n{row}", ["q"], [2]),
    ]
    for name, text, qids, lines in table:
        for data in (text.encode(), gzip.compress(text.encode())):
            path, bad = written(tmp_path, data, name), list[Rejected]()
            read = read_samples(path, on_bad=bad.append, max_line=0.002)
            assert [sample.qid for sample in read] == qids
            assert [each.line for each in bad] == lines
            assert all("longer than 0.002 MB" in str(each.error) for each in bad)
            assert all(each.text in text and len(each.text) <= 1_000 for each in bad)
            with pytest.raises(InputError, match=rf"line {lines[0]}: .*--max-line"):
                list(read_samples(path, max_line=0.002))
    path = written(tmp_path, f"qid,{cell}\n", "d.csv")
    with pytest.raises(InputError, match="line 1: the record is longer"):
        list(read_samples(path, on_bad=print, max_line=0.002))


def test_a_long_line_is_refused_before_it_is_read_whole(tmp_path: Path) -> None:
    """A hole of 8 GB, and 256 MB in a quarter of one: neither is held."""
    first = json.dumps({"answer": "a" * 5_000, "chunks": []}) + "\n"  # further than a glance goes
    hole, bomb = written(tmp_path, first), tmp_path / "bomb.jsonl.gz"
    with hole.open("r+b") as file:
        file.truncate(8_000_000_000)
    with bomb.open("wb") as file:
        file.write(gzip.compress(first.encode()) + gzip.compress(bytes(1 << 20)) * 256)
    tracemalloc.start()
    for path in (hole, bomb):
        with pytest.raises(InputError, match="line 2: longer than 1 MB"):
            list(read_samples(path, max_line=1))
    assert tracemalloc.get_traced_memory()[1] < 8_000_000
    tracemalloc.stop()


@pytest.mark.filterwarnings("error")
def test_a_reader_that_is_abandoned_says_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The streams below are closed in the order in which they were opened."""
    for name, text in (("a.jsonl", f"{GOOD}bad\n{GOOD}"), ("a.csv", "qid,qid\n1,2\n")):
        path = written(tmp_path, text, name)
        with pytest.raises(InputError):
            list(read_samples(path))
        gc.collect()
    assert capsys.readouterr() == ("", "")


def test_rows_come_one_at_a_time() -> None:
    def endless() -> Iterator[tuple[int, str]]:
        yield 1, "qid\n"
        for number in range(2, 10**9):
            yield number, f"{number}\n"

    rows = csv_rows(endless(), PATH)
    assert [next(rows).fields for _ in range(2)] == [{"qid": "2"}, {"qid": "3"}]


SAMPLES = [Sample(qid=qid) for qid in ("a", "中", "c")]


async def test_a_list_and_what_waits_give_the_same() -> None:
    async def waiting() -> AsyncIterator[Sample]:
        for sample in SAMPLES:
            yield sample

    assert [sample async for sample in each(SAMPLES)] == SAMPLES
    assert [sample async for sample in each(waiting())] == SAMPLES


async def test_no_more_is_read_than_is_asked_for() -> None:
    source = iter(SAMPLES)
    stream = each(source)
    assert await anext(stream) == SAMPLES[0]
    assert next(source) == SAMPLES[1]
    await stream.aclose()


def test_a_source_raises_at_a_bad_line_or_tells_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, '{"qid":"a","answer":"x"}\n{"answer":\n{"qid":"c"}\n')
    strict = Source(str(path), ("answer",), skip_bad_lines=False)
    with pytest.raises(InputError, match=r"samples\.jsonl, line 2"), strict.samples() as samples:
        list(samples)
    # What is done with the samples is placed as well.
    with pytest.raises(InputError, match=r"samples\.jsonl: holds no query"), strict.samples():
        raise InputError("holds no query")
    lenient = Source(str(path), ("answer",), skip_bad_lines=True)
    for _ in range(2):
        with lenient.samples() as samples:
            assert [sample.qid for sample in samples] == ["a"]
    assert lenient.rejected == 2
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 2
    assert told[0].startswith(f"judge: left out: {path}, line 2: bad JSON")
    assert "line 3, field 'answer': is missing" in told[1]
    piped = io.BytesIO(b'{"qid":"\x1b[31m\n{"qid":"b"}\n')
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(piped))
    source = Source("-", (), skip_bad_lines=True)
    with source.samples() as samples:
        assert [sample.qid for sample in samples] == ["b"]
    assert source.name == "standard input"
    line = capsys.readouterr().err
    assert line.startswith("judge: left out: standard input, line 1: bad JSON")
    assert "\x1b" not in line
