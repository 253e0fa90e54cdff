import re
from inspect import signature
from pathlib import Path
from typing import NamedTuple

import pytest

from judge.cli.app import main
from judge.cli.options import SETTINGS, takes_groups, takes_settings
from judge.config import Config
from judge.errors import ConfigError

_DEFAULT = re.compile(r"\[([\d.]+|v\d+|auto|chat|on|off|exact)\]")


def made(tmp: Path, monkeypatch: pytest.MonkeyPatch, **options: object) -> Config:
    """The settings that a command gets from these options."""
    monkeypatch.chdir(tmp)
    for name in ("JUDGE_MODEL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    got: list[Config] = []

    @takes_settings
    def command(*, settings: Config) -> None:
        got.append(settings)

    left_out = dict.fromkeys((*SETTINGS, "config", "debug"))
    command(**{**left_out, **options})
    return got[0]


def test_an_option_left_out_means_the_setting_s_own_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert made(tmp_path, monkeypatch) == Config()


def test_options_become_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = made(tmp_path, monkeypatch, model="m", fallback=False, cache=False, timeout=3.0)
    assert config == Config(model="m", fallback=False, cache=False, timeout=3.0)
    with pytest.raises(ConfigError, match="concurrency"):
        made(tmp_path, monkeypatch, concurrency=0)


def test_an_option_wins_over_the_file_it_stands_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = 'model = "a"\nprior = 0.5\nfallback = false\nrequire_quotes = true\n'
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    options = {"model": "b", "fallback": True, "require_quotes": False}
    config = made(tmp_path, monkeypatch, config=tmp_path / "mine.toml", **options)
    assert config == Config(model="b", prior=0.5)


class Shown(NamedTuple):
    lang: str = "en"
    worst: int = 5


def test_a_group_of_options_stands_where_it_is_taken() -> None:
    got: list[tuple[str, Shown, bool]] = []

    @takes_groups
    def command(source: str, *, shown: Shown, force: bool = False) -> None:
        got.append((source, shown, force))

    command(source="a", lang="zh", worst=0, force=True)
    assert got == [("a", Shown("zh", 0), True)]
    assert list(signature(command).parameters) == ["source", "lang", "worst", "force"]


def test_every_option_is_a_setting_and_its_help_states_the_default() -> None:
    for name, kind in SETTINGS.items():
        field = Config.model_fields[name]
        said = _DEFAULT.search(kind.__metadata__[0].help)
        if said:
            default = {"True": "on", "False": "off"}.get(str(field.default), field.default)
            assert said[1] == str(default).removesuffix(".0"), name
        assert said or field.default is None or name == "cache_dir", name


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
