"""Read by hand: what numbers come to."""

import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from judge.checks.numbers import numbers

VALUES: dict[str, list[float]] = {
    "1,200 and 12,34": [1200, 12, 34],
    "3.5 % or 3.5%": [3.5, 3.5],
    "2 million, 1.5bn, 5k": [2e6, 1.5e9, 5e3],
    "twenty-five, Two Hundred and five, three thousand": [25, 205, 3000],
    "in the 1990s, on May 3rd": [1990, 3],
    "三千万、2亿、1.2万": [3e7, 2e8, 1.2e4],
    "二〇二三年，２０２３年": [2023, 2023],
    "一百零五人，三万五千元，十五天": [105, 35000, 15],
    "百分之三十，二点五倍": [30, 2.5],
    "五十万亿": [5e13],
    "月薪一万二，两千五；三千零五，一百二": [12000, 2500, 3005, 120],
    "2万5千，1亿2000万": [25000, 1.2e8],
    "一亿三千万，十亿零五百万，三亿五千二百万": [1.3e8, 1.005e9, 3.52e8],
    "两万三千五，万亿": [23500, 1e12],
    "26, 000 and 1. 1 million": [26000, 1.1e6],
    "100, 200, 300": [100, 200, 300],
    "two hundred and thirty-four thousand five hundred and sixty-seven": [234567],
    "$5m": [5e6],
    "第三，两天，第一": [3, 2, 1],
    "1" + "亿" * 39: [],
    "often, someone, tenor": [],
    # Perhaps mere words.
    "one may": [],
    "三明治": [],
    "十分满意，万一下雨": [],
    "一个人": [],
    "5m tall": [],
    # A mile of digits is no number.
    "9" * 100_000: [],
}


def test_values() -> None:
    assert {
        text: [number.value for number in numbers(text) if number.certain] for text in VALUES
    } == VALUES


@given(st.text(alphabet="0123456789,.，一二十百千万亿点两〇 %oneandtwhudrk-", max_size=60))
def test_any_text_is_read_in_order_with_finite_values(text: str) -> None:
    found = numbers(text)
    assert all(math.isfinite(number.value) for number in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


@given(st.integers(min_value=0, max_value=10**12))
def test_thousands_separators_change_nothing(value: int) -> None:
    assert [n.value for n in numbers(f"{value:,}")] == [n.value for n in numbers(str(value))]
