import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from judge.text.visible import escaped, flat, visible

STEERING = [chr(c) for c in (*range(32), *range(127, 160), *range(0x202A, 0x202F), 0x2066, 0x2069)]


SHOWN = [
    ("a\x1b[31mb\x1b[0m", "a␛[31mb␛[0m"),
    ("bell\x07, back\b, return\r, null\0", "bell␇, back␈, return␍, null␀"),
    ("abc\u202edef", "abc\ufffddef"),
    ("\x9b31m", "\ufffd31m"),
    ("一\u2028二", "一 二"),
    ("一\t二\n三", "一\t二\n三"),
    ("\ud800 and \udfff", "\ufffd and \ufffd"),
    ("[bold]:smile: 👩‍👩‍👧 café 报销。", "[bold]:smile: 👩‍👩‍👧 café 报销。"),
]


def test_what_would_steer_a_terminal_is_shown() -> None:
    assert [(text, visible(text)) for text, _ in SHOWN] == SHOWN


@given(st.text(st.one_of(st.sampled_from(STEERING), st.characters(codec="utf-8"))))
def test_one_character_for_one_and_nothing_that_steers(text: str) -> None:
    shown = visible(text)
    assert len(shown) == len(text)
    assert not set(shown) & set(STEERING) - {"\n", "\t"}
    kept = [(a, b) for a, b in zip(text, shown, strict=True) if unicodedata.category(a)[0] in "LNP"]
    assert all(a == b for a, b in kept)


@given(st.text(st.characters(exclude_categories=[])))
def test_any_text_can_be_written_and_a_second_time_is_the_same(text: str) -> None:
    shown = visible(text)
    shown.encode("utf-8")
    assert json.loads(f'"{escaped(json.dumps(text)[1:-1])}"') == text
    assert visible(shown) == shown
    assert "\n" not in flat(text)
