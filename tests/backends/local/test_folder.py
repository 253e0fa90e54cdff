from importlib.util import find_spec
from pathlib import Path

import pytest

from judge.backends.local.weights import fingerprint, located
from judge.errors import ConfigError


def test_a_folder_is_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "名").mkdir()
    assert located(str(tmp_path / "名")) == tmp_path / "名"
    monkeypatch.chdir(tmp_path)
    assert located("名") == Path("名")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert located("~/名") == tmp_path / "名"


@pytest.mark.parametrize("name", ["./none", "/none", "~/none", "~nobody-at-all/x", "a/b/c"])
def test_a_folder_that_is_none(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ConfigError, match="there is no such folder"):
        located(name)


@pytest.mark.skipif(find_spec("huggingface_hub") is None, reason="needs the extra `local`")
def test_what_the_cache_does_not_hold_is_to_be_fetched() -> None:
    with pytest.raises(ConfigError, match=r"hf download nobody/judge-none, or"):
        located("nobody/judge-none")
    with pytest.raises(ConfigError, match=r"hf download nobody/judge-none --revision v1, or"):
        located("nobody/judge-none@v1")
    for name in ("x" * 500, "no name", "a\x00b"):
        with pytest.raises(ConfigError, match="is no folder"):
            located(name)


@pytest.mark.skipif(find_spec("huggingface_hub") is not None, reason="the extra is installed")
@pytest.mark.parametrize("name", ["nobody/judge-none", "x" * 500, "a\x00b"])
def test_without_the_extra_there_is_no_cache(name: str) -> None:
    with pytest.raises(ImportError, match="huggingface_hub"):
        located(name)


def made(folder: Path, **files: str) -> str:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return fingerprint(folder)


def test_the_contents_of_a_models_files_make_its_fingerprint(tmp_path: Path) -> None:
    modules = '[{"path": ""}, {"path": "1"}]'
    parts = {"config_json": "{}", "model_safetensors": "12", "1__config_json": "[]"}
    parts["modules_json"] = modules
    usual = made(tmp_path / "a", **parts)
    assert len(usual) == 8
    assert int(usual, 16) >= 0
    # Not where it stands, nor what else lies there.
    others = {"README_md": "read", "optimizer_pt": "9", "checkpoint-9__model_bin": "9"}
    assert made(tmp_path / "b", **parts, **others) == usual
    changed = [
        made(tmp_path / "c", **parts | {"model_safetensors": "13"}),
        made(tmp_path / "d", **parts | {"1__config_json": "[1]"}),
        made(tmp_path / "e", **parts | {"vocab_txt": ""}),
        made(tmp_path / "f", model_safetensors="12", config_json="{}", modules_json=modules),
        made(tmp_path / "g", **parts | {"model_safetensors": "{}", "config_json": "12"}),
    ]
    assert len({usual, *changed}) == 6


@pytest.mark.parametrize(
    "modules", ["", "[", "{}", "3", "[3]", "[{}]", '[{"path": 3}]', '[{"path": "none"}]']
)
def test_modules_that_name_no_folder_add_nothing(tmp_path: Path, modules: str) -> None:
    alone = made(tmp_path / "a", modules_json=modules)
    assert made(tmp_path / "b", modules_json=modules, **{"1__config_json": "[]"}) == alone
