import os
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.config import Config
from judge.errors import ConfigError
from judge.settings import load_config

pytestmark = pytest.mark.usefixtures("place")


def written(text: str) -> Path:
    path = Path("mine.toml")
    path.write_text(text, encoding="utf-8")
    return path


def test_given_wins_over_environment_over_file_over_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = written('model = "of the file"\nbase_url = "http://f/v1"\nprior = 0.5\n')
    assert load_config({}, file).model == "of the file"
    monkeypatch.setenv("JUDGE_MODEL", " ")
    assert load_config({}, file).model == "of the file"
    monkeypatch.setenv("JUDGE_MODEL", "of the environment")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert load_config({}, file).model == "of the environment"
    given = Config(model="given", base_url="http://f/v1", prior=0.5)
    assert load_config({"model": "given"}, file) == given
    monkeypatch.setenv("OPENAI_BASE_URL", "http://e/v1/")
    assert load_config({}, file).base_url == "http://e/v1"
    assert load_config({}, file).concurrency == Config().concurrency


@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "JUDGE_BASE_URL", "JUDGE_MODEL"])
def test_a_server_or_an_empty_name_is_no_silent_change_to_similarity(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless a judge is chosen, or a model of another kind named, which judges then."""
    file = written("prior = 0.5\n")
    monkeypatch.setenv(variable, " " if variable == "JUDGE_MODEL" else "http://h/v1")
    unnamed: list[dict[str, object]] = [{}, {"embedding_model": "local:e"}]
    for given in unnamed:
        with pytest.raises(ConfigError, match=r"--model.*--judge similarity"):
            load_config(given, file)
    chosen: list[dict[str, object]] = [{"judge": "similarity"}, {"nli_model": "n"}, {"model": "m"}]
    for given in chosen:
        assert load_config(given, file).prior == 0.5


def test_every_setting_may_stand_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_PRIOR", "0.7")
    monkeypatch.setenv("JUDGE_FALLBACK", "false")
    monkeypatch.setenv("JUDGE_CACHE_DIR", "kept")
    monkeypatch.setenv("JUDGE_OF_NOBODY", "x")
    assert load_config({}) == Config(prior=0.7, fallback=False, cache_dir=Path("kept"))


def test_json_may_stand_in_the_environment_and_tables_in_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "[extra_body]\ntop_k = 1\nchat_template_kwargs = {enable_thinking = false}\n"
    file = written(text + '[headers]\nX-Team = "a"\n')
    fields = {"top_k": 1, "chat_template_kwargs": {"enable_thinking": False}}
    made = Config.model_validate({"extra_body": fields, "headers": {"X-Team": "a"}})
    assert load_config({}, file) == made
    monkeypatch.setenv("JUDGE_EXTRA_BODY", '{"top_k": 2}')
    monkeypatch.setenv("JUDGE_HEADERS", '{"Authorization": "Basic cGFzcw=="}')
    config = load_config({}, file)
    assert config.extra_body == {"top_k": 2}
    assert {n: v.get_secret_value() for n, v in (config.headers or {}).items()} == {
        "Authorization": "Basic cGFzcw=="
    }


# What the file says, the environment, what is given; which judge that makes, or what is said.
TOGETHER: list[tuple[str, dict[str, str], dict[str, object], str]] = [
    ("judge = 'llm'", {}, {"model": "m"}, "llm"),
    ("judge = 'llm'", {"MODEL": "m"}, {}, "llm"),
    ("judge = 'nli'", {}, {"nli_model": "m"}, "nli"),
    # Whoever gives another judge leaves the one of the file, or of the environment, aside.
    ("judge = 'similarity'", {}, {"judge": "llm", "model": "m", "relevance": True}, "llm"),
    ("", {"JUDGE": "similarity"}, {"judge": "llm", "model": "m", "relevance": True}, "llm"),
    ("", {"RELEVANCE": "true"}, {"relevance": False}, "auto"),
    ("prior = 3", {}, {"prior": 0.5}, "auto"),
    # A bound on what a run costs may stand elsewhere than the prices.
    ("input_price = 1\noutput_price = 2", {"MAX_COST": "5"}, {"model": "m"}, "auto"),
    # What is wrong is told with its place.
    ("prior = 3", {}, {}, "mine.toml: setting prior = 3"),
    ("prior = 3", {"PRIOR": "-1"}, {}, "environment: setting prior = '-1'"),
    ("", {"EXTRA_BODY": "{top_k: 2}"}, {}, "environment: setting extra_body = "),
    ("judge = 'llm'", {"PRIOR": "7"}, {"model": "m"}, "environment: setting prior = '7'"),
    ("judge = 'llm'", {"PRIOR": "0.5"}, {}, "mine.toml: judge 'llm' needs a model"),
    ("judge = 'llm'", {"MODEL": "a"}, {"prior": 7}, "setting prior = 7"),
    ("base_url = 'http://h/v1'", {}, {}, "mine.toml: base_url 'http://h/v1'"),
    ("modle = 'm'", {}, {}, "mine.toml: unknown setting 'modle'"),
    ("[judge]\nmodel = 'm'", {}, {}, "mine.toml: setting judge = "),
    ("prior = ", {}, {}, "mine.toml: is no TOML"),
    ("embedding_model = 'local:e'", {}, {"nli_model": "n"}, "nli_model 'n' and embedding_model"),
]


@pytest.mark.parametrize(("text", "named", "given", "found"), TOGETHER)
def test_what_several_places_say(
    text: str,
    named: dict[str, str],
    given: dict[str, object],
    found: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in named.items():
        monkeypatch.setenv(f"JUDGE_{name}", value)
    try:
        said = str(load_config(given, written(text)).judge)
    except ConfigError as error:
        said = str(error)
    assert said.startswith(found)


SECRETS = [
    *(f'{name} = "sk-123456"' for name in ("api_key", "OPENAI_API_KEY", "client_secret")),
    *(f'headers = {{{name} = "sk-123456"}}' for name in ("Authorization", "api-key", "Cookie")),
    """headers = '{"X-Auth-Token": "sk-123456"}'""",
]


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_in_the_file_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^mine.toml: .* in the environment$") as caught:
        load_config({}, written(text))
    assert "sk-123456" not in str(caught.value)


GUARDED = [
    'base_url = "http://h/v1"',
    'citation_pattern = "(a+)+$"',
    'cache_dir = "."',
    'cache_url = "redis://h"',
    'nli_model = "n"',
    'embedding_model = " local:e"',
    'headers = {X-Team = "a"}',
    "extra_body = {logit_bias = {50256 = 9}}",
]


@pytest.mark.parametrize("text", GUARDED)
def test_a_file_that_is_merely_found_says_nothing_of_servers_folders_or_patterns(
    text: str, place: Path
) -> None:
    (place / "judge.toml").write_text(text)
    with pytest.raises(ConfigError, match=f"^judge.toml: sets {text.split(maxsplit=1)[0]}, which"):
        load_config({})
    named = load_config({"judge": "similarity"}, Path("judge.toml"))
    assert named != Config(judge="similarity")


def test_what_a_found_file_sets_is_said(place: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "judge")
    assert load_config({}) == Config()
    (place / "judge.toml").write_bytes(
        '\ufeff# 设置\nmodel = "通义"\nembedding_model = "e"\n'.encode()
    )
    assert load_config({}).model == "通义"
    assert caplog.messages == ["settings from judge.toml: model, embedding_model"]


MAKERS: list[Callable[[Path], object]] = [
    Path.mkdir,
    os.mkfifo,
    lambda file: file.symlink_to("nowhere"),
    lambda file: file.symlink_to("/dev/zero"),
    lambda file: file.write_bytes(b"#" * (1 << 20) + b"\n"),
    lambda file: file.write_text("a = " + "[" * 10_000),
    lambda file: file.write_bytes(b"model = '\xff'"),
    lambda file: file.write_text(f"judge = '{'x' * 10_000}'"),
    lambda file: file.write_text(f"{'x' * 10_000} = 1"),
]


@pytest.mark.parametrize("make", MAKERS)
def test_what_is_found_and_is_no_plain_small_file_is_one_line(
    make: Callable[[Path], object], place: Path
) -> None:
    make(place / "judge.toml")
    with pytest.raises(ConfigError, match=r"^judge\.toml: ") as caught:
        load_config({})
    assert len(str(caught.value)) < 1_000


def test_a_named_file_may_be_a_link_and_must_be_there(place: Path) -> None:
    (place / "link").symlink_to(written('model = "m"'))
    assert load_config({}, place / "link").model == "m"
    for name in ("absent.toml", "/dev/zero"):
        with pytest.raises(ConfigError, match=f"{name}: "):
            load_config({}, place / name)
