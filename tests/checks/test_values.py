"""Read by hand: what quantities come to, how exact they are, and whether others say the same."""

import math

from hypothesis import given
from hypothesis import strategies as st

from judge.checks.values import Figures, Match, quantities

VALUES: list[tuple[str, list[tuple[float, str]]]] = [
    # Shares and money in both languages.
    ("3.5 %, 3.5％, 3.5 percent, 3.5 per cent", [(3.5, "percent")] * 4),
    ("百分之3.5，百分之三点五，3.5个百分点", [(3.5, "percent")] * 3),
    ("三成", [(30, "percent")]),
    ("$5 million, 5 million dollars, US$5m, $5M, 500万美元", [(5e6, "usd")] * 5),
    ("5 U.S. dollars or 6 euros", [(5, "usd"), (6, "eur")]),
    # Magnitudes.
    ("1.2bn, 1,200 million, 12亿", [(1.2e9, "")] * 3),
    ("2 dozen, 3 lakh", [(24, ""), (3e5, "")]),
    ("2nd, 第二", [(2, "")] * 2),
    # Units, and ranges that share one.
    ("5 km, 5公里, 5000 metres, 5 kilometres wide", [(5000, "length")] * 4),
    ("10-20 km, 10至20公里", [(10_000, "length"), (20_000, "length")] * 2),
    ("12 months; 1-year-old; 1岁", [(12, "months")] * 3),
    ("2 kg, 2千克重", [(2000, "mass")] * 2),
    ("40-hour week, 40小时", [(144_000, "time")] * 2),
    ("20 °C, 20°C, 20 degrees Celsius, 20摄氏度", [(20, "celsius")] * 4),
    ("5 square km, 5平方公里", [(5, ""), (5e6, "area")]),
    # No figure of a date, and none of a unit inside a longer word.
    ("on 3 May 2021, 5 people", [(5, "")]),
    ("iPhone 12 has 5 kmx on behalf of", [(12, ""), (5, "")]),
    # Said without a figure.
    ("half or a quarter of a dozen", [(50, "percent"), (25, "percent"), (12, "")]),
    ("two third\u017f", [(2, "")]),
    # A numeral that is not read whole is none of these.
    ("二十一世纪、公元前3世纪, 四分之三", [(21, "century"), (-3, "century"), (75, "percent")]),
    ("第2023世纪, 2023世纪, 2分之" + "九" * 50 + ", the \u017fixth century", []),
    ("1500分之3, 4分之1500", [(3, ""), (1500, "")]),
]  # fmt: skip


def read(text: str) -> list[tuple[float, str]]:
    first = [quantity.readings[0] for quantity in quantities(text)]
    return [(value, unit.kind) for value, unit in first]


def test_values_and_units() -> None:
    assert {text: read(text) for text, _ in VALUES} == dict(VALUES)


def test_what_may_be_no_figure_is_not_certain() -> None:
    mere = ("B12", "COVID-19", "step 3", "passage 2", "steps 4 and 5", "one", "1", "a half", "一个")
    figures = ("1%", "$1", "0 km", "1人", "12", "three", "两人")
    assert [text for text in mere if any(q.certain for q in quantities(text))] == []
    assert [text for text in figures if not all(q.certain for q in quantities(text))] == []


MATCHES: dict[Match, list[tuple[str, str]]] = {
    Match.FOUND: [
        ("3.5 million", "3,512,000"),
        ("3.5 million", "351.2万"),
        ("about 3,500", "3,512"),
        ("3,500", "3,512"),
        ("约2000人", "1987人"),
        ("4 %", "3.6 %"),
        ("3.5 %", "百分之3.5"),
        ("5 km", "5公里"),
        ("5 kilometres", "5000 m"),
        ("90 minutes", "1.5 hours"),
        ("5 people", "five people"),
        ("50 %", "half of them"),
        ("50 %", "一半的人"),
        ("67 %", "two-thirds of them"),
        ("$5 million", "500万美元"),
        ("5", "5 km"),
        ("over 60%", "67%"),
        ("more than 30", "36"),
        ("at least 20", "27"),
        ("20 or more", "27"),
        ("fewer than 50", "43"),
        ("no more than 50", "43"),
        ("more than $2 billion", "$2.7 billion"),
        ("over 60%", "over 60%"),
        ("超过60%", "67%"),
        ("超过500万人", "560万人"),
        ("不到50人", "43人"),
        ("50人以下", "43人"),
        ("不超过50人", "43人"),
        ("25 basis points", "0.25 percentage points"),
    ],
    Match.MISSING: [
        ("3,512,000", "3.5 million"),
        ("3.6 million", "3,512,000"),
        ("100", "90"),
        ("12", "10"),
        ("9.9 billion", "9.9 million"),
        ("7 people", "no figure"),
        ("3亿", "3万"),
        ("over 60%", "57%"),
        ("more than 30", "366"),
        ("more than 30", "36%"),
        ("fewer than 50", "53"),
        ("no fewer than 50", "43"),
        ("不到50人", "53人"),
        ("不少于50人", "43人"),
    ],
    Match.OTHER_UNIT: [
        ("5 miles", "5 km"),
        ("15-month", "15-year"),
        ("5公里", "5 hours"),
        ("3美元", "3 euros"),
    ],
}


def match(claim: str, evidence: str) -> Match:
    (quantity,) = quantities(claim)
    return Figures(quantities(evidence)).look_up(quantity)


def test_whether_evidence_says_a_quantity() -> None:
    rows = [(found, claim, text) for found, pairs in MATCHES.items() for claim, text in pairs]
    assert [row for row in rows if match(*row[1:]) is not row[0]] == []


@given(st.integers(min_value=3000, max_value=10**9))
def test_every_number_is_found_in_itself_however_written(value: int) -> None:
    assert match(f"{value:,}", f"exactly {value} of them") is Match.FOUND


@given(st.text(alphabet="0123456789,.%$ kmbn一二百分之半万亿年halftwo-thirds", max_size=60))
def test_any_text_is_read_in_order_with_finite_values(text: str) -> None:
    found = quantities(text)
    assert all(math.isfinite(r.value) for q in found for r in q.readings)
    assert [q.start for q in found] == sorted(q.start for q in found)
    assert all(0 <= q.start < q.end <= len(text) for q in found)
