import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import JsonValue

from judge.config import Config, load_config
from judge.errors import ConfigError
from judge.text.visible import clip

pytestmark = pytest.mark.usefixtures("place")

NAN = float("nan")


def refusal(settings: dict[str, JsonValue]) -> str:
    """What is message of settings that are refused, in one line."""
    with pytest.raises(ConfigError) as caught:
        Config.model_validate(settings)
    assert "\n" not in str(caught.value)
    return str(caught.value)


OUT_OF_RANGE: dict[str, tuple[JsonValue, ...]] = {
    "prior": (0, 1.0, NAN, "high"),
    "rpm": (0, 1.5),
    "patience": (-1, NAN, float("inf")),
    "model": ("", "a|b", "a\nb"),
    "prompt": ("", "v4", "2", "V2", "../faithfulness/v1", 2),
    "cache_dir": ("", 3),
    "cache_url": ("http://h", "redis://", "redis://h/a", "redis://h:0", "unix://h/x", "unix:///"),
    "reasoning_effort": ("", "low|t:1", "very high"),
    "extra_body": ("", "{", [1], {"model": "m"}, {"reasoning_effort": "low"}),
    "citation_pattern": (3, "(unclosed"),
    "base_url": ("http://h h/v1", "ftp://h/v1", "http://", "http://h:port", "http://[::1"),
}


def test_a_setting_out_of_range_is_named_with_its_value() -> None:
    for name, values in OUT_OF_RANGE.items():
        for value in values:
            assert f"setting {name} = {clip(repr(value), 200)}: " in refusal({name: value})


def test_an_unknown_setting_is_named_with_the_nearest_or_with_all() -> None:
    assert refusal({"modle": "m"}) == "unknown setting 'modle'; did you mean 'model'?"
    # A setting that runs code does not exist, because a stranger's file could have it.
    message = refusal({"review_hook": "hooks:keep"})
    assert message.startswith("unknown setting 'review_hook'; there are: judge, model, ")


# Settings; whether a language model is asked, an NLI model judges or stands by, one is loaded.
WHO = [
    (Config(), False, False, False),
    (Config(model="m"), True, False, False),
    (Config(model="m", judge="llm"), True, False, False),
    (Config(model="m", judge="similarity"), False, False, False),
    (Config(nli_model="n"), False, True, True),
    (Config(nli_model="n", judge="nli", model="m"), False, True, True),
    (Config(nli_model="n", model="m"), True, True, True),
    (Config(nli_model="n", model="m", fallback=False), True, True, False),
    (Config(nli_model="n", judge="similarity"), False, False, False),
]


def test_the_judge_that_settings_choose() -> None:
    found = [(each.asks_model, each.infers, each.loads_model) for each, *_ in WHO]
    assert found == [tuple(rest) for _, *rest in WHO]
    refusal({"judge": "llm"})
    refusal({"judge": "nli", "model": "m"})
    refusal({"nli_model": "n", "embedding_model": "x"})


def test_headers_are_never_shown() -> None:
    secret = "pass1234"  # noqa: S105
    config = Config.model_validate({"headers": {"X-Auth": secret, "X-Empty": ""}})
    for shown in (repr(config), str(config), str(config.model_dump()), config.model_dump_json()):
        assert secret not in shown
    rows: list[JsonValue] = [
        f'{{"X-Auth": "{secret}"',
        f'["{secret}"]',
        {"X-Auth": [secret]},
        {"X-Auth": f"{secret}\r\nX-Other: 1"},
        {f"{secret}: x": "y"},
        {"Content-Length": secret},
    ]
    for headers in rows:
        message = refusal({"headers": headers})
        assert message.startswith("setting headers: ")
        assert secret not in message


def test_secrets_in_an_address_are_not_repeated() -> None:
    for url in ("sk-pass1234", "localhost:8000", "/v1"):
        message = refusal({"base_url": url})
        assert message.startswith("setting base_url: no http address")
        assert url not in message.replace("http://localhost:8000/v1", "")
    for url in (
        "https://me:pass1234@h/v1",
        "https://h/v1?api-key=pass1234",
        "http://pass1234@[::1",
        "http://h/#pass1234",
    ):
        message = refusal({"base_url": url})
        assert "OPENAI_API_KEY" in message
        assert "pass1234" not in message


def written(text: str) -> Path:
    path = Path("mine.toml")
    path.write_text(text, encoding="utf-8")
    return path


