from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.checks.dates import Day, dates
from tests.growth import LINEAR, growth

THIRD = Day((2021, 2021), 5, 3)


@pytest.mark.parametrize(
    "text",
    [
        "3 May 2021",
        "3rd of May, 2021",
        "May 3, 2021",
        "May 3rd 2021",
        "MAY 3, 2021",
        "2021-05-03",
        "2021/5/3",
        "2021年5月3日",
        "2021 年 5 月 3 日",
        "二〇二一年五月三日",
    ],
)
def test_one_day_in_many_hands(text: str) -> None:
    (date,) = dates(f"on {text}.")
    assert date.readings == (THIRD,)
    assert date.certain


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("May 3rd", [Day(None, 5, 3)]),
        ("5月3日", [Day(None, 5, 3)]),
        ("十二月二十五日", [Day(None, 12, 25)]),
        ("Sept. 2021", [Day((2021, 2021), 9)]),
        ("二〇二一年五月", [Day((2021, 2021), 5)]),
        ("in 2021", [Day((2021, 2021))]),
        ("1939–45", [Day((1939, 1939)), Day((1945, 1945))]),
        ("3-5 May 2021", [THIRD, Day((2021, 2021), 5, 5)]),
        ("the 1990s", [Day((1990, 1999))]),
        ("20世纪90年代", [Day((1990, 1999))]),
        ("1990年代", [Day((1990, 1999))]),
        ("the 19th century, 19世纪", [Day((1800, 1900)), Day((1800, 1900))]),
        ("the nineteenth century", [Day((1800, 1900))]),
        ("the twenty-first century", [Day((2000, 2100))]),
        ("in 2010 won the cup", [Day((2010, 2010))]),
        ("around 2010 they left", [Day((2010, 2010))]),
        ("Monday, 周一, 星期一, 礼拜一", [Day(None, weekday=0)] * 4),
        ("星期天", [Day(None, weekday=6)]),
    ],
)
def test_what_is_said_and_no_more(text: str, days: list[Day]) -> None:
    assert [date.readings[0] for date in dates(text)] == days


@pytest.mark.parametrize(
    "text",
    [
        "it may rain",
        "一周一次",
        "每周一次",
        "$2000",
        "12021",
        "version 10.1.2.3",
        "45/67/2021",
        "2021.5",
        "三个月",
        "the 10th floor",
        "2000 km away",
        "1000 mg daily",
        "EUR 2000",
        "about 2000 visitors",
        "555-1234",
    ],
)
def test_what_is_no_date(text: str) -> None:
    assert dates(text) == []


@pytest.mark.parametrize(("text", "certain"), [("March on", False), ("in March", True)])
def test_a_month_that_is_a_verb_too_needs_its_preposition(text: str, certain: bool) -> None:  # noqa: FBT001
    (date,) = dates(text)
    assert date.certain is certain


@given(st.text(alphabet="0123456789年月日世纪代周一二十 May3rd,-/.'s JuneMonday", max_size=60))
def test_any_text_is_read_in_order(text: str) -> None:
    found = dates(text)
    assert all(0 <= date.start < date.end <= len(text) for date in found)
    assert all(one.start <= two.start for one, two in pairwise(found))


@given(st.dates())
def test_a_day_is_the_same_in_both_languages(day: object) -> None:
    year, month, number = (int(part) for part in str(day).split("-"))
    if year < 1000 or year > 2999:
        return
    (one,) = dates(f"{year}-{month:02}-{number:02}")
    (two,) = dates(f"{year}年{month}月{number}日")
    assert one.readings == two.readings == (Day((year, year), month, number),)


@pytest.mark.parametrize("unit", ["1", "1-", "May ", "一", "十", "1990s ", "周", "3 May ", "20 年"])
def test_a_long_text_made_to_stall_is_read_in_linear_time(unit: str) -> None:
    def made(size: int) -> str:
        return unit * (size // len(unit))

    assert growth(dates, made, 4_000) < LINEAR
