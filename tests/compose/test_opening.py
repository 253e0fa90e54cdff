from pathlib import Path

import pytest

from judge.compose import cache_folder
from judge.config import Config
from judge.errors import ConfigError


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "JUDGE_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_where_verdicts_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_folder(Config()) == tmp_path / "judge"
    assert cache_folder(Config(cache_dir=tmp_path / "x")) == tmp_path / "x"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder(Config(cache_dir=Path("~/x"))) == tmp_path / "home" / "x"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder(Config()) == tmp_path / "home" / ".cache" / "judge"


def test_a_home_that_there_is_not_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    with pytest.raises(ConfigError, match=r"~nobody-at-all/x.*--cache-dir"):
        cache_folder(Config(cache_dir=Path("~nobody-at-all/x")))
    monkeypatch.setenv("HOME", "")
    with pytest.raises(ConfigError, match=r"~/\.cache/judge.*--cache-dir"):
        cache_folder(Config())
    assert cache_folder(Config(cache_dir=tmp_path)) == tmp_path


def test_a_relative_cache_folder_of_the_environment_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "caches")
    assert cache_folder(Config()) == tmp_path / ".cache" / "judge"
