import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.checks.counted import counted
from judge.checks.numbers import numbers
from judge.text.words import words


def all_counted(text: str) -> list[str]:
    said = words(text)
    return [counted(text, number, said) for number in numbers(text)]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("It rained for 45 days.", ["day"]),
        ("下了四十五天雨。", ["天"]),
        ("三个孩子，两位老师", ["孩", "老"]),
        ("70 % and 70%", ["%", "%"]),
        ("70％，百分之七十", ["%", "%"]),
        ("$5 or 5€", ["$", "€"]),
        ("in 1995, then", ["年"]),
        ("2021年", ["年"]),
        ("Room 12.", [""]),
        ("45 of them", [""]),
        ("12", [""]),
    ],
)
def test_what_numbers_count(text: str, what: list[str]) -> None:
    assert all_counted(text) == what


@given(st.text(alphabet="12 .,%$a三个孩年", max_size=40))
def test_any_text_is_read(text: str) -> None:
    assert len(all_counted(text)) == len(numbers(text))
