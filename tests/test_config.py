import pytest
from pydantic import JsonValue

from judge.config import Config
from judge.errors import ConfigError
from judge.text.visible import clip

NAN = float("nan")


def refusal(settings: dict[str, JsonValue]) -> str:
    """What is said of settings that are refused, in one line."""
    with pytest.raises(ConfigError) as caught:
        Config.model_validate(settings)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_defaults_are_in_range() -> None:
    assert Config() == Config.model_validate(Config().model_dump())
    assert Config.model_validate_json(Config(prior=0.7).model_dump_json()) == Config(prior=0.7)


OUT_OF_RANGE: dict[str, tuple[JsonValue, ...]] = {
    "prior": (0, 1.0, NAN, "high"),
    "concurrency": (0, 1.5),
    **dict.fromkeys(("rpm", "tpm"), (0, 1.5, True)),
    **dict.fromkeys(("workers", "attempts", "timeout", "max_reply_tokens"), (True, False)),
    "patience": (-1, NAN, float("inf")),
    "max_unscored": (-0.1, 1.1, NAN),
    "max_line": (0, -1, NAN, float("inf")),
    "review_rate": (-0.01, 1.01, NAN),
    "seed": (-1, True),
    "require_quotes": ("perhaps",),
    "model": ("", "a|b", "a\nb"),
    "embedding_model": ("\u202e", "local:"),
    "nli_model": ("", "a|b"),
    "prompt": ("", "v3", "2", "V2", "../faithfulness/v1", 2),
    "judge": ("oracle",),
    "cache_dir": ("", 3),
    "cache_url": ("http://h", "redis://", "redis://h/a", "redis://h:0", "unix://h/x", "unix:///"),
    "cache_ttl": (0, True, 1.5),
    "reasoning_effort": ("", "low|t:1", "very high"),
    "extra_body": (
        "",
        "{",
        [1],
        "[" * 99_999,
        {"a": NAN},
        {"a": "\ud800"},
        {"model": "m"},
        {"max_tokens": 1},
        {"reasoning_effort": "low"},
    ),
    "citation_pattern": (3, "(unclosed"),
    "base_url": (
        "http://h h/v1",
        "http://h\u200b/v1",
        "ftp://h/v1",
        "http://",
        "http://h:port",
        "http://[::1",
        "://h/v1",
    ),
}


def test_a_setting_out_of_range_is_named_with_its_value() -> None:
    for name, values in OUT_OF_RANGE.items():
        for value in values:
            assert f"setting {name} = {clip(repr(value), 200)}: " in refusal({name: value})


def test_an_unknown_setting_is_named_and_the_known_ones_are_listed() -> None:
    said = refusal({"modle": "m"})
    assert said.startswith("unknown setting 'modle'; there are: ")
    # What would run code is none: a settings file may have come with somebody's folder.
    refusal({"review_hook": "hooks:keep"})


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


def test_a_model_is_asked_where_one_is_named_and_wanted() -> None:
    found = [(each.asks_model, each.infers, each.loads_model) for each, *_ in WHO]
    assert found == [tuple(rest) for _, *rest in WHO]
    refusal({"judge": "llm"})
    refusal({"judge": "nli", "model": "m"})
    refusal({"nli_model": "n", "embedding_model": "x"})


def test_what_is_asked_beside_may_be_json() -> None:
    config = Config(extra_body='{"top_k": 1}', reasoning_effort="low", headers='{"X-A": "b"}')
    assert config.asked_beside == {"top_k": 1, "reasoning_effort": "low"}
    assert config == Config.model_validate(
        {"extra_body": {"top_k": 1}, "reasoning_effort": "low", "headers": {"X-A": "b"}}
    )
    assert Config().asked_beside == {}


def test_headers_are_shown_nowhere() -> None:
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
        told = refusal({"headers": headers})
        assert told.startswith("setting headers: ")
        assert secret not in told


def test_what_may_be_a_secret_in_an_address_is_not_repeated() -> None:
    for url in ("sk-pass1234", "localhost:8000", "/v1"):
        said = refusal({"base_url": url})
        assert said.startswith("setting base_url: no http address")
        assert url not in said.replace("http://localhost:8000/v1", "")
    for url in (
        "https://me:pass1234@h/v1",
        "https://h/v1?api-key=pass1234",
        "http://pass1234@[::1",
        "http://h/#pass1234",
    ):
        said = refusal({"base_url": url})
        assert "OPENAI_API_KEY" in said
        assert "pass1234" not in said
