"""Worked by hand: whether one text says otherwise than another."""

from hypothesis import given, settings
from hypothesis import strategies as st

from judge.checks.contradictions import contradiction


def denies(claim: str, passages: list[str]) -> bool:
    return contradiction(claim, passages) is not None


# Of each claim, what a denial in it reaches: the same claim without it is at odds with it.
DENIED = {
    "The drug was not approved in May.": "The drug was approved.",
    "The drug was not yet approved.": "The drug was approved.",
    "It didn't rain in Porto.": "It will rain in Porto.",
    "It did not cost 45 euros.": "It did cost 45 euros.",
    "公司不会裁员。": "公司会裁员。",
    "公司没有裁员。": "公司裁员。",
}
# What looks like a denial, and is none.
PLAIN = {
    "公司未来会裁员。": "公司会裁员。",
    "公司不仅裁员。": "公司裁员。",
    "锅是不锈钢的。": "锅是钢的。",
    "他不得不走。": "他走。",
}


def test_a_negation_denies_the_first_telling_word_behind_it() -> None:
    assert [row for row in DENIED.items() if not denies(row[0], [row[1]])] == []
    assert [row for row in PLAIN.items() if denies(row[0], [row[1]])] == []


BOTH_WAYS = [
    ("The deposit is refunded.", "The deposit is not refunded."),
    ("Room B12 costs 45 euros.", "Room B12 does not cost 45 euros."),
    ("The fee is forty-five euros.", "The fee is not 45 euros."),
    ("Breakfast is included in the rate.", "No, breakfast is not included in the rate."),
    ("The audit found no irregularities.", "The audit found irregularities."),
    ("押金将予以退还。", "押金将不予退还。"),
    ("审计没有发现违规行为。", "审计发现了违规行为。"),
    ("房价包含早餐。", "房价不包含早餐。"),
]
NEITHER: list[tuple[str, list[str]]] = [
    # Both deny, each in its own words.
    ("Children may not use the pool.", ["Children are not allowed to use the pool."]),
    ("Breakfast is not included.", ["No, breakfast is not included."]),
    # What is denied is something else.
    ("Breakfast is served.", ["Breakfast is served, lunch is not."]),
    ("Breakfast is served.", ["Lunch is not served. Breakfast is served daily."]),
    ("Breakfast is served.", ["Lunch is not served.", "Breakfast is served daily."]),
    ("早餐免费。", ["早餐免费，午餐不免费。"]),
    ("不仅早餐免费。", ["早餐免费。"]),
    # Nothing in common, or nothing at all.
    ("It rained.", ["The shop is not open."]),
    ("It rained.", []),
    ("", ["It did not rain."]),
]


def test_one_denies_what_the_other_says_both_ways() -> None:
    pairs = BOTH_WAYS + [(two, one) for one, two in BOTH_WAYS]
    assert [pair for pair in pairs if not denies(pair[0], [pair[1]])] == []
    assert [one for one, _ in pairs if denies(one, [one])] == []


def test_another_thing_denied_is_no_denial() -> None:
    assert [row for row in NEITHER if denies(*row)] == []


def test_what_stands_closest_decides_wherever_it_stands() -> None:
    assert denies("The deposit is not refunded.", ["It rained. The deposit is refunded. Ask us."])
    assert denies("The deposit is refunded.", ["It rained, the deposit is not refunded."])


@settings(deadline=None)
@given(st.text(), st.lists(st.text(), max_size=3))
def test_any_text_is_read_and_none_denies_itself(claim: str, others: list[str]) -> None:
    assert isinstance(denies(claim, others), bool)
    assert not denies(claim, [claim])
