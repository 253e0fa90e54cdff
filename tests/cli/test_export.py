import csv
import io
import json
import shutil
from pathlib import Path

import pytest

from judge import Run, to_rows
from judge.inputs.runs import RESULTS
from tests.commands import judge, line, refused, write

FILES = ["x.csv", "x.jsonl", "x.parquet"]
HOSTILE = "=HYPERLINK(1) was paid; =1+1 was owed."


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export")
    rows = [
        line("一", "退款需要七天[1]。\n谢谢！", ["退款需要七天。"]) | {"team": "a"},
        line("=2", HOSTILE, ["\x1b[2J"]),
        line("3", "", []),
    ]
    source = write(folder / "in.jsonl", rows)
    assert judge("score", source, "-o", folder / "run").code == 0
    return folder / "run"


def test_every_form_holds_the_same_rows(run: Path, tmp_path: Path) -> None:
    for level in ("sentences", "answers"):
        rows = to_rows(Run.open(run), level)
        path = tmp_path / level
        for name in ("x.jsonl", "x.csv"):
            option = "--csv" if name.endswith("csv") else "--json"
            done = judge("export", run, option, path / name, "--level", level)
            assert (done.code, done.err) == (0, "")
        pytest.importorskip("pyarrow")
        from pyarrow.parquet import read_table  # noqa: PLC0415  an extra

        done = judge("export", run, "--parquet", path / "x.parquet", "--level", level)
        assert (done.code, done.err) == (0, "")
        table = read_table(path / "x.parquet")
        assert table.to_pylist() == rows
        assert "null" not in {str(field.type) for field in table.schema}
        lines = (path / "x.jsonl").read_text("utf-8").splitlines()
        assert [json.loads(each) for each in lines] == rows
        cells = list(csv.DictReader(io.StringIO((path / "x.csv").read_text("utf-8-sig"))))
        assert list(cells[0]) == list(rows[0])
        shown = ["" if row["faithfulness"] is None else repr(row["faithfulness"]) for row in rows]
        assert [each["faithfulness"] for each in cells] == shown
        assert [each["qid"].removeprefix("'") for each in cells] == [row["qid"] for row in rows]
        assert sorted(each.name for each in path.iterdir()) == sorted(FILES)


def test_no_cell_is_a_formula_and_no_terminal_is_steered(run: Path) -> None:
    out = judge("export", run, "--csv", "-").out
    cells = [cell for row in csv.reader(io.StringIO(out)) for cell in row]
    assert f"'{HOSTILE}" in cells
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
    assert not out.startswith("\ufeff")
    lines = judge("export", run, "--json", "-").out
    assert "\x1b" not in out + lines
    assert list(map(json.loads, lines.splitlines())) == to_rows(Run.open(run))


def test_what_cannot_be_exported_is_one_line_and_leaves_nothing(run: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    kept = tmp_path / "kept.csv"
    kept.write_text("kept", encoding="utf-8")
    wrong: list[list[object]] = [
        [run],
        [run, "--csv", kept, "--json", kept],
        [run, "--parquet", "-"],
        [run, "--csv", kept, "--level", "words"],
        [run, "--csv", run / RESULTS],
        [run, "--csv", tmp_path / "taken"],
        [tmp_path, "--csv", kept],
    ]
    for words in wrong:
        refused(judge("export", *words))
    # Damaged at its end: what stood there stays.
    damaged = shutil.copytree(run, tmp_path / "run")
    data = (damaged / RESULTS).read_bytes()
    (damaged / RESULTS).write_bytes(data[:-9])
    code, _, err = judge("export", damaged, "--csv", kept)
    assert (code, err.count("\n")) == (2, 1), err
    assert kept.read_text("utf-8") == "kept"
    assert not list(tmp_path.glob("*.part"))
