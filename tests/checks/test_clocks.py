from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.checks.clocks import clocks
from tests.growth import LINEAR, growth


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("5 PM", (1020,)),
        ("5pm", (1020,)),
        ("5 p.m.", (1020,)),
        ("5:00 PM", (1020,)),
        ("17:00", (1020,)),
        ("下午5点", (1020,)),
        ("下午五点整", (1020,)),
        ("7:30 PM", (1170,)),
        ("晚上7点半", (1170,)),
        ("7:30", (450, 1170)),
        ("7.30 a.m.", (450,)),
        ("上午7点30分", (450,)),
        ("12 AM", (0,)),
        ("12 PM", (720,)),
        ("12:15", (735, 15)),
        ("中午12点", (720,)),
        ("中午11点", (660,)),
        ("中午1点", (780,)),
        ("晚上12点", (0,)),
    ],
)
def test_a_time_of_day_in_both_languages(text: str, minutes: tuple[int, ...]) -> None:
    (clock,) = clocks(f"at {text}, then")
    assert clock.minutes == minutes


@pytest.mark.parametrize("text", ["3:2", "25:00", "10:75", "13 pm", "1:30:00", "3点建议", "5 amps"])
def test_what_is_no_time_of_day(text: str) -> None:
    assert clocks(text) == []


@given(st.text(alphabet="0123456789:. apmAPM下午晚上点半十", max_size=40))
def test_any_text_is_read_in_order_with_real_times(text: str) -> None:
    found = clocks(text)
    assert all(0 <= minute < 24 * 60 for clock in found for minute in clock.minutes)
    assert all(one.end <= two.start for one, two in pairwise(found))


@pytest.mark.parametrize("unit", ["1", "1:", "1 p", "下午", "下午1"])
def test_a_long_text_made_to_stall_is_read_in_linear_time(unit: str) -> None:
    def made(size: int) -> str:
        return unit * (size // len(unit))

    assert growth(clocks, made, 8_000) < LINEAR


@pytest.mark.parametrize("hours", ["8:00-18:00", "8:00–18:00", "8:00 to 18:00"])
def test_both_ends_of_opening_hours_are_times(hours: str) -> None:
    assert [clock.minutes for clock in clocks(f"Open {hours} daily.")][-1] == (1080,)
