import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.checks.quantities import Bound, quantities
from tests.growth import LINEAR, growth


def read(text: str) -> list[tuple[float, str]]:
    return [
        (quantity.readings[0].value, unit.kind if (unit := quantity.readings[0].unit) else "")
        for quantity in quantities(text)
    ]


@pytest.mark.parametrize(
    "text",
    ["3.5 %", "3.5％", "3.5 percent", "3.5 per cent", "百分之3.5", "百分之三点五", "3.5个百分点"],
)
def test_a_share_in_both_languages(text: str) -> None:
    assert read(text) == [(3.5, "percent")]


@pytest.mark.parametrize("text", ["$5 million", "5 million dollars", "US$5m", "$5M", "500万美元"])
def test_money_in_both_languages(text: str) -> None:
    assert read(text) == [(5e6, "usd")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1.2bn, 1,200 million, 12亿", [(1.2e9, "")] * 3),
        ("5 km, 5公里, 5000 metres", [(5000, "length")] * 3),
        ("10-20 km, 10至20公里", [(10_000, "length"), (20_000, "length")] * 2),
        ("second, 2nd, 第二", [(2, "")] * 3),
        ("half, 三分之一, two-thirds", [(1 / 2, ""), (1 / 3, ""), (2 / 3, "")]),
        ("三成", [(30, "percent")]),
        ("a year and 12 months", [(12, "months")] * 2),
        ("2 dozen", [(24, "")]),
        ("on 3 May 2021, 5 people", [(5, "")]),
    ],
)
def test_values_and_units(text: str, found: list[tuple[float, str]]) -> None:
    assert read(text) == pytest.approx(found) if not found else read(text) == found


def test_five_m_may_be_money_people_or_metres() -> None:
    (found,) = quantities("5m")
    assert [(each.value, each.unit is None) for each in found.readings] == [(5e6, True), (5, False)]


@pytest.mark.parametrize(
    "text", ["B12", "COVID-19", "step 3", "passage 2", "one", "1", "both", "a first", "一个"]
)
def test_what_may_be_no_figure_is_not_certain(text: str) -> None:
    assert not any(found.certain for found in quantities(text))


@pytest.mark.parametrize("text", ["1%", "$1", "0 km", "1人"])
def test_nought_and_one_are_figures_where_they_measure(text: str) -> None:
    assert [found.certain for found in quantities(text)] == [True]


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("over 60%", Bound.LOWER),
        ("at least $20", Bound.LOWER),
        ("no fewer than 20", Bound.LOWER),
        ("20 or more", Bound.LOWER),
        ("20 km以上", Bound.LOWER),
        ("超过了20", Bound.LOWER),
        ("不低于20", Bound.LOWER),
        ("under 60%", Bound.UPPER),
        ("not more than 20", Bound.UPPER),
        ("up to 20", Bound.UPPER),
        ("不超过20", Bound.UPPER),
        ("20以内", Bound.UPPER),
        ("about 20", None),
        ("moreover 20", None),
    ],
)
def test_bounds(text: str, bound: Bound | None) -> None:
    (found,) = quantities(text)
    assert found.bound is bound


def test_both_ends_of_numbered_steps_are_labels() -> None:
    assert not any(found.certain for found in quantities("steps 4 and 5"))


@pytest.mark.parametrize(
    ("text", "step", "coarse", "rough"),
    [
        ("3.5 million", 1e5, 1e5, False),
        ("about 3,500", 1, 100, True),
        ("近3500人", 1, 100, True),
        ("3,512", 1, 1, False),
        ("12亿", 1e8, 1e8, False),
        ("two million", 1e6, 1e6, False),
        ("300多人", 1, 100, True),
    ],
)
def test_precision(text: str, step: float, coarse: float, *, rough: bool) -> None:
    (found,) = quantities(text)
    assert (found.step, found.coarse, found.rough) == (step, coarse, rough)


def test_places_take_in_the_unit() -> None:
    text = "costs US$5m or 40公里 or 百分之3"
    assert [text[q.start : q.end] for q in quantities(text)] == ["US$5m", "40公里", "百分之3"]


def test_times_of_day_are_minutes_since_midnight() -> None:
    assert read("5 PM, 17:00 and 3 km") == [(1020, "clock"), (1020, "clock"), (3000, "length")]


@given(st.text(alphabet="0123456789,.%$ kmbn一二百分之半万亿年halftwo-thirds", max_size=60))
def test_any_text_is_read_in_order_with_finite_values(text: str) -> None:
    found = quantities(text)
    assert all(math.isfinite(r.value) for q in found for r in q.readings)
    assert [q.start for q in found] == sorted(q.start for q in found)
    assert all(0 <= q.start < q.end <= len(text) for q in found)


@pytest.mark.parametrize("unit", ["1 ", "half ", "5 km-", "$1 ", "百分之", "一", "1,", "two "])
def test_a_long_text_made_to_stall_is_read_in_linear_time(unit: str) -> None:
    def made(size: int) -> str:
        return unit * (size // len(unit))

    assert growth(quantities, made, 2_000) < LINEAR
