from pathlib import Path

import pytest

from judge.config import Config, load_config
from judge.errors import ConfigError


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_given_wins_over_environment_over_file_over_default(tmp_path: Path) -> None:
    file = written(tmp_path, 'model = "of the file"\nbase_url = "http://f/v1"\nprior = 0.5\n')
    environment = {"JUDGE_MODEL": "of the environment", "OPENAI_API_KEY": "sk-secret"}
    assert load_config({"model": "given"}, environment, file) == Config(
        model="given", base_url="http://f/v1", prior=0.5
    )
    assert load_config({}, environment, file).model == "of the environment"
    assert load_config({}, {"JUDGE_MODEL": " "}, file).model == "of the file"
    assert load_config({}, {"OPENAI_BASE_URL": "http://e/v1/"}, file).base_url == "http://e/v1"
    assert load_config({}, {}, file).concurrency == Config().concurrency


def test_judge_toml_is_read_from_the_working_folder_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_config({}, {}) == Config()
    (tmp_path / "judge.toml").write_bytes('\ufeff# 设置\nmodel = "通义"\n'.encode())
    assert load_config({}, {}).model == "通义"


def test_the_file_may_leave_the_model_to_others(tmp_path: Path) -> None:
    file = written(tmp_path, 'judge = "llm"\n')
    assert load_config({"model": "m"}, {}, file).asks_model
    with pytest.raises(ConfigError, match="needs a model"):
        load_config({}, {}, file)
    file = written(tmp_path, 'judge = "nli"\n')
    assert load_config({"nli_model": "n"}, {}, file).infers
    with pytest.raises(ConfigError, match="needs a model"):
        load_config({}, {}, file)
    file = written(tmp_path, 'embedding_model = "local:e"\n')
    assert load_config({}, {}, file).local_embedding == "e"
    with pytest.raises(ConfigError, match="nli_model 'n' and embedding_model 'local:e'"):
        load_config({"nli_model": "n"}, {}, file)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("modle = 'm'", "unknown setting 'modle'"),
        ("prior = 3", "setting prior = 3"),
        ("prior = ", "no TOML"),
        ("[judge]\nmodel = 'm'", "setting judge = "),
    ],
)
def test_what_is_wrong_in_the_file_is_named_with_it(tmp_path: Path, text: str, said: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_config({}, {}, file)
    assert str(caught.value).startswith(f"{file}: ")
    assert said in str(caught.value)


@pytest.mark.parametrize("name", ["api_key", "OPENAI_API_KEY", "client_secret"])
def test_a_secret_in_the_file_is_refused_and_not_repeated(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="OPENAI_API_KEY in the environment") as caught:
        load_config({}, {}, written(tmp_path, f'{name} = "sk-123456"'))
    assert "sk-123456" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent\.toml: No such file"):
        load_config({}, {}, tmp_path / "absent.toml")
    (tmp_path / "mine.toml").write_bytes(b"model = '\xff'")
    with pytest.raises(ConfigError, match="UTF-8"):
        load_config({}, {}, tmp_path / "mine.toml")
