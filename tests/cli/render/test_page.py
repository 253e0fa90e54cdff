from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from judge.cli.render.page import wrap

WORDS = st.text(st.sampled_from("ab 中文，。（）「」é1.\n"), max_size=80)


def lines(text: str, width: int, indent: int = 0) -> list[str]:
    return wrap(Text(text), width, indent).plain.split("\n")


def test_chinese_breaks_anywhere_but_before_a_stop() -> None:
    assert lines("差旅住宿每晚不超过，六百元。", 19) == ["差旅住宿每晚不超", "过，六百元。"]


def test_english_breaks_at_spaces() -> None:
    assert lines("one two three four", 13) == ["one two three", "four"]


def test_an_indent_and_the_text_s_own_breaks() -> None:
    assert lines("a\n\nb", 20, 2) == ["  a", "", "  b"]


def test_a_long_word_is_cut() -> None:
    assert lines("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]


def test_styles_survive() -> None:
    text = Text("中文" * 10)
    text.stylize("red", 0, 40)
    assert all(str(span.style) == "red" for span in wrap(text, 12).spans)


@settings(deadline=None)
@given(WORDS, st.integers(10, 30))
def test_no_line_is_too_wide_and_no_character_is_lost(text: str, width: int) -> None:
    found = lines(text, width)
    assert all(cell_len(line) <= width for line in found)
    assert "".join("".join(found).split()) == "".join(text.split())
