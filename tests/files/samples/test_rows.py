import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.errors import InputError
from judge.files.samples.rows import Row, csv_rows, jsonl_rows

PATH = Path("samples.txt")


def numbered(text: str) -> Iterator[tuple[int, str]]:
    return iter(list(enumerate(text.splitlines(keepends=True), 1)))


def from_csv(text: str) -> list[Row]:
    lines = iter(list(enumerate((line + "\n" for line in text.split("\n")), 1)))
    return list(csv_rows(lines, PATH))


def problem(row: Row) -> str:
    assert isinstance(row.fields, InputError)
    assert "\n" not in str(row.fields)
    return str(row.fields)


def test_a_json_object_a_line_and_blank_lines_between() -> None:
    rows = list(jsonl_rows(numbered('{"a": 1}\n\n  \n{"b": "十"}'), PATH))
    assert [(row.line, row.fields) for row in rows] == [(1, {"a": 1}), (4, {"b": "十"})]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"answer": "a" "b"}', "Expecting ',' delimiter at column 16: '{\"answer\""),
        ('{"answer": "cut', "Unterminated string starting at column 12: "),
        ("[1, 2]", "holds '[1, 2]'; each line is one JSON object, {…}. Of a JSON array, jq"),
        ("null", "holds 'null'"),
        ('"text"', "holds '\"text\"'"),
        ("qid,answer", "Expecting value at column 1"),
        ('{"answer": "a\tb"}', "Invalid control character"),
        ('{"a": 1} {"a": 2}', "Extra data at column 10"),
        ("[" * 100_000, "recursion"),
        ('{"a":' * 100_000, "recursion"),
        ('{"n": ' + "9" * 5000 + "}", "4300 digits"),
    ],
)
def test_a_bad_line_is_named_and_the_next_is_read(line: str, says: str) -> None:
    rows = list(jsonl_rows(numbered(f'{{"a": 1}}\n{{"a": 2}}\n{line}\n{{"a": 4}}'), PATH))
    assert [row.line for row in rows] == [1, 2, 3, 4]
    assert problem(rows[2]).startswith("samples.txt, line 3: ")
    assert says in problem(rows[2])
    assert len(problem(rows[2])) < 300
    assert rows[2].text == line + "\n"
    assert rows[3].fields == {"a": 4}


@pytest.mark.parametrize(
    ("text", "step"), [("[\n{}\n]", "jq -c '.[]'"), ('{\n"a": 1\n}', "jq -c .")]
)
def test_a_json_document_over_many_lines_is_told_how_to_become_lines(text: str, step: str) -> None:
    first = next(jsonl_rows(numbered(text), PATH))
    assert step in problem(first)


def test_csv_with_line_breaks_quotes_and_delimiters_in_cells() -> None:
    rows = from_csv('qid,answer,note\nq1,"two\nlines, ""quoted""",x;y\n\nq2,one,')
    assert [(row.line, row.fields) for row in rows] == [
        (2, {"qid": "q1", "answer": 'two\nlines, "quoted"', "note": "x;y"}),
        (5, {"qid": "q2", "answer": "one"}),
    ]
    assert rows[0].text == 'q1,"two\nlines, ""quoted""",x;y\n'


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_header_tells_the_delimiter(delimiter: str) -> None:
    text = delimiter.join(["qid", " answer ", "team"]) + "\n" + delimiter.join(["1", "a", "网络"])
    assert [row.fields for row in from_csv(text)] == [{"qid": "1", "answer": "a", "team": "网络"}]


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


def test_an_empty_cell_is_an_absent_field_but_an_empty_answer_is_an_answer() -> None:
    assert from_csv("qid,answer,query\nq,,")[0].fields == {"qid": "q", "answer": ""}


def test_a_bad_csv_record_is_named_and_the_next_is_read() -> None:
    rows = from_csv('qid,answer\nq1,a\nq2,"x"y\nq3,c\nq4,d,e\nq5,f')
    assert "line 3: bad CSV" in problem(rows[1])
    assert "line 5: 3 cells under 2 columns" in problem(rows[3])
    assert [row.fields for row in rows[::2]] == [
        {"qid": f"q{i}", "answer": text} for i, text in ((1, "a"), (3, "c"), (5, "f"))
    ]


def test_an_open_quotation_mark_is_named_by_the_line_it_opens_on() -> None:
    rows = from_csv('qid,answer\nq1,a\nq2,"never closed\nq3,c')
    assert "line 3: bad CSV" in problem(rows[1])
    assert "close the quotation mark" in problem(rows[1])
    assert len(rows) == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("qid,answer,qid\n1,a,2", "'qid' stands twice"),
        ("qid,answer\r1,a\r2,b", "carriage return"),
        ('"qid,answer\n1,a', "close the quotation mark"),
    ],
)
def test_a_bad_header_is_an_error_on_line_one(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        from_csv(text)
    assert caught.value.line == 1


def test_a_header_cell_may_hold_a_line_break() -> None:
    rows = from_csv('qid,"answer\n(final)",answer\n1,x,a')
    assert [(row.line, row.fields) for row in rows] == [
        (3, {"qid": "1", "answer\n(final)": "x", "answer": "a"})
    ]


def test_a_cell_that_should_be_json_and_is_not_names_the_field() -> None:
    (row,) = from_csv("answer,chunks\na,just text")
    assert "field 'chunks': not JSON" in problem(row)
    assert "'just text'; write the cell with json.dumps" in problem(row)


def test_a_cell_of_a_megabyte_is_read() -> None:
    (row,) = from_csv("answer\n" + "长" * 1_000_000)
    assert row.fields == {"answer": "长" * 1_000_000}


def test_rows_come_one_at_a_time() -> None:
    def endless() -> Iterator[tuple[int, str]]:
        yield 1, "qid\n"
        for number in range(2, 10**9):
            yield number, f"{number}\n"

    rows = csv_rows(endless(), PATH)
    assert [next(rows).fields for _ in range(2)] == [{"qid": "2"}, {"qid": "3"}]
