"""Read by hand: what dates say, and what follows from them."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from judge.checks.dates import Calendar, Day, dates

THIRD = Day(2021, 5, 3)
SAME = (
    "3 May 2021", "3rd of May, 2021", "May 3, 2021", "May 3rd 2021", "MAY 3, 2021", "2021-05-03",
    "2021/5/3", "2021年5月3日", "2021 年 5 月 3 日", "二〇二一年五月三日",
)  # fmt: skip
READ: dict[str, list[Day]] = {
    "May 3rd": [Day(None, 5, 3)],
    "5月3日": [Day(None, 5, 3)],
    "十二月二十五日": [Day(None, 12, 25)],
    "Sept. 2021": [Day(2021, 9)],
    "二〇二一年五月": [Day(2021, 5)],
    "in 2021": [Day(2021)],
    "1939–45": [Day(1939), Day(1945)],
    "3-5 May 2021": [THIRD, Day(2021, 5, 5)],
    "in 2010 won the cup": [Day(2010)],
    "around 2010 they left": [Day(2010)],
    "on Monday": [Day(weekday=0)],
}
NONE = (
    "it may rain", "一周一次", "$2000", "12021", "version 10.1.2.3", "45/67/2021", "2021.5",
    "三个月", "the 10th floor", "2000 km away", "1000 mg daily", "EUR 2000", "about 2000 visitors",
    "555-1234",
)  # fmt: skip
ERAS = (
    "the 1990s", "the '90s", "90年代", "1990年代", "20世纪", "20世纪90年代", "the 19th century",
)  # fmt: skip


def test_one_day_in_many_hands() -> None:
    read = {text: [date[:1] + date[3:] for date in dates(f"on {text}.")] for text in SAME}
    assert read == {text: [((THIRD,), True)] for text in SAME}


def test_what_is_said_and_no_more() -> None:
    assert {text: [date.readings[0] for date in dates(text)] for text in READ} == READ


def test_what_is_no_date() -> None:
    assert [text for text in NONE if dates(text)] == []


def test_a_decade_or_a_century_is_taken_for_a_date_and_not_looked_up() -> None:
    read = {text: [date[:1] + date[3:] for date in dates(text)] for text in ERAS}
    assert read == {text: [((), False)] for text in ERAS}


def test_a_month_that_is_a_verb_too_needs_its_preposition() -> None:
    assert [date.certain for text in ("March on", "in March") for date in dates(text)] == [
        False,
        True,
    ]


FOLLOWS = [
    ("3 May 2021", "in 2021", True),
    ("2021年5月3日", "May 2021", True),
    ("in 2021", "3 May 2021", False),
    ("May 3 of the year 2021", "2021-05-03", True),
    ("3 May 2020, and 2021", "3 May 2021", False),
    ("03/05/2021", "March 5, 2021", True),
    ("03/05/2021", "May 3, 2021", True),
    ("03/05/2021", "May 4, 2021", False),
    ("the 1990s", "1995", False),
    ("Monday", "on Monday", True),
    ("Tuesday", "Monday", False),
]


def test_the_vague_follows_from_the_exact() -> None:
    assert [
        (evidence, claim, Calendar(dates(evidence)).covers(dates(claim)[0]))
        for evidence, claim, _ in FOLLOWS
    ] == FOLLOWS


def test_a_year_is_known_from_its_days_and_not_from_its_decade() -> None:
    calendar = Calendar(dates("3 May 2021, the 1990s"))
    assert calendar.has(2021)
    assert not calendar.has(1990)
    assert not calendar.has(2021.5)


@given(st.text(alphabet="0123456789年月日世纪代周一二十 May3rd,-/.'s JuneMonday", max_size=60))
def test_any_text_is_read_in_order_and_every_date_follows_from_itself(text: str) -> None:
    found = dates(text)
    assert all(0 <= date.start < date.end <= len(text) for date in found)
    assert all(one.start <= two.start for one, two in pairwise(found))
    assert all(Calendar(found).covers(date) for date in found if date.readings)


@given(st.dates())
def test_a_day_is_the_same_in_both_languages(day: object) -> None:
    year, month, number = (int(part) for part in str(day).split("-"))
    if not 1000 <= year <= 2999:
        return
    (one,) = dates(f"{year}-{month:02}-{number:02}")
    (two,) = dates(f"{year}年{month}月{number}日")
    assert one.readings == two.readings == (Day(year, month, number),)
