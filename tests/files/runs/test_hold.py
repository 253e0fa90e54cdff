from pathlib import Path

import pytest

from judge.errors import RunError
from judge.files.runs.folder import RunFolder
from judge.files.runs.hold import hold


def test_one_at_a_time(tmp_path: Path) -> None:
    with hold(tmp_path):
        with pytest.raises(RunError, match="another command is writing here"), hold(tmp_path):
            pass
        with pytest.raises(RunError, match="another run is writing here"), RunFolder(tmp_path):
            pass
    with hold(tmp_path):
        pass


def test_a_run_that_is_being_made_is_held(tmp_path: Path) -> None:
    with (
        RunFolder(tmp_path / "run"),
        pytest.raises(RunError, match="another command"),
        hold(tmp_path / "run"),
    ):
        pass


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be written"), hold(tmp_path / "file"):
        pass
