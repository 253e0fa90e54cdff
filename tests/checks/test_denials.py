import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.checks.denials import denied, negations
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
