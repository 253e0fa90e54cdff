import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.text.clip import clip


@pytest.mark.parametrize(
    ("text", "longest", "clipped"),
    [
        ("", 1, ""),
        ("a", 1, "a"),
        ("ab", 1, "…"),
        ("abcd", 4, "abcd"),
        ("abcde", 4, "abc…"),
        ("差旅标准说明", 4, "差旅标…"),
    ],
)
def test_a_text_is_as_long_as_it_may_be(text: str, longest: int, clipped: str) -> None:
    assert clip(text, longest) == clipped


@given(st.text(), st.integers(1, 40))
def test_no_text_is_too_long_and_a_clipped_one_says_so(text: str, longest: int) -> None:
    clipped = clip(text, longest)
    assert len(clipped) <= longest
    if clipped != text:
        assert clipped == text[: longest - 1] + "…"
        assert len(text) > longest
