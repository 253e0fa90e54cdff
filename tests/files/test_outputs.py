import csv
import io
import json
import math
import sys
from pathlib import Path

import pytest

from judge.errors import ConfigError, RunError
from judge.files.outputs import Value, page_file, row_file

ROWS: tuple[dict[str, Value], ...] = (
    {"qid": "=1+1", "query": "他说\t“好”\r\n再来; =2", "rr": 1 / 3, "ranked": 7, "ap": None},
    {"qid": "-x", "query": "", "rr": -0.5, "ranked": 0, "ap": 1.0},
)


def written(path: Path) -> None:
    with row_file(str(path)) as write:
        assert write is not None
        for row in ROWS:
            write(row)


def test_json_lines(tmp_path: Path) -> None:
    written(tmp_path / "rows.jsonl")
    text = (tmp_path / "rows.jsonl").read_text("utf-8")
    assert [json.loads(line) for line in text.splitlines()] == list(ROWS)
    assert "他说" in text


def test_csv_for_a_spreadsheet(tmp_path: Path) -> None:
    written(tmp_path / "rows.CSV")
    data = (tmp_path / "rows.CSV").read_bytes()
    assert data.startswith(b"\xef\xbb\xbf")
    assert data.count(b"\xef\xbb\xbf") == 1
    rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    assert rows[0] == ["qid", "query", "rr", "ranked", "ap"]
    assert rows[1][0] == "'=1+1"
    assert "; =2" not in rows[1][1]
    assert (float(rows[1][2]), rows[1][3:]) == (1 / 3, ["7", ""])
    # A number is no formula, though it begins with a sign.
    assert rows[2] == ["'-x", "", "-0.5", "0", "1.0"]


@pytest.mark.parametrize("name", ["rows", "rows.txt", "rows.csv.gz", ".csv", "", "rows.jsonl "])
def test_a_name_of_no_known_kind(tmp_path: Path, name: str) -> None:
    with (
        pytest.raises(ConfigError, match=r"ends in neither \.jsonl nor \.csv"),
        row_file(str(tmp_path / name) if name else ""),
    ):
        pass
    assert not list(tmp_path.iterdir())


def test_what_is_read_is_not_written_over(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text("x")
    for link in (tmp_path / "soft.jsonl", tmp_path / "hard.jsonl"):
        (link.symlink_to if link.stem == "soft" else link.hardlink_to)(source)
    for name in ("in.jsonl", "soft.jsonl", "hard.jsonl", f"../{tmp_path.name}/in.jsonl"):
        with (
            pytest.raises(ConfigError, match="is the file that is read"),
            row_file(str(tmp_path / name), "elsewhere", str(source)),
        ):
            pass
    assert source.read_text() == "x"


def test_what_is_read_through_a_redirection_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = tmp_path / "samples.jsonl"
    samples.write_text("{}\n")
    with samples.open() as redirected:
        monkeypatch.setattr(sys, "stdin", redirected)
        with (
            pytest.raises(ConfigError, match="is the file that is read"),
            row_file(str(samples), "-"),
        ):
            pass
        with row_file(str(tmp_path / "other.jsonl"), "-") as write:
            assert write is not None
    assert samples.read_text() == "{}\n"


def test_sources_that_are_no_files_stand_in_nobodys_way(tmp_path: Path) -> None:
    out = tmp_path / "rows.csv"
    with row_file(str(out), "standard input", "-", "x" * 5000, "") as write:
        assert write is not None
    assert out.exists()


def test_what_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    names = (tmp_path / "no" / "r.csv", tmp_path / "folder.csv", tmp_path / ("x" * 5000 + ".csv"))
    for name in names:
        with pytest.raises(RunError) as caught, row_file(str(name)):
            pass
        assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["folder.csv"]


def breaking_off(out: Path) -> None:
    with row_file(str(out)) as write:
        assert write is not None
        write(ROWS[0])
        raise ZeroDivisionError


@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl"])
def test_what_breaks_off_leaves_what_was_there(tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    out.write_text("before")
    with pytest.raises(ZeroDivisionError):
        breaking_off(out)
    assert out.read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 1


def test_no_rows_are_an_empty_file(tmp_path: Path) -> None:
    with row_file(str(tmp_path / "rows.csv")):
        pass
    assert (tmp_path / "rows.csv").read_bytes() == b""


def test_large_numbers_come_back_the_same(tmp_path: Path) -> None:
    out = tmp_path / "rows.csv"
    values = [1e100, 5e-324, 0.1, 2**60, math.pi]
    with row_file(str(out)) as write:
        assert write is not None
        for value in values:
            write({"value": value})
    rows = list(csv.DictReader(io.StringIO(out.read_text("utf-8-sig"))))
    assert [float(row["value"]) for row in rows] == values


def test_a_page_is_written_whole(tmp_path: Path) -> None:
    with page_file(str(tmp_path / "a.md"), "in.jsonl") as write:
        assert write is not None
        write("一\n二\n")
    assert (tmp_path / "a.md").read_bytes() == "一\n二\n".encode()
    with page_file(None) as write:
        assert write is None


@pytest.mark.parametrize("name", ["", "same"])
def test_a_page_of_no_name_or_over_its_source_is_refused(tmp_path: Path, name: str) -> None:
    source = tmp_path / "same"
    source.touch()
    with pytest.raises(ConfigError), page_file(name and str(source), str(source)):
        pass
