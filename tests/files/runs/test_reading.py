from pathlib import Path

import pytest

from judge.errors import RunError
from judge.files.runs import read_record, read_results, read_summary


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no such run folder; judge score FILE -o"):
        read_record(tmp_path / "nowhere")
    with pytest.raises(RunError, match="no such run folder"):
        list(read_results(tmp_path / "nowhere"))


def test_a_folder_without_a_run(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="holds no run"):
        read_summary(tmp_path)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"schema": 1}')
    with pytest.raises(RunError, match=r"run\.json: damaged.*score again with --force"):
        read_record(tmp_path)
    (tmp_path / "results.jsonl").write_text("nonsense\n")
    with pytest.raises(RunError, match="line 1"):
        list(read_results(tmp_path))


def test_a_file_where_a_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(RunError, match="is a file, not a run folder"):
        read_record(tmp_path / "run")
