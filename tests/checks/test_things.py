import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.checks.things import thing


@pytest.mark.parametrize(
    ("number", "text", "found"),
    [
        ("two", "two men left", "men"),
        ("3", "3 of the men left", "men"),
        ("两", "两名工人受伤", "工人"),
        ("三", "三个受害者", "受害"),
        ("两", "两次受理", "受理"),
        ("1", "1人参加", "人"),
        ("2", "2, and", None),
        ("三", "三个", None),
    ],
)
def test_what_a_number_counts(number: str, text: str, found: str | None) -> None:
    assert thing(text, len(number)) == found


@given(st.text(max_size=40), st.integers(0, 50))
def test_any_text_at_any_place_is_safe(text: str, place: int) -> None:
    assert thing(text, place) != ""
