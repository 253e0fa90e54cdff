from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from judge.backends.local.embedder import SentenceEmbedder
from judge.errors import ConfigError
from judge.protocols import Embedder
from judge.records import Unscored
from tests import tiny


@pytest.fixture
def worker() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as worker:
        yield worker


@pytest.fixture
def loads() -> None:
    """Skips where nothing can be loaded."""
    pytest.importorskip("sentence_transformers", reason="needs the extra `local`")


def lengths(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """An even text points one way, an odd one the other."""
    return np.array([[1, 0] if len(text) % 2 else [0, 1] for text in texts], np.float32)


async def test_each_text_has_its_row_and_a_blank_one_zeros(worker: ThreadPoolExecutor) -> None:
    embedder: Embedder = SentenceEmbedder("tiny@0", lengths, 2, worker)
    assert embedder.signature == "embedding:tiny@0"
    texts = ["a", " ", "雨雨", *["abc", "ab", ""] * 200]
    rows = await embedder.embed(texts, deadline=0.0)
    assert not isinstance(rows, Unscored)
    assert rows.dtype == np.float32
    assert rows.tolist() == [[1, 0], [0, 0], [0, 1], *[[1, 0], [0, 1], [0, 0]] * 200]
    none = await embedder.embed([])
    assert not isinstance(none, Unscored)
    assert none.shape == (0, 2)


@pytest.mark.usefixtures("loads")
async def test_rows_have_unit_length_and_blank_texts_none(
    tmp_path: Path, worker: ThreadPoolExecutor
) -> None:
    folder = tiny.save_encoder(tmp_path / "tiny")
    embedder: Embedder = await SentenceEmbedder.opened(str(folder), worker)
    assert embedder.signature.startswith("embedding:tiny@")
    rows = await embedder.embed(["the room is open.", " \n", "门开。", "", "the room is open."])
    assert not isinstance(rows, Unscored)
    assert rows.shape == (5, 16)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 0, 1, 0, 1], abs=1e-5)
    assert rows[0] @ rows[4] == pytest.approx(1, abs=1e-5)
    assert rows[0] @ rows[2] < 0.999
    again = await embedder.embed(["the room is open."], deadline=0.0)
    assert not isinstance(again, Unscored)
    assert again[0] == pytest.approx(rows[0], abs=1e-5)


@pytest.mark.usefixtures("loads")
async def test_a_folder_that_holds_no_model(tmp_path: Path, worker: ThreadPoolExecutor) -> None:
    with pytest.raises(ConfigError, match="cannot be loaded") as caught:
        await SentenceEmbedder.opened(str(tmp_path), worker)
    assert str(caught.value).startswith(f"--embedding-model {f'local:{tmp_path}'!r}: ")
    assert "\n" not in str(caught.value)
