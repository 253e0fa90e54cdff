"""A sheet through LibreOffice and back: what people and programs put in cells is still there.

LibreOffice takes a second or two for each conversion; nothing faster shows what a spreadsheet
does to a file.
"""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest

from judge.errors import InputError
from judge.messages import LANGS, Lang, use_language
from judge.records import Support
from judge.review.sheet import READ, choices, read_label, read_sheet, write_sheet

COLUMNS = ["review_id", "sentence", "chunks", "human_support", "human_note", "reviewer"]
CSV = "Text - txt - csv (StarCalc)"
# Field and text delimiter, encoding (76 is UTF-8, 65535 UTF-16, 85 GB18030), first line; then:
# no cell quoted for its own sake, numbers as they are shown, formulas as values.
IN = CSV + ":{},34,76,1,,0,false"
COMMA = IN.format(44)
SAVED = {
    "UTF-8": f"csv:{CSV}:44,34,76,1,,0,false,true,false",
    "UTF-8, every cell quoted": f"csv:{CSV}:44,34,76,1,,0,true,true,false",
    "semicolons": f"csv:{CSV}:59,34,76,1,,0,false,true,false",
    "UTF-16, tabs": f"csv:{CSV}:9,34,65535,1,,0,false,true,false",
    "GB18030": f"csv:{CSV}:44,34,85,1,,0,false,true,false",
}
TEXTS = [
    "差旅报销，须在三十日内提交。“发票”另附；",
    "👩‍👩‍👧 🇨🇳 ✔️ 𠮷野家 é",
    'He said "no, thanks"; then left.',
    '"',
    "two\nlines\n\nand a fourth",
    "with\r\nWindows line ends",
    "=1+1",
    '=HYPERLINK("http://a.example";"click")',
    "+86 10 5555 0100",
    "-3 °C",
    "@SUM(A1:A9)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "  =1+1",
    "＝1+1",
    "'=1+1",
    "''quoted'' at the start",
    "'tis",
    "a;b,c\td|e",
    "see;=1+1;end",
    "plain; text; three",
    'a" ; "=1+1"; "b',
    ';"=1+1',
    "list:\n- one\n=1+1\n\n  @SUM(A1:A9)",
    "tab\t=1+1\tx",
    "at the end;",
    " space before and behind ",
    "#N/A",
    "_x0041_ _x000D_",
    "bell \x07 and escape \x1b[31m",
    "字" * 29_000,
    "👍" * 16_000,
]
# A cell holds line feeds, and control characters as their pictures.
SEEN = {
    "with\r\nWindows line ends": "with\nWindows line ends",
    "\r=1+1": "\n=1+1",
    "bell \x07 and escape \x1b[31m": "bell ␇ and escape ␛[31m",
}
# What LibreOffice makes a number, a date or a truth value of when it opens CSV.
RETYPED = ["007", "1e5", "2021-05-03", "1/2", "50%", "true", "12345678901234567890"]

pytestmark = pytest.mark.alone  # a run of CI once, with LibreOffice

Convert = Callable[[Path, str, str], Path]


@pytest.fixture
def convert(tmp_path: Path) -> Convert:
    """Converts a file to a format of LibreOffice's: path, how to read it, what to make."""
    office = shutil.which("soffice")
    if office is None:
        pytest.skip("LibreOffice (soffice) is not installed: apt-get install libreoffice-calc")
    made = iter(range(100))

    def run(source: Path, reading: str, target: str) -> Path:
        folder = tmp_path / f"made{next(made)}"
        command = [office, f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}", "--headless"]
        if reading:
            command.append(f"--infilter={reading}")
        command += ["--convert-to", target, "--outdir", str(folder), str(source)]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        (result,) = folder.iterdir()
        return result

    return run


