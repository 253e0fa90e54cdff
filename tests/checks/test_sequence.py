from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.checks.sequence import Token, sequence
from judge.checks.values import figures
from judge.text.words import words


def tokens(text: str) -> list[Token]:
    said = words(text)
    return sequence(said, figures(text, said))


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("rain for 45 days", ["rain", "for", "#45", "day"]),
        ("rain for forty-five days", ["rain", "for", "#45", "day"]),
        ("下了四十五天雨", ["下", "了", "#45", "天", "雨"]),
        ("5 million", ["#5000000"]),
        ("one day", ["one", "day"]),
        ("70", ["#70"]),
        ("vitamin B12 5", ["vitamin", "b12", "#5"]),
        ("", []),
    ],
)
def test_numbers_stand_for_the_words_they_are_made_of(text: str, keys: list[str]) -> None:
    assert [token.key for token in tokens(text)] == keys


@given(st.text(alphabet="ab 1,二十天.%", max_size=40))
def test_tokens_follow_one_another_without_overlap(text: str) -> None:
    found = tokens(text)
    assert all(0 <= token.start < token.end <= len(text) for token in found)
    assert all(before.end <= after.start for before, after in pairwise(found))
