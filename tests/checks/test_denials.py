import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.checks.denials import denied, denies, negations
from judge.checks.sequence import Token, sequence
from judge.checks.values import figures
from judge.text.words import words
from tests.growth import LINEAR, growth


def tokens(text: str) -> list[Token]:
    said = words(text)
    return sequence(said, figures(text, said))


def under(text: str) -> list[str]:
    found = tokens(text)
    return [found[at].key for at in sorted(denied(found, negations(text, found)))]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("The drug was not approved in May.", ["approv"]),
        ("The drug was not yet approved.", ["approv"]),
        ("The drug was approved.", []),
        ("It didn't rain, nothing fell.", ["rain", "fell"]),
        ("It did not cost 45 euros.", ["cost"]),
        ("Not that of the drug.", []),
        ("公司不会裁员。", ["裁"]),
        ("公司没有裁员。", ["裁"]),
        ("公司未来会裁员。", []),
        ("公司不仅裁员，不少人走了。", []),
        ("不锈钢，无锡，不得不", []),
        ("not", []),
    ],
)
def test_the_first_telling_word_behind_a_negation_is_denied(text: str, keys: list[str]) -> None:
    assert under(text) == keys


@given(st.lists(st.sampled_from(["not", "rain", "the", "不", "未来", "裁员", "45", "没有"])))
def test_no_more_is_denied_than_there_are_negations(parts: list[str]) -> None:
    text = " ".join(parts)
    found = tokens(text)
    denials = negations(text, found)
    reached = denied(found, denials)
    assert len(reached) <= len(denials) <= len(found)
    assert all(0 <= at < len(found) for at in reached)


def test_time_is_linear() -> None:
    assert growth(under, lambda size: "不" * size, 4_000) < LINEAR


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
def test_denies_both_ways(one: str, two: str) -> None:
    assert denies(one, [two])
    assert denies(two, [one])
    assert not denies(one, [one])
    assert not denies(two, [two])


@pytest.mark.parametrize(
    ("claim", "passages"),
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
def test_not_denies(claim: str, passages: list[str]) -> None:
    assert not denies(claim, passages)


@given(st.text(), st.lists(st.text(), max_size=3))
def test_any_text_is_read_and_none_denies_itself(claim: str, others: list[str]) -> None:
    assert isinstance(denies(claim, others), bool)
    assert not denies(claim, [claim])
