import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest

from judge.backends.local.weights import Place, fingerprint, load, located, quiet, run
from judge.errors import ConfigError
from judge.records import Unscored, UnscoredReason


@pytest.fixture
def worker() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1, "here") as worker:
        yield worker


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


async def test_a_model_is_made_on_the_workers_thread_and_named_by_folder_and_contents(
    tmp_path: Path, worker: ThreadPoolExecutor
) -> None:
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    threads: list[str] = []

    def make(given: Path) -> str:
        threads.append(threading.current_thread().name)
        return f"made of {given.name}"

    name, model = await load(Place(str(folder), "--nli-model"), make, worker)
    assert model == "made of tiny"
    assert name.startswith("tiny@")
    assert threads == ["here_0"]
    (folder / "config.json").write_text("[]")
    assert (await load(Place(str(folder), "--nli-model"), make, worker))[0] != name


def fails(error: Exception) -> Callable[[Path], None]:
    def make(_: Path) -> None:
        raise error

    return make


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            ImportError("No module named 'torch'"),
            r"\(No module named 'torch'\); .*pip install '\.\[local",
        ),
        (ConfigError("it is no classifier"), ": it is no classifier$"),
        (OSError("\n\n no file \nat all"), r"cannot be loaded \(OSError: no file\); try it"),
        (ValueError(""), r"cannot be loaded \(ValueError: \)"),
    ],
)
async def test_whatever_goes_wrong_is_one_line_that_names_the_model(
    tmp_path: Path, worker: ThreadPoolExecutor, error: Exception, said: str
) -> None:
    place = Place(str(tmp_path), "--embedding-model", "local:")
    with pytest.raises(ConfigError, match=said) as caught:
        await load(place, fails(error), worker)
    assert str(caught.value).startswith(f"--embedding-model {'local:' + str(tmp_path)!r}: ")
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None


async def test_a_model_that_is_not_there(worker: ThreadPoolExecutor) -> None:
    with pytest.raises(ConfigError, match=r"^--nli-model './none': there is no such folder"):
        await load(Place("./none", "--nli-model"), fails(AssertionError()), worker)


BREAKDOWNS = [
    (RuntimeError("out of memory\nat all"), "out of memory"),
    (IndexError("index out of range"), "index out of range"),
    (ArithmeticError("no number"), "no number"),
    (ValueError("\n too many rows"), "too many rows"),
    (MemoryError(), "MemoryError"),
    (OSError(5, "no device"), "[Errno 5] no device"),
    (TypeError(" "), "TypeError"),
]


async def test_a_breakdown_is_a_value(worker: ThreadPoolExecutor) -> None:
    for error, said in BREAKDOWNS:

        def work(given: Exception) -> None:
            raise given

        assert await run(worker, work, error) == Unscored(
            reason=UnscoredReason.SERVER_ERROR, detail=f"the model failed: {said}"
        )


def test_the_library_is_silent_meanwhile_and_left_as_it_was() -> None:
    logging = pytest.importorskip("transformers", reason="needs `local`").utils.logging
    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    with quiet():
        assert logging.get_verbosity() == logging.ERROR
        assert not logging.is_progress_bar_enabled()
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before
