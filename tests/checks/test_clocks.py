"""Read by hand: what clock times say, in both languages."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from judge.checks.clocks import times

# Hour and minute; two where the half of the day is not said.
READ: dict[str, list[tuple[str, ...]]] = {
    "from 9 a.m. to 6:30 p.m.": [("9:00",), ("18:30",)],
    "open 7-9 pm": [("7:00", "19:00"), ("21:00",)],
    "at 18:30": [("18:30",)],
    "at 6:30": [("6:30", "18:30")],
    "from 06:30": [("6:30",)],
    "9:00-17:00": [("9:00", "21:00"), ("17:00",)],
    "by 12 noon": [("12:00",)],
    "until midnight": [("0:00",)],
    "12 a.m.": [("0:00",)],
    "12:15 pm": [("12:15",)],
    "half past six": [("6:30", "18:30")],
    "quarter to five": [("4:45", "16:45")],
    "five o'clock": [("5:00", "17:00")],
    "from 8 to 13 h": [("8:00",), ("13:00",)],
    "上午九点至下午六点半": [("9:00",), ("18:30",)],
    "晚上11点半": [("23:30",)],
    "中午12点": [("12:00",)],
    "凌晨十二点": [("0:00",)],
    "三点一刻": [("3:15", "15:15")],
    "下午3时20分": [("15:20",)],
    "从6:30开始": [("6:30", "18:30")],
    "食堂七点开门": [("7:00", "19:00")],
    "十点结束": [("10:00", "22:00")],
    "请三点前到": [("3:00", "15:00")],
}
NONE = (
    "八小时", "第3点", "三点建议", "百分之三点五", "3个百分点", "12:61", "1:11:11", "noonday",
    "it is 5 m", "25:00", "a score of 3.14", "time",
)  # fmt: skip


def test_times_of_day() -> None:
    read = {
        text: [tuple(f"{m // 60}:{m % 60:02}" for m in time.minutes) for time in times(text)]
        for text in READ
    }
    assert read == READ
    assert all(time.certain for text in READ for time in times(text))
    counted = ("十点很重要", "这三点之后再谈", "三点前提", "九点开放性问题")
    assert [text for text in counted if any(time.certain for time in times(text))] == []


def test_what_is_no_time_of_day() -> None:
    assert [text for text in NONE if times(text)] == []


@given(st.text(alphabet="0123456789:. apm点半时分上下午至from to past noon六十", max_size=40))
def test_any_text_is_read_in_order(text: str) -> None:
    found = times(text)
    assert all(0 <= time.start < time.end <= len(text) for time in found)
    assert all(one.start <= two.start for one, two in pairwise(found))
    assert all(0 <= minute < 24 * 60 for time in found for minute in time.minutes)
