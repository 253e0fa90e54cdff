import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.checks.values import days, figures, number_key
from judge.text.words import words
from tests.growth import LINEAR, growth


def keys(text: str) -> list[str]:
    return [value.key for value in (*figures(text, words(text)), *days(text))]


@pytest.mark.parametrize(
    "text",
    ["3 May 2021", "May 3rd, 2021", "2021-05-03", "2021年5月3日", "二〇二一年五月三日"],
)
def test_a_day_has_one_key_in_every_way_of_writing(text: str) -> None:
    assert {"#05-03", "#2021-05"} <= set(keys(text))


@pytest.mark.parametrize("text", ["2 million", "2,000,000", "200万", "二百万", "2, 000, 000"])
def test_a_number_has_one_key_in_every_way_of_writing(text: str) -> None:
    assert keys(text) == [number_key(2e6)] == ["#2000000"]


def test_a_day_that_can_be_read_in_two_ways_is_uncertain() -> None:
    found = days("03/05/2021")
    assert {"#03-05", "#05-03"} <= {value.key for value in found}
    assert not any(value.certain for value in found)


def test_a_value_knows_its_place_and_what_it_counts() -> None:
    text = "for 45 days"
    (value,) = figures(text, words(text))
    assert (text[value.start : value.end], value.counts, value.certain) == ("45", "day", True)


@given(st.text(alphabet="0123456789年月日 -/May三十", max_size=40))
def test_keys_of_values_are_no_words(text: str) -> None:
    assert all(key.startswith("#") for key in keys(text))


def test_time_is_linear() -> None:
    def read(text: str) -> object:
        return figures(text, words(text))

    assert growth(read, lambda size: "45 days " * size, 4_000) < LINEAR
