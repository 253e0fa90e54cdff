from pathlib import Path

import pytest

from judge.cli.app import main
from judge.cli.options import PANELS
from judge.config import Config
from tests.commands import judge


def test_each_setting_is_an_option_in_one_panel_with_its_help() -> None:
    assert sorted(name for names in PANELS.values() for name in names) == sorted(
        Config.model_fields
    )
    shown = judge("score", "--help").out
    assert [panel for panel in PANELS if f"─ {panel} ─" not in shown] == []
    options = [f"--{name.replace('_', '-')}" for name in Config.model_fields]
    assert [option for option in options if f"{option} " not in shown] == []
    assert [name for name, field in Config.model_fields.items() if not field.description] == []


def test_debug_shows_where_an_error_arose(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = str(tmp_path / "missing.jsonl")
    with pytest.raises(SystemExit, match="2"):
        main(["score", missing, "-o", str(tmp_path / "run")])
    assert "Traceback" not in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["score", missing, "-o", str(tmp_path / "run"), "--debug"])
    error = capsys.readouterr().err
    assert "Traceback" in error
    assert f"judge: {missing}: " in error
