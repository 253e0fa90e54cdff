from inspect import signature
from pathlib import Path
from typing import NamedTuple

import pytest

from judge.cli.app import main
from judge.cli.options import PANELS, takes_language, takes_options
from judge.config import Config
from judge.messages import LANGUAGE
from tests.commands import judge


class Shown(NamedTuple):
    lang: str = "en"
    worst: int = 5


def test_a_group_of_options_stands_where_it_is_taken() -> None:
    got: list[tuple[str, Shown, bool]] = []

    @takes_options
    def command(source: str, *, shown: Shown, force: bool = False) -> None:
        got.append((source, shown, force))

    command(source="a", lang="zh", worst=0, force=True)
    assert got == [("a", Shown("zh", 0), True)]
    assert list(signature(command).parameters) == ["source", "lang", "worst", "force"]


def test_each_setting_is_an_option_in_one_panel_with_its_help() -> None:
    assert sorted(name for names in PANELS.values() for name in names) == sorted(
        Config.model_fields
    )
    shown = judge("score", "--help").out
    assert [panel for panel in PANELS if f"─ {panel} ─" not in shown] == []
    options = [f"--{name.replace('_', '-')}" for name in Config.model_fields]
    assert [option for option in options if f"{option} " not in shown] == []
    assert [name for name, field in Config.model_fields.items() if not field.description] == []


def test_a_command_speaks_the_language_that_is_asked_for() -> None:
    spoken: list[str] = []

    @takes_language
    def command() -> None:
        spoken.append(LANGUAGE.get())

    command(lang="zh")
    command(lang="en")
    assert (spoken, LANGUAGE.get()) == (["zh", "en"], "en")


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
