import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.checks.spoken import spoken


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("both", 2),
        ("Twice", 2),
        ("a dozen", 12),
        ("the fifth", 1 / 5),
        ("second", 2),
        ("a quarter", 0.25),
        ("three quarters", 0.75),
        ("三分之二", 2 / 3),
        ("一半", 0.5),
    ],
)
def test_numbers_without_a_number_word(text: str, value: float) -> None:
    (found,) = spoken(text)
    assert found.readings[0].value == pytest.approx(value)


def test_a_fifth_is_a_share_and_a_place() -> None:
    (found,) = spoken("fifth")
    assert [reading.value for reading in found.readings] == pytest.approx([0.2, 20, 5])


def test_a_year_is_twelve_months() -> None:
    (found,) = spoken("a year")
    assert [(r.value, r.unit.kind if r.unit else "") for r in found.readings] == [(12, "months")]


@given(st.text(alphabet="half a-threqus二分之一半 ", max_size=60))
def test_any_text_is_read_in_order(text: str) -> None:
    starts = [found.start for found in spoken(text)]
    assert starts == sorted(starts)
