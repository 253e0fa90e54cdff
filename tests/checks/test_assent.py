"""Worked by hand: what a sentence answers to a question of yes or no."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.checks.assent import Assent, proposal

PARK = "Do students need a permit to park?"
PARK_ZH = "学生停车需要许可证吗？"


@pytest.mark.parametrize(
    ("query", "text", "yes", "bare"),
    [
        (PARK, "Yes", True, True),
        (PARK, "No.", False, True),
        (PARK, "No, they do not.", False, True),
        (PARK, "They do.", True, True),
        (PARK, "They don't.", False, True),
        (PARK, "They do not", False, True),
        ("Can visitors park here?", "They can’t.", False, True),
        ("可以在院子里停车吗？", "可以的。", True, True),
        (PARK, "Yes, students need a permit.", True, True),
        (PARK, "Students need a permit to park on weekdays.", True, False),
        (PARK, "Students do not need a permit to park.", False, True),
        (PARK_ZH, "需要。", True, True),
        (PARK_ZH, "不需要", False, True),
        (PARK_ZH, "学生停车不需要许可证。", False, True),
        (PARK_ZH, "学生白天停车需要许可证。", True, False),
        ("公司有没有食堂？", "没有", False, True),
        ("公司有没有食堂？", "公司有食堂。", True, True),
        ("该方案是否包括牙科治疗？", "否", False, True),
        # What is forbidden is not allowed, and after is not before.
        ("Can staff smoke in the yard?", "Staff are forbidden to smoke in the yard.", False, True),
        ("Is breakfast included?", "Breakfast is excluded.", False, True),
        ("Was the bridge built before 1950?", "The bridge was built after 1950.", False, True),
        ("员工可以在走廊吸烟吗？", "走廊禁止员工吸烟。", False, True),
    ],
)
def test_an_answer(query: str, text: str, yes: bool, bare: bool) -> None:  # noqa: FBT001
    asked = proposal(query)
    assert asked is not None
    assert asked.assent(text) == Assent(yes=yes, bare=bare)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The library is closed.",
        # "No" has a noun beside it.
        "No staff live on campus.",
        # What is denied is not what was asked.
        "Students who do not live here need a permit to park.",
        "图书馆关门。",
    ],
)
def test_no_answer(text: str) -> None:
    asked = proposal(PARK)
    assert asked is not None
    assert asked.assent(text) is None


@pytest.mark.parametrize(
    ("query", "text"),
    [
        # One word in common is no answer, if it is all that the question has.
        ("Is breakfast included?", "Breakfast costs extra."),
        # At odds with a word of the question, and more is said, or denied.
        ("Is breakfast included?", "Breakfast is excluded at weekends."),
        ("Can staff smoke in the yard?", "Staff are not forbidden to smoke in the yard."),
    ],
)
def test_it_cannot_be_told(query: str, text: str) -> None:
    asked = proposal(query)
    assert asked is not None
    assert asked.assent(text) is None


@pytest.mark.parametrize(
    "query",
    [
        "",
        "Who needs a permit?",
        "Do students or teachers need a permit?",
        "Don't students need a permit?",
        "学生还是老师需要许可证？",
        "学生不需要许可证吗？",
        "谁需要许可证？",
        "Is it? " * 100,
    ],
)
def test_no_such_question(query: str) -> None:
    assert proposal(query) is None


@given(st.text(), st.text())
def test_any_text_is_read(query: str, text: str) -> None:
    for each in (query, f"Is {query}?", f"{query}吗？"):
        asked = proposal(each)
        assert asked is None or asked.assent(text) is None or asked.assent(text)
