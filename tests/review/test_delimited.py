from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.errors import InputError
from judge.review.delimited import csv_row, csv_rows

PATH = Path("review.csv")


def rows(data: bytes) -> list[tuple[int, list[str]]]:
    return list(csv_rows(data, PATH))


def test_every_cell_is_quoted() -> None:
    assert csv_row(["a", "b;c", 'say "hi"', "two\nlines", "", "中文"]) == (
        '"a","b;c","say ""hi""","two\nlines","","中文"\r\n'
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
@pytest.mark.parametrize(
    "said", ["sep=|\r\n", '"sep=|"\n', "SEP=|\r", "sep=;\r\n", "sep=\t\n", "sep=,\n"]
)
def test_a_first_line_may_name_the_delimiter(encoding: str, said: str) -> None:
    delimiter = said.strip('"\r\n')[-1]
    text = said + "编号|备注\n1|甲:乙\n".replace("|", delimiter)
    # Excel does not show that line, nor count it.
    assert rows(text.encode(encoding)) == [(1, ["编号", "备注"]), (2, ["1", "甲:乙"])]


@pytest.mark.parametrize("line", ["sep=", "sep=a", "sep= ", "sep=;;", " sep=;"])
def test_a_first_line_that_names_none_is_a_row(line: str) -> None:
    assert rows(f"{line}\nreview_id\n".encode()) == [(1, [line]), (2, ["review_id"])]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_what_spreadsheets_save(encoding: str, delimiter: str, end: str) -> None:
    lines = ["编号|人工判断", '1|"甲,乙;丙\t丁"', "2|部分"]
    text = end.join(lines).replace("|", delimiter) + end
    assert rows(text.encode(encoding)) == [
        (1, ["编号", "人工判断"]),
        (2, ["1", "甲,乙;丙\t丁"]),
        (3, ["2", "部分"]),
    ]


def test_the_delimiter_is_that_of_our_headers() -> None:
    found = rows(b"a,b,c,d;review_id;human_support\n1,5;x;yes\n")
    assert found[1] == (2, ["1,5", "x", "yes"])


def test_rows_are_numbered_as_a_spreadsheet_does() -> None:
    text = '\nreview_id,note\n1,"two\nlines\nthree"\n\n , \n2,\n'
    assert [number for number, _ in rows(text.encode())] == [2, 3, 6]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'review_id,b\n1,2\n3,"open\n4,5\n', "row 3: bad CSV"),
        (b"review_id,b\n1,2,3\n", "row 2: 3 cells under 2 columns"),
        (b"review_id,b\n1,\x00\n", "line 2 holds a NUL byte"),
        ("review_id".encode("utf-16-le"), "NUL"),
        (b"review_id,\xff\n", "neither UTF-8, UTF-16 nor GB18030"),
        (b"\xff\xfea", "neither"),
    ],
)
def test_what_is_no_csv_is_refused_with_its_place(data: bytes, says: str) -> None:
    with pytest.raises(InputError, match=r"review\.csv") as error:
        rows(data)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_a_long_cell_is_read() -> None:
    assert rows(b"review_id\n" + b"a" * 10_000_000)[1] == (2, ["a" * 10_000_000])


@given(st.binary() | st.text().map(str.encode))
def test_any_bytes_are_rows_or_refused(data: bytes) -> None:
    try:
        found = rows(data)
    except InputError as error:
        assert "\n" not in str(error)  # noqa: PT017  refusing is one of two right answers
    else:
        assert all(any(map(str.strip, cells)) for _, cells in found)


CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0"))


@given(st.lists(st.lists(CELL), max_size=4))
def test_what_is_written_is_read(table: list[list[str]]) -> None:
    head = ["review_id", "a", "b"]
    wide = [[*cells, "", "", ""][:3] for cells in table]
    text = "".join(map(csv_row, [head, *wide]))
    expected = [head, *(cells for cells in wide if any(map(str.strip, cells)))]
    assert [cells for _, cells in rows(text.encode())] == expected
