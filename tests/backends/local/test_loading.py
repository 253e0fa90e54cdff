import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from judge.backends.local.weights import Place, load
from judge.errors import ConfigError


@pytest.fixture
def worker() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1, "here") as worker:
        yield worker


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
