import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.checks.units import unit_before, unit_behind


@pytest.mark.parametrize(
    ("text", "kind", "factor"),
    [
        (" km", "length", 1000),
        (" kilometres wide", "length", 1000),
        ("公里", "length", 1000),
        ("kg", "mass", 1000),
        ("千克重", "mass", 1000),
        (" per cent", "percent", 1),
        ("%", "percent", 1),
        ("个百分点", "percent", 1),
        ("成", "percent", 10),
        ("-hour week", "time", 3600),
        ("小时", "time", 3600),
        (" min", "time", 60),
        ("分钟", "time", 60),
        (" US dollars", "usd", 1),
        ("美元", "usd", 1),
        ("°C", "celsius", 1),
        ("摄氏度", "celsius", 1),
        (" degrees Celsius", "celsius", 1),
        (" square metres", "area", 1),
        ("平方公里", "area", 1e6),
        ("-year-old", "months", 12),
        ("岁", "months", 12),
    ],
)
def test_a_unit_behind_a_number(text: str, kind: str, factor: float) -> None:
    found = unit_behind("5" + text, 1)
    assert found is not None
    assert (found.units[0].kind, found.units[0].factor) == (kind, factor)
    assert 1 < found.edge <= len("5" + text)


@pytest.mark.parametrize("behind", ["", ".", ",", ")", ";", ". Then", ".Then", "。"])
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (" minutes", "time"),
        (" mg", "mass"),
        (" km", "length"),
        (" U.S. dollars", "usd"),
        (" sq. ft", "area"),
        (" m²", "area"),
        (" mL", "volume"),
        (" km/h", "metric speed"),
        (" °C", "celsius"),
        ("%", "percent"),
        (" basis points", "percent"),
        (" years", "months"),
        (" kcal", "calories"),
        (" GB", "bytes"),
        (" MHz", "hertz"),
        (" kW", "watts"),
    ],
)
def test_a_unit_before_the_end_of_a_clause(text: str, kind: str, behind: str) -> None:
    found = unit_behind(f"5{text}{behind}", 1)
    assert found is not None
    assert found.units[0].kind == kind
    assert found.edge == len(f"5{text}")


@pytest.mark.parametrize(
    "text", [" people", " of them", "", ".", " mad cows", "人", " kmx", " has"]
)
def test_what_is_no_unit(text: str) -> None:
    assert unit_behind("5" + text, 1) is None


def test_a_pound_is_money_or_weight() -> None:
    found = unit_behind("6 pounds", 1)
    assert found is not None
    assert {unit.kind for unit in found.units} == {"gbp", "mass"}


@pytest.mark.parametrize(
    ("text", "kinds"),
    [("US$", {"usd"}), ("£", {"gbp"}), ("EUR ", {"eur"}), ("¥", {"cny", "jpy"}), ("HK$", {"hkd"})],
)
def test_money_before_a_number(text: str, kinds: set[str]) -> None:
    found = unit_before(f"for {text}5", 4 + len(text))
    assert found is not None
    assert {unit.kind for unit in found.units} == kinds
    assert found.edge == 4


def test_a_bare_dollar_may_be_anyones() -> None:
    found = unit_before("$5", 1)
    assert found is not None
    assert {"usd", "aud", "cad"} <= {unit.kind for unit in found.units}


@given(st.text(max_size=40), st.integers(0, 40))
def test_any_text_at_any_place_is_safe(text: str, place: int) -> None:
    place = min(place, len(text))
    behind, before = unit_behind(text, place), unit_before(text, place)
    assert behind is None or place < behind.edge <= len(text)
    assert before is None or 0 <= before.edge < place