def test_options_override_environment_file_and_defaults(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = written('model = "of the file"\nbase_url = "http://f/v1"\nprior = 0.5\n')
    monkeypatch.setenv("JUDGE_MODEL", " ")
    assert load_config({}, file).model == "of the file"
    monkeypatch.setenv("JUDGE_MODEL", "of the environment")
    assert load_config({}, file).model == "of the environment"
    chosen = Config(model="given", base_url="http://f/v1", prior=0.5)
    assert load_config({"model": "given"}, file) == chosen
    monkeypatch.setenv("OPENAI_BASE_URL", "http://e/v1/")
    assert load_config({}, file).base_url == "http://e/v1"


@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "JUDGE_BASE_URL", "JUDGE_MODEL"])
def test_a_server_without_a_model_is_refused(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless a judge is chosen, or a model of another kind named, which judges then."""
    file = written("prior = 0.5\n")
    monkeypatch.setenv(variable, " " if variable == "JUDGE_MODEL" else "http://h/v1")
    unnamed: list[dict[str, object]] = [{}, {"embedding_model": "local:e"}]
    for options in unnamed:
        with pytest.raises(ConfigError, match=r"--model.*--judge similarity"):
            load_config(options, file)
    chosen: list[dict[str, object]] = [{"judge": "similarity"}, {"nli_model": "n"}, {"model": "m"}]
    for options in chosen:
        assert load_config(options, file).prior == 0.5


def test_json_in_the_environment_and_tables_in_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "[extra_body]\ntop_k = 1\nchat_template_kwargs = {enable_thinking = false}\n"
    file = written(text + '[headers]\nX-Team = "a"\n')
    fields = {"top_k": 1, "chat_template_kwargs": {"enable_thinking": False}}
    made = Config.model_validate({"extra_body": fields, "headers": {"X-Team": "a"}})
    assert load_config({}, file) == made
    # The whole setting is replaced, not a part of it.
    assert load_config({"extra_body": {"seed": 1}}, file).extra_body == {"seed": 1}
    monkeypatch.setenv("JUDGE_EXTRA_BODY", '{"top_k": 2}')
    monkeypatch.setenv("JUDGE_HEADERS", '{"Authorization": "Basic cGFzcw=="}')
    config = load_config({}, file)
    assert config.extra_body == {"top_k": 2}
    assert {n: v.get_secret_value() for n, v in (config.headers or {}).items()} == {
        "Authorization": "Basic cGFzcw=="
    }


# What the file says, the environment, what is given; which judge that makes, or what is message.
TOGETHER: list[tuple[str, dict[str, str], dict[str, object], str]] = [
    ("judge = 'llm'", {}, {"model": "m"}, "llm"),
    ("judge = 'llm'", {"MODEL": "m"}, {}, "llm"),
    # Whoever gives another judge leaves the one of the file, or of the environment, aside.
    ("judge = 'similarity'", {}, {"judge": "llm", "model": "m", "relevance": True}, "llm"),
    ("", {"JUDGE": "similarity"}, {"judge": "llm", "model": "m", "relevance": True}, "llm"),
    ("", {"RELEVANCE": "true"}, {"relevance": False}, "auto"),
    # A bound on what a run costs may stand elsewhere than the prices.
    ("input_price = 1\noutput_price = 2", {"MAX_COST": "5"}, {"model": "m"}, "auto"),
    # What is wrong is message with its place.
    (
        "prior = 3",
        {},
        {},
        "mine.toml: setting prior = 3: give a number that is above 0 and below 1",
    ),
    ("prior = 3", {"PRIOR": "-1"}, {}, "environment: setting prior = '-1'"),
    ("", {"EXTRA_BODY": "{top_k: 2}"}, {}, "environment: setting extra_body = "),
    ("judge = 'llm'", {"PRIOR": "0.5"}, {}, "mine.toml: judge 'llm' needs a model"),
    ("base_url = 'http://h/v1'", {}, {}, "mine.toml: base_url 'http://h/v1'"),
    ("modle = 'm'", {}, {}, "mine.toml: unknown setting 'modle'"),
    ("prior = ", {}, {}, "mine.toml: is not TOML"),
    ("embedding_model = 'local:e'", {}, {"nli_model": "n"}, "nli_model 'n' and embedding_model"),
    ("", {"BASE_URL": "ftp://h"}, {}, "environment: setting base_url = 'ftp://h': no http"),
    ("", {"HEADERS": "{"}, {}, "environment: setting headers: is not JSON"),
    ("input_price = 1", {}, {"model": "m"}, "mine.toml: input_price and output_price"),
]


def test_a_triad_is_relevance_and_context(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_TRIAD", "true")
    made = load_config({"model": "m"})
    assert (made.relevance, made.context) == (True, True)
    # What the triad adds goes with it where the settings are passed on.
    settings = {name: getattr(made, name) for name in made.model_fields_set} | {"triad": False}
    alone = Config.model_validate(settings)
    assert (alone.relevance, alone.context) == (False, False)


@pytest.mark.parametrize(("text", "environment", "options", "found"), TOGETHER)
def test_settings_of_several_places(
    text: str,
    environment: dict[str, str],
    options: dict[str, object],
    found: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(f"JUDGE_{name}", value)
    try:
        message = str(load_config(options, written(text)).judge)
    except ConfigError as error:
        message = str(error)
    assert message.startswith(found)


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
def test_a_found_file_may_not_set_servers_folders_or_patterns(text: str, place: Path) -> None:
    (place / "judge.toml").write_text(text)
    with pytest.raises(ConfigError, match=f"^judge.toml: sets {text.split(maxsplit=1)[0]}, which"):
        load_config({})
    config = load_config({"judge": "similarity"}, Path("judge.toml"))
    assert config != Config(judge="similarity")


MAKERS: list[Callable[[Path], object]] = [
    Path.mkdir,
    os.mkfifo,
    lambda file: file.symlink_to("nowhere"),
    lambda file: file.symlink_to("/dev/zero"),
    lambda file: file.write_bytes(b"#" * (1 << 20) + b"\n"),
    lambda file: file.write_text("a = " + "[" * 10_000),
    lambda file: file.write_bytes(b"model = '\xff'"),
    lambda file: file.write_text(f"{'x' * 10_000} = 1"),
]


@pytest.mark.parametrize("make", MAKERS)
def test_a_found_file_must_be_plain_and_small(make: Callable[[Path], object], place: Path) -> None:
    make(place / "judge.toml")
    with pytest.raises(ConfigError, match=r"^judge\.toml: ") as caught:
        load_config({})
    assert len(str(caught.value)) < 1_000
