import hashlib
import os
import socket
import stat
import subprocess
import sys
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


def test_a_server_or_an_empty_name_is_no_silent_change_to_similarity(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Unless a judge is chosen, or a model of another kind named, which judges then."""
    file = written("prior = 0.5\n")
    chosen: list[dict[str, object]] = [{"judge": "similarity"}, {"nli_model": "n"}, {"model": "m"}]
    rows = {"OPENAI_BASE_URL": "http://h/v1", "JUDGE_MODEL": " ", "JUDGE_BASE_URL": "http://h/v1"}
    for variable, value in rows.items():
        monkeypatch.setenv(variable, value)
        with pytest.raises(ConfigError, match=r"--model.*--judge similarity"):
            load_config({}, file)
        with pytest.raises(ConfigError, match=r"--model.*--judge similarity"):
            load_config({"embedding_model": "local:e"}, file)
        for given in chosen:
            assert load_config(given, file).prior == 0.5
        monkeypatch.delenv(variable)
    for listed in ('base_url = "http://h/v1"', 'base_url = "http://h/v1"\njudge = "auto"'):
        with pytest.raises(ConfigError, match=r"^mine.toml: base_url 'http://h/v1' .* add --model"):
            load_config({}, written(listed))
        assert load_config({"model": "m"}, written(listed)).model == "m"
    # An embedding model of the server is what the server is for.
    assert load_config({"embedding_model": "e"}, written(listed)).served_embedding == "e"


def test_every_setting_may_stand_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_PRIOR", "0.7")
    monkeypatch.setenv("JUDGE_FALLBACK", "false")
    monkeypatch.setenv("JUDGE_CACHE_DIR", "kept")
    monkeypatch.setenv("JUDGE_OF_NOBODY", "x")
    assert load_config({}) == Config(prior=0.7, fallback=False, cache_dir=Path("kept"))
    monkeypatch.setenv("JUDGE_PRIOR", "7")
    with pytest.raises(ConfigError, match=r"^environment: setting prior = '7': "):
        load_config({})


def test_judge_toml_is_read_from_the_working_folder_where_it_is(place: Path) -> None:
    assert load_config({}) == Config()
    (place / "judge.toml").write_bytes('\ufeff# 设置\nmodel = "通义"\n'.encode())
    assert load_config({}).model == "通义"


def test_the_file_may_leave_the_model_to_others() -> None:
    for judge, name in (("llm", "model"), ("nli", "nli_model"), ("span", "span_model")):
        file = written(f'judge = "{judge}"\n')
        assert load_config({name: "m"}, file).judge == judge
        with pytest.raises(ConfigError, match="needs a model"):
            load_config({}, file)
    file = written('embedding_model = "local:e"\n')
    assert load_config({}, file).local_embedding == "e"
    with pytest.raises(ConfigError, match="nli_model 'n' and embedding_model 'local:e'"):
        load_config({"nli_model": "n"}, file)


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
    monkeypatch.setenv("JUDGE_EXTRA_BODY", "{top_k: 2}")
    with pytest.raises(ConfigError, match=r"^environment: setting extra_body = .* is no JSON"):
        load_config({}, file)
    # A file is no place for a secret, and it is not repeated.
    monkeypatch.delenv("JUDGE_HEADERS")
    for name in ("Authorization", "api-key", "X-Auth-Token", "Cookie"):
        for text in (f'headers = {{{name} = "sk-1"}}', f'headers = \'{{"{name}": "sk-1"}}\''):
            with pytest.raises(ConfigError, match="set JUDGE_HEADERS in the env") as caught:
                load_config({}, written(text))
            assert "sk-1" not in str(caught.value)


def test_what_is_wrong_in_the_file_is_named_with_it() -> None:
    rows = [
        ("modle = 'm'", "unknown setting 'modle'"),
        ("prior = 3", "setting prior = 3"),
        ("prior = ", "no TOML"),
        ("[judge]\nmodel = 'm'", "setting judge = "),
    ]
    # A secret is refused and not repeated.
    keys = ("api_key", "OPENAI_API_KEY", "client_secret")
    rows += [(f'{name} = "sk-123456"', "set OPENAI_API_KEY in the environment") for name in keys]
    for text, said in rows:
        file = written(text)
        with pytest.raises(ConfigError) as caught:
            load_config({}, file)
        assert str(caught.value).startswith(f"{file}: ")
        assert said in str(caught.value)
        assert "sk-123456" not in str(caught.value)


GUARDED = (
    'base_url = "http://h/v1"',
    'citation_pattern = "(a+)+$"',
    'cache_dir = "."',
    'cache_url = "redis://h"',
    'nli_model = "n"',
    'span_model = "s"',
    'embedding_model = " local:e"',
    'headers = {X-Team = "a"}',
    "extra_body = {logit_bias = {50256 = 9}}",
)


def test_a_file_that_is_merely_found_says_nothing_of_servers_folders_or_patterns(
    place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "judge")
    file = place / "judge.toml"
    for text in GUARDED:
        file.write_text(text)
        with pytest.raises(ConfigError, match=f"^judge.toml: sets {text.split()[0]}, which"):
            load_config({})
        for named in (file, Path("judge.toml")):
            assert load_config({"judge": "similarity"}, named) != Config(judge="similarity")
    assert caplog.messages == []
    file.write_text('model = "m"\nembedding_model = "of-the-server"\n')
    assert load_config({}).embedding_model == "of-the-server"
    assert caplog.messages == ["settings from judge.toml: model, embedding_model"]


def test_a_file_is_trusted_until_it_changes(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = place / "judge.toml"
    with pytest.raises(ConfigError, match=r"no judge.toml here to trust"):
        load_config({}, trust=True)
    hashes = []
    for text in GUARDED[2:4]:
        file.write_text(text)
        with pytest.raises(ConfigError, match=r"--trust-config$"):
            load_config({})
        assert load_config({}, trust=True) == load_config({}) == load_config({}, trust=True)
        hashes.append(hashlib.sha256(text.encode()).hexdigest())
    kept = place / "remembered" / "judge" / "trusted"
    assert kept.read_text() == "".join(f"{each}\n" for each in hashes)
    assert [stat.S_IMODE(each.stat().st_mode) for each in (kept.parent, kept)] == [0o700, 0o600]
    assert list(kept.parent.iterdir()) == [kept]
    # What is wrong is not remembered.
    file.write_text("prior = 3")
    with pytest.raises(ConfigError, match="prior"):
        load_config({}, trust=True)
    assert len(kept.read_text().split()) == 2
    # A relative folder is ignored, as the standard says; then it is the one of the home folder.
    file.write_text(GUARDED[2])
    monkeypatch.setenv("XDG_CONFIG_HOME", "remembered")
    monkeypatch.setenv("HOME", str(place / "home"))
    with pytest.raises(ConfigError, match=r"--trust-config$"):
        load_config({})
    load_config({}, trust=True)
    assert (place / "home/.config/judge/trusted").read_text() == f"{hashes[0]}\n"
    monkeypatch.setenv("HOME", "")
    with pytest.raises(ConfigError, match="set XDG_CONFIG_HOME"):
        load_config({}, trust=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(file))
    with pytest.raises(ConfigError, match=r"cannot be written \(.*--config instead"):
        load_config({}, trust=True)


TRUSTING = """
import os, sys
from pathlib import Path
from judge.settings import load_config
load_config({})
ready, go = os.pipe()
for number in range(16):
    if not os.fork():
        os.close(go)
        folder = Path(str(number))
        folder.mkdir()
        os.chdir(folder)
        Path("judge.toml").write_text(f'cache_dir = "{number}"')
        os.read(ready, 1)  # until the parent lets go
        load_config({}, trust=True)
        os._exit(0)
os.close(go)
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
"""


def test_processes_that_trust_at_once_lose_none(place: Path) -> None:
    # A line by hand, without an end.
    kept = place / "remembered" / "judge" / "trusted"
    kept.parent.mkdir(parents=True)
    kept.write_text("0" * 64)
    subprocess.run([sys.executable, "-c", TRUSTING], check=True)
    hashes = {hashlib.sha256(f'cache_dir = "{n}"'.encode()).hexdigest() for n in range(16)}
    assert set(kept.read_text().split()) == hashes | {"0" * 64}


def test_what_is_found_and_is_no_plain_small_file_is_one_line(place: Path) -> None:
    file = place / "judge.toml"
    (place / "mine.toml").write_text('model = "m"')
    socket_ = socket.socket(socket.AF_UNIX)
    makers: list[tuple[Callable[[], object], str]] = [
        (file.mkdir, "Is a directory"),
        (lambda: os.mkfifo(file), "no plain file"),
        (lambda: file.symlink_to("mine.toml"), "is a link"),
        (lambda: file.symlink_to("nowhere"), "is a link"),
        (lambda: file.symlink_to("/dev/zero"), "is a link"),
        (lambda: socket_.bind("judge.toml"), "No such device"),
        (lambda: file.write_bytes(b"#" * (1 << 20) + b"\n"), "larger than"),
        (lambda: file.write_text("a." * 1_000 + "a = 1"), "50 dots"),
        (lambda: file.write_text("a = " + "[" * 100_000), "no TOML"),
        (lambda: file.write_text(f"judge = '{'x' * 100_000}'"), "setting judge = 'xxx"),
        (lambda: file.write_text(f"{'x' * 100_000} = 1"), "unknown setting 'xxx"),
    ]
    for make, told in makers:
        make()
        with pytest.raises(ConfigError) as caught:
            load_config({})
        said = str(caught.value)
        assert said.startswith("judge.toml: ")
        assert told in said
        assert len(said) < 1_000
        file.rmdir() if file.is_dir() else file.unlink()
    socket_.close()
    # What is named may be a link; and a device has no end.
    file.symlink_to("mine.toml")
    assert load_config({}, file).model == "m"
    with pytest.raises(ConfigError, match="larger than"):
        load_config({}, Path("/dev/zero"))


def test_a_file_that_cannot_be_read_is_named(place: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent\.toml: No such file"):
        load_config({}, place / "absent.toml")
    (place / "mine.toml").write_bytes(b"model = '\xff'")
    with pytest.raises(ConfigError, match="UTF-8"):
        load_config({}, place / "mine.toml")


def test_settings_that_belong_together_may_come_from_different_places(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A bound on what a run costs stands in the environment, the prices in a file or are given."""
    prices = {"input_price": 1.0, "output_price": 2.0}
    monkeypatch.setenv("JUDGE_MAX_COST", "5")
    assert load_config({"model": "m", **prices}).max_cost == 5
    file = written("input_price = 1\noutput_price = 2\n")
    assert load_config({"model": "m"}, file).output_price == 2
    with pytest.raises(ConfigError, match=r"^environment: max_cost"):
        load_config({"model": "m"})


# What the file says, the environment, what is given; which judge that makes, or what is said.
TOGETHER: list[tuple[str, dict[str, str], dict[str, object], str]] = [
    # Whoever gives another judge leaves the one of the file, or of the environment, aside.
    ("judge = 'similarity'", {}, {"judge": "llm", "model": "m", "relevance": True}, "llm"),
    ("", {"JUDGE": "similarity"}, {"judge": "llm", "model": "m", "relevance": True}, "llm"),
    ("judge = 'nli'", {"NLI_MODEL": "n"}, {"judge": "similarity", "embedding_model": "e"}, "similarity"),  # noqa: E501
    ("judge = 'auto'\nmodel = 'm'", {}, {"judge": "span", "span_model": "s"}, "span"),
    ("judge = 'llm'", {"MODEL": "m"}, {}, "llm"),
    ("", {"RELEVANCE": "true"}, {"relevance": False}, "auto"),
    ("prior = 3", {}, {"prior": 0.5}, "mine.toml: setting prior = 3"),
    ("prior = 3", {"TIMEOUT": "-1"}, {}, "environment: setting timeout = '-1'"),
    ("judge = 'llm'", {"MODEL": "a\n"}, {"prior": 7}, "setting prior = 7"),
    ("judge = 'llm'", {"PRIOR": "7"}, {"model": "m"}, "environment: setting prior = '7'"),
    ("judge = 'llm'", {"PRIOR": "0.5"}, {}, "mine.toml: judge 'llm' needs a model"),
]  # fmt: skip


def test_no_place_is_blamed_for_what_another_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, named, given, found in TOGETHER:
        with monkeypatch.context() as here:
            for name, value in named.items():
                here.setenv(f"JUDGE_{name}", value)
            try:
                said = str(load_config(given, written(text)).judge)
            except ConfigError as error:
                said = str(error)
        assert said.startswith(found), (text, named, given)