def sheet_of(texts: list[str], path: Path, lang: Lang) -> list[dict[str, str]]:
    """Write a sheet of the texts and return the rows that should come back."""
    with use_language(lang):
        offered = choices()
    words = [*offered, "是", "否", "yes", "no", "1", "0", "TRUE", "FALSE", "✓", "✗"]
    rows = [
        {
            # Ids that would be a power of ten, a date, a number, were it not for the letter.
            "review_id": ("r_1e{}", "r_2021-05-{}", "r_00{}")[i % 3].format(i),
            "sentence": text,
            "chunks": text,
            "human_support": words[i % len(words)],
            "human_note": text,
            "reviewer": "王芳",
        }
        for i, text in enumerate(texts)
    ]
    with use_language(lang):
        write_sheet(path, rows, COLUMNS)
    return [{c: SEEN.get(text, text) for c, text in row.items() if c in READ} for row in rows]


def assert_same(found: list[dict[str, str]], written: list[dict[str, str]]) -> None:
    """Equal, labels by what they mean: `TRUE` may come back as `true`."""
    meanings = [read_label(row.pop("human_support")) for row in found]
    assert meanings == [read_label(row.pop("human_support")) for row in written]
    for row, original in zip(found, written, strict=True):
        assert row == original


# LibreOffice is asked for commas alone, and then for the defaults of its dialog.
@pytest.mark.parametrize("delimiters", ["44", "44/59/9"])
@pytest.mark.parametrize("lang", LANGS)
def test_csv_to_xlsx_to_csv(tmp_path: Path, convert: Convert, lang: Lang, delimiters: str) -> None:
    written = sheet_of(TEXTS, tmp_path / "review.csv", lang)
    workbook = convert(tmp_path / "review.csv", IN.format(delimiters), "xlsx")
    for saved in SAVED.values() if (lang, delimiters) == ("zh", "44") else [SAVED["UTF-8"]]:
        found = [row.cells for row in read_sheet(convert(workbook, "", saved))]
        assert_same(found, [dict(row) for row in written])


@pytest.mark.parametrize("delimiters", ["44", "44/59/9", "59", "9", "59/9"])
def test_no_cell_is_a_formula_wherever_columns_are_parted(
    tmp_path: Path, convert: Convert, delimiters: str
) -> None:
    sheet_of(TEXTS, tmp_path / "review.csv", "en")
    workbook = convert(tmp_path / "review.csv", IN.format(delimiters), "xlsx")
    cells = [cell for row in openpyxl.load_workbook(workbook).active.iter_rows() for cell in row]
    assert len(cells) > len(TEXTS)
    assert "f" not in {cell.data_type for cell in cells}
    # Excel starts a formula with any of the signs, LibreOffice with the first one only.
    values = [str(cell.value).strip() for cell in cells if cell.data_type == "s"]
    assert not [value for value in values if value.startswith(("=", "+", "-", "@"))]


def test_what_libreoffice_retypes_is_neither_id_nor_label(tmp_path: Path, convert: Convert) -> None:
    written = sheet_of(RETYPED * 3, tmp_path / "review.csv", "en")
    workbook = convert(tmp_path / "review.csv", COMMA, "xlsx")
    found = [row.cells for row in read_sheet(workbook)]
    assert [row["sentence"] for row in found] != [row["sentence"] for row in written]
    for row, original in zip(found, written, strict=True):
        assert row["review_id"] == original["review_id"]
        assert read_label(row["human_support"]) == read_label(original["human_support"])
    assert {r and r.support for r in map(read_label, (row["human_support"] for row in found))} == {
        *Support,
        None,
    }


@pytest.mark.parametrize("kind", ["ods", "xls"])
def test_other_formats_are_refused_by_name(tmp_path: Path, convert: Convert, kind: str) -> None:
    sheet_of(TEXTS[:1], tmp_path / "review.csv", "en")
    other = convert(tmp_path / "review.csv", COMMA, kind)
    with pytest.raises(InputError, match="as XLSX or CSV"):
        list(read_sheet(other))
