from itertools import product
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.cli.show import parse_cell
from judge.errors import ConfigError
from judge.records import Quadrant
from judge.records.quadrant import QuadrantWord

WORDS = get_args(QuadrantWord)
CELLS = [
    Quadrant(
        answerable=answerable,
        retrieved=retrieved,
        abstained=abstained,
        silent=silent,
        faithful=faithful,
        correct=correct,
        signature="s",
    ).words
    for answerable, retrieved, abstained, silent in product((True, False), repeat=4)
    for faithful, correct in product((True, False, None), repeat=2)
]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("wrong", {"wrong"}),
        ("retrieved,wrong", {"retrieved", "wrong"}),
        (" Wrong , RETRIEVED,wrong", {"retrieved", "wrong"}),
        ("unanswerable,abstained", {"unanswerable", "abstained"}),
        ("silent", {"silent"}),
        ("missed,silent", {"missed", "silent"}),
        ("retrieved，wrong、answered", {"retrieved", "wrong", "answered"}),
    ],
)
def test_words_in_any_order(text: str, words: set[QuadrantWord]) -> None:
    assert parse_cell(text) == words


@pytest.mark.parametrize("text", ["retrieved,", "right", "retrieved wrong", "检索到"])
def test_an_unknown_word_is_named_and_the_known_ones_are_listed(text: str) -> None:
    with pytest.raises(ConfigError, match=r"no word '.*'; there are: answerable, unanswerable, "):
        parse_cell(text)


@pytest.mark.parametrize("text", ["", ",", " ， "])
def test_no_word_at_all(text: str) -> None:
    with pytest.raises(ConfigError, match=r"names no word; there are: answerable, unanswerable, "):
        parse_cell(text)


@pytest.mark.parametrize(
    ("text", "both"),
    [
        ("faithful,unfaithful", "'faithful' and 'unfaithful'"),
        ("wrong,retrieved,missed", "'retrieved' and 'missed'"),
        ("unanswerable,missed", "'unanswerable' and 'missed'"),
        ("unanswerable,wrong", "'unanswerable' and 'wrong'"),
        ("correct,abstained", "'correct' and 'abstained'"),
        ("answered,abstained", "'answered' and 'abstained'"),
        ("silent,abstained", "'silent' and 'abstained'"),
        ("unjudged,silent", "'unjudged' and 'silent'"),
    ],
)
def test_words_that_no_answer_bears_together(text: str, both: str) -> None:
    with pytest.raises(ConfigError, match=f"no answer is both {both}"):
        parse_cell(text)


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5))
def test_words_are_taken_where_some_cell_has_them_all(words: list[str]) -> None:
    possible = any(set(words) <= set(cell) for cell in CELLS)
    try:
        taken = parse_cell(",".join(words)) == set(words)
    except ConfigError:
        taken = False
    assert taken == possible
