from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.checks.calendars import Calendar
from judge.checks.dates import dates
from tests.growth import LINEAR, growth


@pytest.mark.parametrize(
    ("evidence", "claim", "held"),
    [
        ("3 May 2021", "in 2021", True),
        ("2021年5月3日", "May 2021", True),
        ("in 2021", "3 May 2021", False),
        ("May 3 of the year 2021", "2021-05-03", True),
        ("3 May 2020, and 2021", "3 May 2021", False),
        ("03/05/2021", "March 5, 2021", True),
        ("03/05/2021", "May 3, 2021", True),
        ("03/05/2021", "May 4, 2021", False),
        ("1995", "the 1990s", True),
        ("1995", "90年代", True),
        ("the 1990s", "1995", False),
        ("the 1980s and the 1990s", "in 1985", False),
        ("1895", "19世纪", True),
        ("the twentieth century", "the 20th century", True),
        ("Monday", "周一", True),
        ("周二", "Monday", False),
    ],
)
def test_the_vague_follows_from_the_exact(evidence: str, claim: str, *, held: bool) -> None:
    (said,) = dates(claim)
    assert Calendar(dates(evidence)).covers(said) is held


def test_a_year_is_known_from_its_days_and_not_from_its_decade() -> None:
    calendar = Calendar(dates("3 May 2021, the 1990s"))
    assert calendar.has(2021)
    assert not calendar.has(1990)


@given(st.text(alphabet="0123456789年月日世纪代周一二十 May3rd,-/.'s JuneMonday", max_size=60))
def test_every_date_follows_from_itself(text: str) -> None:
    found = dates(text)
    assert all(map(Calendar(found).covers, found))


def test_many_dates_are_looked_up_among_many_in_linear_time() -> None:
    def made(size: int) -> str:
        days = (date(2000, 1, 1) + timedelta(days=day) for day in range(size // 12))
        return ", ".join(map(str, days))

    def all_covered(text: str) -> bool:
        found = dates(text)
        return all(map(Calendar(found).covers, found))

    assert growth(all_covered, made, 4_000) < LINEAR
