from pathlib import Path

import pytest

from judge.errors import RunError
from judge.review.folder import (
    check_output,
    write_whole,
)


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
    assert path.read_text() == "mine"


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"golden\.jsonl: cannot be written .*; name another -o"):
        write_whole(tmp_path / "file" / "golden.jsonl", ["a\n"])
    (tmp_path / "folder").mkdir()
    with pytest.raises(RunError, match=r"folder: is no file .*; name another -o"):
        write_whole(tmp_path / "folder", ["a\n"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]
