import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.text.quantities import quantities
from judge.text.rounding import Match, look_up


def match(claim: str, evidence: str) -> Match:
    (quantity,) = quantities(claim)
    return look_up(quantity, quantities(evidence))


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
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
        ("$5 million", "500万美元"),
        ("5", "5 km"),
    ],
)
def test_the_same_or_a_rounding_of_it(claim: str, evidence: str) -> None:
    assert match(claim, evidence) is Match.FOUND


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("3,512,000", "3.5 million"),
        ("3.6 million", "3,512,000"),
        ("100", "90"),
        ("12", "10"),
        ("9.9 billion", "9.9 million"),
        ("7 people", "no figure"),
        ("3亿", "3万"),
    ],
)
def test_more_digits_or_other_ones_are_missing(claim: str, evidence: str) -> None:
    assert match(claim, evidence) is Match.MISSING


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [("5 miles", "5 km"), ("15-month", "15-year"), ("5公里", "5 hours"), ("3美元", "3 euros")],
)
def test_the_number_with_another_unit(claim: str, evidence: str) -> None:
    assert match(claim, evidence) is Match.OTHER_UNIT


@given(st.integers(min_value=3000, max_value=10**9))
def test_every_number_is_found_in_itself_however_written(value: int) -> None:
    assert match(f"{value:,}", f"exactly {value} of them") is Match.FOUND
