from pathlib import Path

import pytest

from judge.backends.webhook import Webhook
from judge.compose import cache_folder, open_hook
from judge.config import Config
from judge.errors import ConfigError
from judge.evaluator import evaluate
from judge.records import Sample
from tests.posted import PostServer


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "JUDGE_MODEL", "JUDGE_REVIEW_TOKEN"):
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


async def test_a_hook_that_is_an_address_posts_with_the_token_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sample = Sample(qid="q", answer="七点开门。")
    (result,) = evaluate([sample])
    with PostServer() as server:
        for token in ("", " t0ken\n"):
            monkeypatch.setenv("JUDGE_REVIEW_TOKEN", token)
            hook = open_hook(server.url.replace("http:", "HTTP:"), Config())
            assert isinstance(hook, Webhook)
            await hook(sample, result, 1.0)
    sent = [posted.headers["Authorization"] for posted in server.posted]
    assert sent == [None, "Bearer t0ken"]


def test_a_token_that_is_none_is_refused_unrepeated(monkeypatch: pytest.MonkeyPatch) -> None:
    for token in ("t0ken。", "t0\nken"):
        monkeypatch.setenv("JUDGE_REVIEW_TOKEN", token)
        with pytest.raises(ConfigError, match="JUDGE_REVIEW_TOKEN") as caught:
            open_hook("https://host/path", Config())
        assert token not in str(caught.value)


@pytest.mark.parametrize("name", ["http://", "https:s3cret", "http://[::1/s3cret", "ws://h/s3cret"])
def test_an_address_that_is_none_is_refused_unrepeated(name: str) -> None:
    with pytest.raises(ConfigError, match="no http address") as caught:
        open_hook(name, Config())
    assert "s3cret" not in str(caught.value)


def test_a_hook_by_its_module_is_loaded() -> None:
    hook: object = open_hook("builtins:print", Config())
    assert hook is print
    with pytest.raises(ConfigError, match="No module named 'nowhere_at_all'"):
        open_hook("nowhere_at_all:hook", Config())
