import os
from pathlib import Path

import pytest

from judge.errors import RunError
from judge.files.runs.whole import replacing


def write(path: Path, text: str) -> None:
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")


def test_the_file_is_there_and_nothing_beside_it(tmp_path: Path) -> None:
    write(tmp_path / "a", "一")
    write(tmp_path / "a", "二")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text(encoding="utf-8") == "二"


def test_what_fails_halfway_leaves_what_was_there(tmp_path: Path) -> None:
    write(tmp_path / "a", "old")
    with pytest.raises(UnicodeEncodeError), replacing(tmp_path / "a") as part:
        part.write_text("half \ud800", encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text(encoding="utf-8") == "old"


def test_who_may_read_it_stays(tmp_path: Path) -> None:
    write(tmp_path / "a", "old")
    (tmp_path / "a").chmod(0o600)
    write(tmp_path / "a", "new")
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600


def test_a_link_stays_one(tmp_path: Path) -> None:
    write(tmp_path / "a", "old")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    write(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a").read_text(encoding="utf-8") == "new"


@pytest.mark.parametrize("place", ["folder", os.devnull])
def test_no_folder_and_no_device_is_replaced(tmp_path: Path, place: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(RunError, match="is no file that could be replaced; mend that"):
        write(tmp_path / place, "x")


def test_a_name_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="cannot be written"):
        write(tmp_path / ("x" * 300), "x")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"cannot be written \(No such file or directory\)"):
        write(tmp_path / "none" / "a", "x")
