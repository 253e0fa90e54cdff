"""Worked by hand: does one text deny what the other says?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.checks.opposition import opposed


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("The deposit is refunded.", "The deposit is not refunded."),
        ("Breakfast is included in the rate.", "No, breakfast is not included in the rate."),
        ("The audit found no irregularities.", "The audit found irregularities."),
        ("押金将予以退还。", "押金将不予退还。"),
        ("审计没有发现违规行为。", "审计发现了违规行为。"),
        ("房价包含早餐。", "房价不包含早餐。"),
    ],
)
def test_opposed_both_ways(one: str, two: str) -> None:
    assert opposed(one, [two])
    assert opposed(two, [one])
    assert not opposed(one, [one])
    assert not opposed(two, [two])


@pytest.mark.parametrize(
    ("claim", "segments"),
    [
        # Both deny, each in its own words.
        ("Children may not use the pool.", ["Children are not allowed to use the pool."]),
        ("Breakfast is not included.", ["No, breakfast is not included."]),
        # What is denied is something else.
        ("Breakfast is served.", ["Breakfast is served, lunch is not."]),
        ("Breakfast is served.", ["Lunch is not served.", "Breakfast is served daily."]),
        ("早餐免费。", ["早餐免费，午餐不免费。"]),
        ("不仅早餐免费。", ["早餐免费。"]),
        # Nothing in common, or nothing at all.
        ("It rained.", ["The shop is not open."]),
        ("It rained.", []),
        ("", ["It did not rain."]),
    ],
)
def test_not_opposed(claim: str, segments: list[str]) -> None:
    assert not opposed(claim, segments)


@given(st.text(), st.lists(st.text(), max_size=3))
def test_any_text_is_read_and_none_opposes_itself(claim: str, others: list[str]) -> None:
    assert isinstance(opposed(claim, others), bool)
    assert not opposed(claim, [claim])
