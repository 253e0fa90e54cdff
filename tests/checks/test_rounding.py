import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.checks.quantities import quantities
from judge.checks.rounding import Figures, Match
from tests.growth import LINEAR, growth


def match(claim: str, evidence: str) -> Match:
    (quantity,) = quantities(claim)
    return Figures(quantities(evidence)).look_up(quantity)


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
        ("over 60%", "57%"),
        ("more than 30", "366"),
        ("more than 30", "36%"),
        ("fewer than 50", "53"),
        ("no fewer than 50", "43"),
        ("不到50人", "53人"),
        ("不少于50人", "43人"),
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


def test_a_figure_has_a_value_in_whatever_unit() -> None:
    assert Figures(quantities("2021 m and 7")).has(2021)
    assert not Figures(quantities("2021 m and 7")).has(2020)


def test_many_figures_are_looked_up_among_many_in_linear_time() -> None:
    def made(size: int) -> str:
        return ", ".join(f"{3 * number} km" for number in range(1, size // 10))

    def all_found(text: str) -> bool:
        found = quantities(text)
        figures = Figures(found)
        return all(figures.look_up(each) is Match.FOUND for each in found)

    assert growth(all_found, made, 4_000) < LINEAR
