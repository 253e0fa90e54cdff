import pytest
from pydantic import JsonValue

from judge.config import Config
from judge.errors import ConfigError
from judge.records import Rules


def test_the_defaults_are_in_range_and_described() -> None:
    assert Config() == Config.model_validate(Config().model_dump())
    assert Config.model_validate_json(Config(prior=0.7).model_dump_json()) == Config(prior=0.7)
    assert all(field.description for field in Config.model_fields.values())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("prior", 0),
        ("prior", 1.0),
        ("prior", float("nan")),
        ("prior", "high"),
        ("concurrency", 0),
        ("concurrency", 1.5),
        ("max_unscored", -0.1),
        ("max_unscored", 1.1),
        ("max_unscored", float("nan")),
        ("review_rate", -0.01),
        ("review_rate", 1.01),
        ("review_rate", float("nan")),
        ("seed", -1),
        ("require_quotes", "perhaps"),
        ("model", ""),
        ("model", "a|b"),
        ("model", "a\nb"),
        ("embedding_model", "\u202e"),
        ("embedding_model", "local:"),
        ("nli_model", ""),
        ("nli_model", "a|b"),
        ("judge", "oracle"),
        ("cache_dir", ""),
        ("cache_dir", 3),
        ("citation_pattern", 3),
        ("citation_pattern", "(unclosed"),
    ],
)
def test_a_setting_out_of_range_is_named_with_its_value(name: str, value: JsonValue) -> None:
    with pytest.raises(ConfigError) as caught:
        Config.model_validate({name: value})
    assert f"setting {name} = {value!r}: " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_would_run_code_is_no_setting() -> None:
    # A settings file may have come with somebody's folder.
    with pytest.raises(ConfigError, match="unknown setting 'review_hook'"):
        Config.model_validate({"review_hook": "hooks:keep"})


def test_an_unknown_setting_is_named_and_the_known_ones_are_listed() -> None:
    with pytest.raises(ConfigError, match=r"unknown setting 'modle'; there are: .*concurrency"):
        Config.model_validate({"modle": "m"})


def test_the_limits_themselves_are_allowed() -> None:
    for settings in ({"max_unscored": 0}, {"max_unscored": 1}, {"concurrency": 1}, {"seed": 0}):
        assert Config.model_validate(settings)
    assert Config(review_rate=0).review_rate == 0
    assert Config(review_rate=1).review_rate == 1


def test_the_rules_are_the_part_about_reading() -> None:
    config = Config(prose_citations=True, citation_pattern=r"<(\d+)>", require_quotes=True)
    assert config.rules == Rules(
        prose_citations=True, citation_pattern=r"<(\d+)>", require_quotes=True
    )
    assert Config().rules == Rules()


def test_a_model_is_asked_where_one_is_named_unless_similarity_is_wanted() -> None:
    assert not Config().asks_model
    assert Config(model="m").asks_model
    assert Config(model="m", judge="llm").asks_model
    assert not Config(model="m", judge="similarity").asks_model
    with pytest.raises(ConfigError, match="needs a model"):
        Config(judge="llm")
    with pytest.raises(ConfigError, match="judge 'nli' needs a model: name one with --nli-model"):
        Config(judge="nli", model="m")


def test_an_nli_model_judges_where_no_language_model_does_and_else_stands_by() -> None:
    for config in (Config(nli_model="n"), Config(nli_model="n", judge="nli", model="m")):
        assert (config.asks_model, config.infers, config.loads_model) == (False, True, True)
    both = Config(nli_model="n", model="m")
    assert (both.asks_model, both.infers, both.loads_model) == (True, True, True)
    alone = Config(nli_model="n", model="m", fallback=False)
    assert (alone.asks_model, alone.loads_model) == (True, False)
    unwanted = Config(nli_model="n", judge="similarity")
    assert (unwanted.infers, unwanted.loads_model) == (False, False)


def test_an_embedding_model_is_of_a_server_or_of_this_machine() -> None:
    served = Config(embedding_model="sentence-transformers/x")
    assert (served.served_embedding, served.local_embedding) == ("sentence-transformers/x", None)
    assert (served.asks_server, served.loads_model) == (True, False)
    local = Config(embedding_model="local:models/x")
    assert (local.served_embedding, local.local_embedding) == (None, "models/x")
    assert (local.asks_server, local.loads_model) == (False, True)


@pytest.mark.parametrize("name", ["x", "local:models/x"])
def test_an_embedding_model_beside_an_nli_model_is_refused_by_both_names(name: str) -> None:
    for judge in ("auto", "nli", "llm"):
        settings = {"judge": judge, "model": "m", "nli_model": "n", "embedding_model": name}
        with pytest.raises(ConfigError) as caught:
            Config.model_validate(settings)
        said = f"nli_model 'n' and embedding_model {name!r}: "
        assert str(caught.value).startswith(said)
    similarity = Config(judge="similarity", nli_model="n", embedding_model=name)
    assert name in {similarity.served_embedding, f"local:{similarity.local_embedding}"}


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("http://localhost:8000/v1/", "http://localhost:8000/v1"),
        (" https://名.example/openai/v1 ", "https://名.example/openai/v1"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_an_address_loses_its_last_slash(url: str, kept: str) -> None:
    assert Config(base_url=url).base_url == kept


@pytest.mark.parametrize(
    "url",
    [
        "http://h h/v1",
        "http://h\u200b/v1",
        "ftp://h/v1",
        "http://",
        "http://h:port",
        "http://[::1",
        "://h/v1",
    ],
)
def test_what_is_no_address_is_named(url: str) -> None:
    with pytest.raises(ConfigError, match="no http address") as caught:
        Config(base_url=url)
    assert repr(url) in str(caught.value)


@pytest.mark.parametrize("url", ["sk-pass1234", "localhost:8000", "/v1"])
def test_what_may_be_a_key_in_the_wrong_place_is_not_repeated(url: str) -> None:
    with pytest.raises(ConfigError, match="base_url: no http address") as caught:
        Config(base_url=url)
    assert url not in str(caught.value).replace("http://localhost:8000/v1", "")


@pytest.mark.parametrize(
    "url",
    [
        "https://me:pass1234@h/v1",
        "https://h/v1?api-key=pass1234",
        "http://pass1234@[::1",
        "http://h/#pass1234",
    ],
)
def test_an_address_that_holds_a_secret_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ConfigError, match="OPENAI_API_KEY") as caught:
        Config(base_url=url)
    assert "pass1234" not in str(caught.value)
