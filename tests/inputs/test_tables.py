import csv
import io
import os
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.errors import InputError, RunError
from judge.inputs.rows import csv_rows
from judge.inputs.tables import (
    Value,
    check_output,
    csv_row,
    legible,
    neutralise,
    replacing,
    restore,
    row_file,
)

# Every code point, lone surrogates too, and often what starts a formula.
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))
TRICKY = st.text(st.sampled_from("' =+-@＝＋－＠\t\r\na中;,\"\u200c"))
SIGNS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")

# A text, and its cell.
CELLS = {
    "+86 10": "'+86 10",
    "@SUM(A1)": "'@SUM(A1)",
    "\tx": "'\tx",
    "\u3000＝1": "'\u3000＝1",
    "＋5": "'＋5",
    "'=1": "''=1",
    "'\tx": "''\tx",
    **{text: text for text in ("1=1", "'tis", "—dash", "a, =1")},
}


def rows(data: bytes) -> list[tuple[int, list[str]]]:
    return list(csv_rows(data))


def test_what_could_be_a_formula_is_none_and_comes_back() -> None:
    assert {text: neutralise(text) for text in CELLS} == CELLS
    assert {restore(cell): cell for cell in CELLS.values()} == CELLS
    assert restore("=1+1") == "=1+1"  # a spreadsheet has swallowed the apostrophe


@given(ANY_TEXT | TRICKY)
def test_every_text_comes_back_and_begins_no_formula(text: str) -> None:
    cell = neutralise(text)
    assert restore(cell) == text
    assert not cell.startswith(("\t", "\r", "\n"))
    assert not cell.strip().startswith(SIGNS)


def test_what_a_file_cannot_hold_is_shown() -> None:
    table = {
        "a\r\nb\rc\nd": "a\nb\nc\nd",
        "\x00\x07\x1b[31m\x7f": "␀␇␛[31m␡",
        "tab\tstays": "tab\tstays",
        "half \ud83d": "half \ufffd",
        "\ufffe\uffff\x85": "\ufffd\ufffd\ufffd",
        "no \u202eesrever": "no \ufffdesrever",
        "中文，👩‍👩‍👧 é": "中文，👩‍👩‍👧 é",
    }
    assert {text: legible(text) for text in table} == table


def test_what_spreadsheets_save_is_read() -> None:
    encodings = ("utf-8", "utf-8-sig", "gb18030")
    expected = [(1, ["编号", "人工判断"]), (2, ["1", "甲,乙;丙\t丁"]), (3, ["2", "部分"])]
    for encoding, delimiter, end in product(encodings, ",;\t", ("\n", "\r\n", "\r")):
        lines = ["编号|人工判断", '1|"甲,乙;丙\t丁"', "2|部分"]
        text = end.join(lines).replace("|", delimiter) + end
        assert rows(text.encode(encoding)) == expected, (encoding, delimiter, end)


def test_what_is_no_csv_is_refused_with_its_place() -> None:
    table = {
        b'review_id,b\n1,2\n3,"open\n4,5\n': "line 3: bad CSV",
        b"review_id,b\n1,2,3\n": "row 2: 3 cells under 2 columns",
        b"review_id,\xff\n": "neither UTF-8 nor GB18030",
    }
    for data, says in table.items():
        with pytest.raises(InputError, match=r"(row|line) \d: |is neither") as error:
            rows(data)
        assert says in str(error.value)
        assert "\n" not in str(error.value)


CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0"))


@given(st.lists(st.lists(CELL), max_size=4))
def test_what_is_written_is_read(table: list[list[str]]) -> None:
    head = ["review_id", "a", "b"]
    wide = [[*cells, "", "", ""][:3] for cells in table]
    text = "".join(map(csv_row, [head, *wide]))
    expected = [head, *(cells for cells in wide if any(map(str.strip, cells)))]
    assert [cells for _, cells in rows(text.encode())] == expected


ROWS: tuple[dict[str, Value], ...] = (
    {"qid": "=1+1", "query": "他说\t“好”\r\n再来", "rr": 1 / 3, "ranked": 7, "ap": None},
    {"qid": "-x", "query": "", "rr": -0.5, "ranked": 0, "ap": 1.0},
)


def written(path: Path) -> None:
    with row_file(str(path)) as write:
        assert write is not None
        for row in ROWS:
            write(row)


def test_csv_for_a_spreadsheet(tmp_path: Path) -> None:
    written(tmp_path / "rows.CSV")
    data = (tmp_path / "rows.CSV").read_bytes()
    assert data.startswith(b"\xef\xbb\xbf")
    assert data.count(b"\xef\xbb\xbf") == 1
    rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    assert rows[0] == ["qid", "query", "rr", "ranked", "ap"]
    assert rows[1][0] == "'=1+1"
    assert (float(rows[1][2]), rows[1][3:]) == (1 / 3, ["7", ""])
    # A number is no formula, though it begins with a sign.
    assert rows[2] == ["'-x", "", "-0.5", "0", "1.0"]
    with row_file(str(tmp_path / "none.csv")):
        pass
    assert (tmp_path / "none.csv").read_bytes() == b""


def put(path: Path, text: str) -> None:
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "a")
    put(tmp_path / "a", "一")
    (tmp_path / "a").chmod(0o600)
    for name, text in (("a", "二"), ("link", "三")):
        put(tmp_path / name, text)
        assert (tmp_path / "a").read_text(encoding="utf-8") == text
    assert {path.name for path in tmp_path.iterdir()} == {"a", "link"}
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600


def test_what_breaks_off_leaves_what_was_there(tmp_path: Path) -> None:
    put(tmp_path / "a", "old")
    with pytest.raises(UnicodeEncodeError):
        put(tmp_path / "a", "half \ud800")
    with pytest.raises(RunError, match=r"cannot be written .*; mend that"):
        put(tmp_path / ("x" * 300), "x")
    for place in (tmp_path, Path(os.devnull)):
        with pytest.raises(RunError, match="is no file that could be replaced; mend that"):
            put(place, "x")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text(encoding="utf-8") == "old"


def test_nothing_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    check_output(path, [tmp_path / "in.jsonl"], force=False)
    path.write_text("mine")
    with pytest.raises(RunError, match=r"golden\.jsonl: .*--force"):
        check_output(path, [], force=False)
    check_output(path, [], force=True)
    with pytest.raises(RunError, match="made from, or would lie in it; name another -o"):
        check_output(tmp_path / "x" / ".." / "golden.jsonl", [path], force=True)
    with pytest.raises(RunError, match="would lie in it"):
        check_output(tmp_path / "review" / "new" / "x.jsonl", [tmp_path / "review"], force=True)
    check_output(tmp_path / "review2.jsonl", [tmp_path / "review"], force=False)
    with pytest.raises(RunError, match="is no file that could be replaced"):
        check_output(tmp_path, [path], force=True)
    (tmp_path / "soft.jsonl").symlink_to(path)
    with (
        pytest.raises(RunError, match="is what this is made from"),
        row_file(str(path), "-", str(tmp_path / "soft.jsonl")),
    ):
        pass
    with pytest.raises(RunError, match="made from"):
        check_output(path, [tmp_path / "*.jsonl"], force=True)
    assert path.read_text() == "mine"
