import subprocess
import sys
from pathlib import Path

import pytest

from judge.errors import RunError
from judge.inputs.tables import check_output, write_whole

FIXTURE = Path(__file__).resolve().parents[2] / "fixtures" / "cells.jsonl"


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
    with pytest.raises(RunError, match="made from"):
        check_output(path, [tmp_path / "*.jsonl"], force=True)
    assert path.read_text() == "mine"


def test_the_file_on_standard_input_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_bytes(FIXTURE.read_bytes())
    words = [sys.executable, "-m", "judge", "perturb", "-", "-o", str(path), "--force"]
    with path.open() as piped:
        ran = subprocess.run(words, stdin=piped, capture_output=True, text=True, check=False)
    assert ran.returncode == 2, ran.stderr
    assert path.read_bytes() == FIXTURE.read_bytes()


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"golden\.jsonl: cannot be written .*; name another -o"):
        write_whole(tmp_path / "file" / "golden.jsonl", ["a\n"])
    (tmp_path / "folder").mkdir()
    with pytest.raises(RunError, match=r"folder: is no file .*; name another -o"):
        write_whole(tmp_path / "folder", ["a\n"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]
