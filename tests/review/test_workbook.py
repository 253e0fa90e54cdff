import datetime as dt
import io
import sys
import tracemalloc
import zipfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import openpyxl
import pytest

from judge.errors import ConfigError, InputError
from judge.review.workbook import workbook_rows, write_workbook

COLUMNS = ["review_id", "sentence", "human_support"]
WORDS = ("full", "部分支持")
NAME = "review_id (编号)"


def saved(path: Path, *sheets: list[list[object]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for rows in sheets:
        sheet = book.create_sheet()
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def zipped(path: Path, parts: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


def read(data: bytes) -> Iterator[tuple[int, list[str]]]:
    return workbook_rows(data, NAME, {"review_id", "编号"}.__contains__)


def trimmed(path: Path) -> list[tuple[int, list[str]]]:
    """Without the empty cells to the right."""
    found = []
    for number, cells in read(path.read_bytes()):
        while not cells[-1]:
            cells.pop()
        found.append((number, cells))
    return found


def test_a_workbook_is_read_as_it_was_written(tmp_path: Path) -> None:
    rows = [
        COLUMNS,
        ["r_1", "'=1+1", ""],
        ["r_2", "_x0041_ _x000D_ _x_x0009_", "部分"],
        ["r_3", " a\nb\t👩‍👩‍👧 ", "#N/A"],
    ]
    write_workbook(tmp_path / "a.xlsx", rows, COLUMNS, {"human_support": WORDS})
    found = trimmed(tmp_path / "a.xlsx")
    assert found == [(1, COLUMNS), (2, ["r_1", "'=1+1"]), (3, rows[2]), (4, rows[3])]


def test_every_cell_is_text_the_header_stays_in_sight_and_a_drop_down_offers_the_words(
    tmp_path: Path,
) -> None:
    rows = [COLUMNS, ["r_1", "#N/A", "007"], ["r_2", "b", ""]]
    write_workbook(tmp_path / "a.xlsx", rows, COLUMNS, {"human_support": WORDS})
    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx").active
    cells = [cell for row in sheet.iter_rows() for cell in row]
    assert {cell.data_type for cell in cells if cell.value} == {"s"}
    assert {cell.number_format for cell in cells} == {"@"}
    assert all(cell.alignment.wrap_text for cell in cells)
    assert all(cell.font.bold for cell in sheet[1])
    assert sheet.freeze_panes == "A2"
    (offer,) = sheet.data_validations.dataValidation
    assert (offer.formula1, str(offer.sqref)) == ('"full,部分支持"', "C2:C3")
    assert not offer.showErrorMessage


def test_values_come_as_text(tmp_path: Path) -> None:
    day = dt.datetime(2021, 5, 3)  # noqa: DTZ001  a cell has no time zone
    table: dict[str, object] = {
        "7": 7,
        "1": 1.0,
        "0.5": 0.5,
        "true": True,
        "false": False,
        "": None,
        "2021-05-03": day,
        "2021-05-03 12:00:00": day.replace(hour=12),
        # As Excel writes a control character.
        "a\r\nb_x0041_ _x0041_": "a_x000D_\nb_x005F_x0041_ _x0041_",
        # A date that is none is no warning.
        "#VALUE!": 1e300,
    }
    book = openpyxl.Workbook()
    book.active.append(["review_id"])
    book.active.append(list(table.values()))
    book.active.cell(2, len(table)).number_format = "yyyy-mm-dd"
    book.save(tmp_path / "a.xlsx")
    assert trimmed(tmp_path / "a.xlsx")[1] == (2, list(table))


def test_the_sheet_with_review_ids_is_found_and_its_rows_keep_their_numbers(
    tmp_path: Path,
) -> None:
    other: list[list[object]] = [["notes"], ["review_id"]]
    ours: list[list[object]] = [[], ["", "编号"], [None, "r_1"], [], [" "], [None, "r_2"]]
    path = saved(tmp_path / "a.xlsx", [], other, ours)
    assert trimmed(path) == [(2, ["", "编号"]), (3, ["", "r_1"]), (6, ["", "r_2"])]


def test_review_ids_on_two_worksheets_are_refused(tmp_path: Path) -> None:
    ours: list[list[object]] = [["人工判断", "编号"], ["支持", "r_1"]]
    path = saved(tmp_path / "a.xlsx", ours, [["notes"]], ours)
    says = "review ids on 2 worksheets, such as 'Sheet' and 'Sheet2'; keep one, or save each"
    with pytest.raises(InputError, match=says):
        trimmed(path)


def test_one_row_is_held_at_a_time(tmp_path: Path) -> None:
    row: list[object] = ["a" * 30_000] * 20
    path = saved(tmp_path / "a.xlsx", [["review_id"], *[row] * 25])
    data = path.read_bytes()
    tracemalloc.start()
    try:
        count = sum(1 for _ in read(data))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 26
    assert peak < 6_000_000  # of 15 000 000


def test_a_damaged_workbook_is_refused_wherever_it_is_damaged(tmp_path: Path) -> None:
    data = saved(tmp_path / "a.xlsx", [["review_id"], ["r_1"]]).read_bytes()
    for cut in range(4, len(data), 397):
        with pytest.raises(InputError, match=r"cannot be read as XLSX \(\w+\); save it again"):
            list(read(data[:cut]))


def test_another_zip_is_refused(tmp_path: Path) -> None:
    table: list[tuple[dict[str, bytes], str]] = [
        ({str(i): b"" for i in range(10_001)}, "unpacks to more"),
        ({"mimetype": b"application/vnd.oasis.opendocument.spreadsheet"}, "OpenDocument"),
        ({"letter.txt": b"hello"}, "is a ZIP archive and no XLSX; unpack it"),
        ({"[Content_Types].xml": b"<Types"}, "cannot be read as XLSX"),
    ]
    for parts, says in table:
        with pytest.raises(InputError, match=says) as error:
            trimmed(zipped(tmp_path / "a.xlsx", parts))
        assert "\n" not in str(error.value)


def test_a_zip_of_more_than_it_seems_is_refused(tmp_path: Path) -> None:
    data = zipped(tmp_path / "a.xlsx", {"a": b"small"}).read_bytes()
    # 24 bytes into a file's entry in the directory stands its unpacked size.
    place = data.index(b"PK\x01\x02") + 24
    lying = data[:place] + (513 << 20).to_bytes(4, "little") + data[place + 4 :]
    with pytest.raises(InputError, match="unpacks to more than 512 MiB"):
        list(read(lying))


def with_sheet(path: Path, xml: bytes) -> Path:
    """A workbook whose only sheet is this XML."""
    whole = io.BytesIO(saved(path, [["review_id"]]).read_bytes())
    with zipfile.ZipFile(whole) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    return zipped(path, {**parts, "xl/worksheets/sheet1.xml": xml})


def test_a_sheet_that_lies_about_its_extent_is_read(tmp_path: Path) -> None:
    xml = (
        b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        b'<dimension ref="A1:A1"/><sheetData>'
        b'<row r="1"><c r="A1" t="inlineStr"><is><t>review_id</t></is></c></row>'
        b'<row r="700"><c r="A700"><v>7.0</v></c><c r="XFD700"><v>8</v></c></row>'
        b'<row r="9999999999"><c r="A9999999999"><v>9</v></c></row>'
        b"</sheetData></worksheet>"
    )
    path = with_sheet(tmp_path / "a.xlsx", xml)
    assert trimmed(path) == [(1, ["review_id"]), (700, ["7"])]


def test_more_rows_than_anybody_fills_in_are_refused_in_a_line(tmp_path: Path) -> None:
    """Rows of nothing between them count as none; the limit itself takes seconds to reach."""
    row: list[list[object]] = [["r_1"], [], []]
    rows: list[list[object]] = [["review_id"], *row * 99]
    data = saved(tmp_path / "a.xlsx", rows).read_bytes()
    assert len(list(workbook_rows(data, NAME, {"review_id"}.__contains__, most=100))) == 100
    with pytest.raises(InputError, match=r"^row 296: over 99 rows are filled in; split the sheet$"):
        list(workbook_rows(data, NAME, {"review_id"}.__contains__, most=99))


def test_entities_within_entities_are_refused(tmp_path: Path) -> None:
    names = "abcdefghijk"
    nested = "".join(f'<!ENTITY {name} "{f"&{below};" * 10}">' for below, name in pairwise(names))
    xml = f'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">{nested}]><worksheet>&k;</worksheet>'
    with pytest.raises(InputError, match="cannot be read as XLSX"):
        trimmed(with_sheet(tmp_path / "a.xlsx", xml.encode()))


def test_without_openpyxl_the_next_step_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ConfigError, match=r"use CSV, or run pip install '\.\[xlsx\]'"):
        write_workbook(tmp_path / "a.xlsx", [], COLUMNS, {"human_support": WORDS})
    with pytest.raises(ConfigError, match="openpyxl"):
        list(read(b""))
