import asyncio
import subprocess
import sys

import numpy as np
import pytest

from judge.judges.similarity.embedding import LexicalEmbedder


async def test_rows_have_unit_length_and_an_empty_text_is_zero() -> None:
    rows = await LexicalEmbedder().embed(["It rained.", "", "下雨了。", "***"])
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 0, 1, 0])


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("The inventor of the detector", "An invention: detectors", "The price of hotel rooms"),
        ("住宿标准为每晚六百元", "每晚住宿六百元", "员工享受带薪年假"),
    ],
)
async def test_near_texts_have_a_greater_cosine(text: str, near: str, far: str) -> None:
    own, close, away = await LexicalEmbedder().embed([text, near, far])
    assert own @ close > own @ away


async def test_a_row_does_not_depend_on_its_neighbours() -> None:
    many = [f"Sentence number {i} about rain" for i in range(1500)]
    together = await LexicalEmbedder().embed(many)
    alone = await LexicalEmbedder().embed(many[-1:])
    assert np.array_equal(together[-1:], alone)


def test_another_process_gives_the_same_vector() -> None:
    program = (
        "import asyncio; from judge.judges.similarity.embedding import LexicalEmbedder;"
        "print(asyncio.run(LexicalEmbedder().embed(['It rained. 下雨了'])).tobytes().hex())"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "7"},
    )
    rows = asyncio.run(LexicalEmbedder().embed(["It rained. 下雨了"]))
    assert run.stdout.strip() == rows.tobytes().hex()
