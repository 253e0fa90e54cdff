import os
from pathlib import Path

import pytest
from pydantic import JsonValue

from judge.config import Config, load_config
from judge.errors import ConfigError
from judge.records import Rules


def test_the_defaults_are_in_range_and_described() -> None:
    assert Config() == Config.model_validate(Config().model_dump())
    assert Config.model_validate_json(Config(prior=0.7).model_dump_json()) == Config(prior=0.7)
    assert all(field.description for field in Config.model_fields.values())


OUT_OF_RANGE: list[tuple[str, JsonValue]] = [
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
]


def test_a_setting_out_of_range_is_named_with_its_value() -> None:
    for name, value in OUT_OF_RANGE:
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


def test_an_address_loses_its_last_slash() -> None:
    rows = [
        ("http://localhost:8000/v1/", "http://localhost:8000/v1"),
        (" https://名.example/openai/v1 ", "https://名.example/openai/v1"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ]
    assert [Config(base_url=url).base_url for url, _ in rows] == [kept for _, kept in rows]


def test_what_is_no_address_is_named() -> None:
    for url in (
        "http://h h/v1",
        "http://h\u200b/v1",
        "ftp://h/v1",
        "http://",
        "http://h:port",
        "http://[::1",
        "://h/v1",
    ):
        with pytest.raises(ConfigError, match="no http address") as caught:
            Config(base_url=url)
        assert repr(url) in str(caught.value)


def test_what_may_be_a_key_in_the_wrong_place_is_not_repeated() -> None:
    for url in ("sk-pass1234", "localhost:8000", "/v1"):
        with pytest.raises(ConfigError, match="base_url: no http address") as caught:
            Config(base_url=url)
        assert url not in str(caught.value).replace("http://localhost:8000/v1", "")


def test_an_address_that_holds_a_secret_is_refused_and_not_repeated() -> None:
    for url in (
        "https://me:pass1234@h/v1",
        "https://h/v1?api-key=pass1234",
        "http://pass1234@[::1",
        "http://h/#pass1234",
    ):
        with pytest.raises(ConfigError, match="OPENAI_API_KEY") as caught:
            Config(base_url=url)
        assert "pass1234" not in str(caught.value)


@pytest.fixture
def unset(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment in which nobody has set anything."""
    for name in [name for name in os.environ if name.startswith(("JUDGE_", "OPENAI_"))]:
        monkeypatch.delenv(name)
    return monkeypatch


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_given_wins_over_environment_over_file_over_default(
    tmp_path: Path, unset: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path, 'model = "of the file"\nbase_url = "http://f/v1"\nprior = 0.5\n')
    assert load_config({}, file).model == "of the file"
    unset.setenv("JUDGE_MODEL", " ")
    assert load_config({}, file).model == "of the file"
    unset.setenv("JUDGE_MODEL", "of the environment")
    unset.setenv("OPENAI_API_KEY", "sk-secret")
    assert load_config({}, file).model == "of the environment"
    assert load_config({"model": "given"}, file) == Config(
        model="given", base_url="http://f/v1", prior=0.5
    )
    unset.setenv("OPENAI_BASE_URL", "http://e/v1/")
    assert load_config({}, file).base_url == "http://e/v1"
    assert load_config({}, file).concurrency == Config().concurrency


def test_every_setting_may_stand_in_the_environment(unset: pytest.MonkeyPatch) -> None:
    unset.setenv("JUDGE_PRIOR", "0.7")
    unset.setenv("JUDGE_FALLBACK", "false")
    unset.setenv("JUDGE_CACHE_DIR", "kept")
    unset.setenv("JUDGE_OF_NOBODY", "x")
    assert load_config({}) == Config(prior=0.7, fallback=False, cache_dir=Path("kept"))
    unset.setenv("JUDGE_PRIOR", "7")
    with pytest.raises(ConfigError, match=r"^environment: setting prior = '7': "):
        load_config({})


def test_judge_toml_is_read_from_the_working_folder_where_it_is(
    tmp_path: Path, unset: pytest.MonkeyPatch
) -> None:
    unset.chdir(tmp_path)
    assert load_config({}) == Config()
    (tmp_path / "judge.toml").write_bytes('\ufeff# 设置\nmodel = "通义"\n'.encode())
    assert load_config({}).model == "通义"


@pytest.mark.usefixtures("unset")
def test_the_file_may_leave_the_model_to_others(tmp_path: Path) -> None:
    file = written(tmp_path, 'judge = "llm"\n')
    assert load_config({"model": "m"}, file).asks_model
    with pytest.raises(ConfigError, match="needs a model"):
        load_config({}, file)
    file = written(tmp_path, 'judge = "nli"\n')
    assert load_config({"nli_model": "n"}, file).infers
    with pytest.raises(ConfigError, match="needs a model"):
        load_config({}, file)
    file = written(tmp_path, 'embedding_model = "local:e"\n')
    assert load_config({}, file).local_embedding == "e"
    with pytest.raises(ConfigError, match="nli_model 'n' and embedding_model 'local:e'"):
        load_config({"nli_model": "n"}, file)


@pytest.mark.usefixtures("unset")
def test_what_is_wrong_in_the_file_is_named_with_it(tmp_path: Path) -> None:
    rows = [
        ("modle = 'm'", "unknown setting 'modle'"),
        ("prior = 3", "setting prior = 3"),
        ("prior = ", "no TOML"),
        ("[judge]\nmodel = 'm'", "setting judge = "),
    ]
    for text, said in rows:
        file = written(tmp_path, text)
        with pytest.raises(ConfigError) as caught:
            load_config({}, file)
        assert str(caught.value).startswith(f"{file}: ")
        assert said in str(caught.value)


@pytest.mark.usefixtures("unset")
def test_a_secret_in_the_file_is_refused_and_not_repeated(tmp_path: Path) -> None:
    for name in ("api_key", "OPENAI_API_KEY", "client_secret"):
        with pytest.raises(ConfigError, match="OPENAI_API_KEY in the environment") as caught:
            load_config({}, written(tmp_path, f'{name} = "sk-123456"'))
        assert "sk-123456" not in str(caught.value)


@pytest.mark.usefixtures("unset")
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent\.toml: No such file"):
        load_config({}, tmp_path / "absent.toml")
    (tmp_path / "mine.toml").write_bytes(b"model = '\xff'")
    with pytest.raises(ConfigError, match="UTF-8"):
        load_config({}, tmp_path / "mine.toml")
