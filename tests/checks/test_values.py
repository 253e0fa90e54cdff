"""Worked by hand: which values a text contains, and what number, unit or day each is."""

import math
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from judge.checks.values import Amount, Day, number, values

AMOUNTS: list[tuple[str, list[tuple[float, str]]]] = [
    # Shares and money in both languages.
    ("3.5 %, 3.5％, 3.5 percent, 3.5 per cent", [(3.5, "percent")] * 4),
    ("百分之3.5，百分之三点五，3.5个百分点", [(3.5, "percent")] * 3),
    ("三成", [(30, "percent")]),
    ("$5 million, 5 million dollars, US$5m, $5M, 500万美元", [(5e6, "usd")] * 5),
    ("5 U.S. dollars or 6 euros", [(5, "usd"), (6, "eur")]),
    # Magnitudes.
    ("1.2bn, 1,200 million, 12亿", [(1.2e9, "")] * 3),
    ("2 dozen, 3 lakh", [(24, ""), (3e5, "")]),
    ("1'000, 1’000, 1\u00a0000, 1\u2009000, 1\u202f000", [(1000, "")] * 5),
    ("CHF 1'234'567.50, 12’000元", [(1_234_567.5, "chf"), (12_000, "cny")]),
    ("2nd, 第二", [(2, "")] * 2),
    # Units.
    ("5 km, 5公里, 5000 metres, 5 kilometres wide", [(5000, "length")] * 4),
    ("12 months; 1-year-old; 1岁; a year", [(12, "months")] * 4),
    ("半年, half a year, 6个月", [(6, "months")] * 3),
    ("90 minutes, 1.5 hours, 1.5小时", [(5400, "time")] * 3),
    ("2 kg, 2千克重", [(2000, "mass")] * 2),
    ("40-hour week, 40小时", [(144_000, "time")] * 2),
    ("20 °C, 20°C, 20 degrees Celsius, 20摄氏度", [(20, "celsius")] * 4),
    ("-5 °C; (−5 °C); 5 degrees below zero; 气温为-5℃", [(-5, "celsius")] * 4),
    ("2-8 °C, 2 – 8 °C, 2 -8 °C", [(2, ""), (8, "celsius")] * 3),
    ("A-5, pages 3–5, -5 %", [(5, ""), (3, ""), (5, ""), (5, "percent")]),
    ("5 square km, 5平方公里", [(5, ""), (5e6, "area")]),
    # No figure of a date, and no unit inside a longer word.
    ("on 3 May 2021, 5 people", [(5, "")]),
    ("iPhone 12 has 5 kmx on behalf of", [(12, ""), (5, "")]),
    # Fractions.
    ("half of a dozen, 四分之三", [(50, "percent"), (12, ""), (75, "percent")]),
    # A letter that only case folding turns into `s` begins no number.
    ("the \u017fixth century", []),
    # Clock times in minutes; both halves of the day where the text does not say which.
    ("9:30 p.m., 21:30, 晚上九点半", [(1290, "clock")] * 3),
    ("noon, 正午", [(720, "clock")] * 2),
    ("六点半", [(390, "clock")]),
    ("from 7 to 10 am", [(420, "clock"), (600, "clock")]),
]  # fmt: skip
DAYS: dict[str, list[Day]] = {
    "3 May 2021, May 3rd, 2021, 2021-05-03, 2021年5月3日": [Day(2021, 5, 3)] * 4,
    "3-5 May; 5月3日": [Day(None, 5, 3), Day(None, 5, 5), Day(None, 5, 3)],
    "on Monday, 周三": [Day(weekday=0), Day(weekday=2)],
    "the 1990s, 90年代, she may march": [],
}
NUMBERS: dict[str, float] = {
    "1,200": 1200,
    "twenty-five": 25,
    "two hundred and thirty-four thousand five hundred and sixty-seven": 234_567,
    "二〇二三": 2023,
    "三万五千": 35_000,
    "二点五": 2.5,
    "一万二": 12_000,
    "三千零五": 3005,
    "十亿零五百万": 1.005e9,
    "万亿": 1e12,
}


def amounts(text: str) -> list[tuple[float, str]]:
    first = [each.readings[0] for each in values(text) if each.readings]
    return [(each.number, each.unit.kind) for each in first if isinstance(each, Amount)]


def test_amounts() -> None:
    assert {text: amounts(text) for text, _ in AMOUNTS} == dict(AMOUNTS)


def test_dates() -> None:
    found = {text: [v.readings[0] for v in values(text) if v.certain] for text in DAYS}
    assert found == DAYS


def test_numbers() -> None:
    assert {written: number(written) for written in NUMBERS} == NUMBERS


def test_a_range_of_weekdays_has_its_ends_and_perhaps_what_lies_between() -> None:
    found = values("Mon to Fri")
    assert [each.readings for each in found] == [(Day(weekday=day),) for day in range(5)]
    assert [each.certain for each in found] == [True, False, False, False, True]


def test_what_may_be_no_value_is_not_certain() -> None:
    mere = "B12 | COVID-19 | one | 1 | a half | 一个"
    words = "三明治 | 十分满意 | 万一下雨 | often, someone, tenor | a year"
    figures = ("1%", "$1", "0 km", "1人", "12", "three", "两人", "10天/15天", "$5m", "早上三点")
    assert [each for each in f"{mere} | {words}".split(" | ") if any(certain(each))] == []
    assert [each for each in figures if not all(certain(each))] == []


def certain(text: str) -> list[bool]:
    return [value.certain for value in values(text)]


@given(
    st.text(max_size=60)
    | st.text("0123456789,.%$ kmbn一二百分之半万亿年月日点halftwo-thirdsMayam:", max_size=60)
)
@example("2年")
def test_any_text_is_read_in_order_with_finite_values(text: str) -> None:
    found = values(text)
    assert all(map(math.isfinite, (a.number for v in found for a in v.readings if len(a) == 2)))
    assert all(a.start <= b.start for a, b in pairwise(found))
    assert all(0 <= value.start < value.end <= len(text) for value in found)
