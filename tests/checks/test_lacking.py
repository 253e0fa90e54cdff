import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.checks.lacking import Numbers


@pytest.mark.parametrize(
    ("claim", "other", "lost"),
    [
        ("会议室在3楼。", "会议室在5楼。", ["3"]),
        ("第3届", "第5届", ["3"]),
        ("在三号楼。", "在4号楼。", ["三"]),
        ("坐7路", "坐9路", ["7"]),
        ("Take line 7.", "Take line 9.", ["7"]),
        ("There are three doors.", "There are 4 doors.", ["three"]),
        ("They won 3-2.", "They won 3-1.", ["2"]),
        ("比分是2:1", "比分是3:1", ["2"]),
        ("1/2 of them", "1/3 of them", ["2"]),
        ("They won 98:95.", "They won 98:96.", ["95"]),
        ("It was -5 °C.", "It was 5 °C.", ["5"]),
        ("It was 5 °C.", "It was −5 °C.", ["5"]),
        ("零下5度", "5度", ["5"]),
        ("minus 5", "minus 6", ["5"]),
        ("-25 °C", "25 °C", ["25"]),
        ("It is negative 5.", "It is 5.", ["5"]),
    ],
)
def test_a_number_that_the_other_lacks(claim: str, other: str, lost: list[str]) -> None:
    assert Numbers([other]).lack(claim) == lost


@pytest.mark.parametrize(
    ("claim", "other"),
    [
        ("Three doors", "3 doors"),
        ("第3届", "第三届"),
        ("3-2", "3:2"),
        ("from 7 to 9", "7-9"),
        ("零下5度", "-5 °C"),
        ("负5度", "零下5度"),
        # A range, a hyphen and another figure are no signs.
        ("5 kg", "3-5 kg"),
        ("5 kg", "grade A-5 kg"),
        ("5 kg", "-5 kg or 5 kg"),
        ("one of them", "some of them"),  # a mere word
        ("3 May 2021", "2021年5月3日"),  # a date is looked up as one
        ("2 years", "24 months"),  # and so is what has a unit
        ("19 people", "20 people"),  # what is large is looked up everywhere
        ("2.5", "3.5"),  # and so is what is no whole number
        ("The B12 bus", "the bus"),
    ],
)
def test_a_number_that_is_there_or_is_looked_up_elsewhere(claim: str, other: str) -> None:
    assert Numbers([other]).lack(claim) == []


def test_the_question_may_hold_it() -> None:
    assert Numbers(["yes", "Does line 7 go there?"]).lack("Line 7 goes there.") == []


@given(st.text(alphabet="0123456789-−:/ 三五第零下负a.", max_size=40))
def test_nothing_is_lacking_of_itself(text: str) -> None:
    assert Numbers([text]).lack(text) == []
