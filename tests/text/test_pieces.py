from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.text.fold import estimate_tokens
from judge.text.pieces import pieces, segments

TEXTS = st.text(st.sampled_from("ab .。\n下雨！"), max_size=200)


def test_pieces_end_where_sentences_do_and_neighbours_stay_together() -> None:
    # Four tokens each, so two fit; the second of a piece is the first of the next.
    text = "下雨了。刮风了。打雷了。天晴了。"
    assert [text[a:b] for a, b, _ in pieces(text, 8)] == [
        "下雨了。刮风了。",
        "刮风了。打雷了。",
        "打雷了。天晴了。",
    ]


@given(TEXTS, st.integers(2, 40))
def test_pieces_leave_nothing_out_and_keep_to_the_limit(text: str, limit: int) -> None:
    cut = list(pieces(text, limit))
    assert cut[0][0] == 0
    assert cut[-1][1] == len(text)
    assert all(later[0] <= earlier[1] for earlier, later in pairwise(cut))
    assert all(earlier[:2] < later[:2] for earlier, later in pairwise(cut))
    for start, end, tokens in cut:
        assert estimate_tokens(text[start:end]) <= tokens <= limit


@pytest.mark.parametrize(
    ("text", "wanted"),
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
def test_segments(text: str, wanted: list[str]) -> None:
    assert [text[a:b] for a, b in segments(text)] == wanted


@given(st.text(alphabet="ab X.。!\n\"”'1 ，", max_size=200))
def test_segments_hold_every_visible_character_in_order(text: str) -> None:
    found = segments(text)
    assert all(a < b for a, b in found)
    assert all(a[1] <= b[0] for a, b in pairwise(found))
    assert "".join("".join(text[a:b] for a, b in found).split()) == "".join(text.split())
