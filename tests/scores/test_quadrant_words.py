from itertools import product
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.records import Quadrant
from judge.records.quadrant import QuadrantWord
from judge.scores.quadrants import read_words

WORDS = get_args(QuadrantWord)
QUADRANTS = [
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


def test_words_in_any_order() -> None:
    rows = {
        "wrong": "wrong",
        "retrieved,wrong": "retrieved wrong",
        " Wrong , RETRIEVED,wrong": "retrieved wrong",
        "unanswerable,abstained": "abstained unanswerable",
        "missed,silent": "missed silent",
        "retrieved，wrong、answered": "answered retrieved wrong",
    }
    assert {text: " ".join(sorted(read_words(text))) for text in rows} == rows


def test_what_is_no_quadrant_is_said() -> None:
    rows = {
        "retrieved,": "has no word ''; there are: answerable, unanswerable, ",
        "retrieved wrong": "has no word 'retrieved wrong'; there are: ",
        "检索到": "has no word '检索到'",
        "": "names no word; there are: answerable, unanswerable, ",
        " ， ": "names no word",
        "faithful,unfaithful": "'faithful' and 'unfaithful'",
        "wrong,retrieved,missed": "'retrieved' and 'missed'",
        "unanswerable,missed": "'unanswerable' and 'missed'",
        "correct,abstained": "'correct' and 'abstained'",
        "unjudged,silent": "no answer is both 'unjudged' and 'silent'",
    }
    for text, says in rows.items():
        with pytest.raises(ValueError, match=r"there are|both") as told:
            read_words(text)
        assert says in str(told.value)


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5))
def test_words_are_taken_where_some_quadrant_has_them_all(words: list[str]) -> None:
    possible = any(set(words) <= set(quadrant) for quadrant in QUADRANTS)
    try:
        taken = read_words(",".join(words)) == set(words)
    except ValueError:
        taken = False
    assert taken == possible
