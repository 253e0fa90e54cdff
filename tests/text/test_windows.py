from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.text.windows import LONGEST, locate, segments


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("It rained. It snowed! Why?", ["It rained.", "It snowed!", "Why?"]),
        ("下雨了。“真的？”他问。", ["下雨了。", "“真的？”", "他问。"]),
        ("It took long.Succinate is not.", ["It took long.", "Succinate is not."]),
        ("It was 3.5 km, e.g. uphill", ["It was 3.5 km, e.g. uphill"]),
        ("- rain\n\n- snow\n", ["- rain", "- snow"]),
        (" \n ", []),
        ("", []),
    ],
)
def test_segments(text: str, pieces: list[str]) -> None:
    assert [text[a:b] for a, b in segments(text)] == pieces


@given(st.text(alphabet="ab X.。!\n\"”'1 ，", max_size=200))
def test_segments_hold_every_visible_character_in_order(text: str) -> None:
    found = segments(text)
    assert all(a < b for a, b in found)
    assert all(a[1] <= b[0] for a, b in pairwise(found))
    assert "".join("".join(text[a:b] for a, b in found).split()) == "".join(text.split())


def test_a_long_sentence_is_cut_at_a_space_where_there_is_one() -> None:
    assert all(b - a <= LONGEST for a, b in segments("字" * 1000))
    text = "word " * 500
    assert {text[a : a + 5] for a, _ in segments(text)} == {"word "}


def test_postings_of_runs_within_a_chunk() -> None:
    passages = locate(["Rain. Snow.", "Rain."], {"rain": 0, "snow": 1, "hail": 2})
    found = {
        (term, *passages.span(window))
        for term, window in zip(passages.term.tolist(), passages.window.tolist(), strict=True)
    }
    assert found == {(0, 0, 0, 5), (0, 0, 0, 11), (0, 1, 0, 5), (1, 0, 6, 11), (1, 0, 0, 11)}


def test_pairs_and_numbers_are_located() -> None:
    passages = locate(["下雨四十五天。"], {"下 雨": 0, "#45": 1, "雨 下": 2, "下": 3, "雨": 4})
    assert set(passages.term.tolist()) == {0, 1, 3, 4}


@pytest.mark.parametrize("chunks", [["", "Rain."], ["Rain.", ""], [" ", "\n"]])
def test_empty_chunks_have_no_windows(chunks: list[str]) -> None:
    passages = locate(chunks, {"rain": 0})
    assert passages.first[-1] == len(passages.chunk_of) == sum(bool(c.strip()) for c in chunks)
