import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.judges.similarity.align import Laid
from judge.judges.similarity.index import Vocabulary
from judge.judges.similarity.senses import Sense
from judge.judges.similarity.terms import Kind, Term, terms
from judge.text.words import CONTENT

CAT = Sense("cat", frozenset({"cat", "pet"}), frozenset({"dog"}))


def term(
    key: str,
    kind: Kind = Kind.WORD,
    weight: float = 0.5,
    start: int = 0,
    sense: Sense | None = None,
) -> Term:
    return Term(key, kind, weight, name=False, start=start, end=start + 1, sense=sense)


def lay(*sentences: list[Term]) -> Laid:
    return Laid.lay(sentences, Vocabulary.of(sentences))


def test_rows_of_several_sentences_end_to_end() -> None:
    a, b, c = term("a"), term("b"), term("c")
    laid = lay([a, b], [c, a, b])
    assert laid.rows == (a, b, c, a, b)
    assert laid.owner.tolist() == [0, 0, 1, 1, 1]
    assert laid.first.tolist() == [0, 2]
    assert laid.number[0] == laid.number[3] != laid.number[1] == laid.number[4]


def test_a_sentence_without_terms_has_a_row_of_nothing() -> None:
    laid = lay([], [term("a")], [])
    assert laid.owner.tolist() == [0, 1, 2]
    assert laid.first.tolist() == [0, 1, 2]
    assert laid.item.tolist() == [False, True, False]
    assert laid.weight.tolist() == [0, 0.5, 0]
    assert (laid.number[[0, 2]] == -1).all()
    assert laid.without(np.zeros(3, np.bool_)) == ((), (term("a"),), ())


def test_what_the_vocabulary_calls_a_row() -> None:
    known = [term("cat", sense=CAT), term("walrus")]
    vocabulary = Vocabulary.of([known])
    laid = Laid.lay([[*known, term("zebra")]], vocabulary)
    number = vocabulary.number
    assert laid.number.tolist() == [number["cat"], number["walrus"], -1]
    assert laid.said.tolist() == [number["@cat"], -1, -1]
    assert laid.rival.tolist() == [number["≠cat"], -1, -1]


def test_an_item_is_a_number_a_negation_or_a_word_that_says_something() -> None:
    laid = lay(
        [
            term("zebra", weight=0.9),
            term("the", weight=0.1),
            term("brink", weight=CONTENT),
            term("#45", Kind.NUMBER, 1.0),
            term("zebra the", Kind.PAIR, 0.5),
            term("zebra…brink", Kind.SKIP, 0.5),
            term("!", Kind.NEGATION, 1.0),
        ]
    )
    assert laid.item.tolist() == [True, False, False, True, False, False, True]


@pytest.mark.parametrize(
    ("items", "late"), [(1, []), (2, []), (3, [2]), (4, [3]), (5, [4]), (6, [4, 5]), (9, [6, 7, 8])]
)
def test_late_is_the_last_third(items: int, late: list[int]) -> None:
    laid = lay([term("zebra")], [term(f"w{i}", start=i) for i in range(items)], [term("zebra")])
    assert (np.flatnonzero(laid.late) - 1).tolist() == late


def test_late_goes_by_place_and_counts_items_alone() -> None:
    laid = lay(
        [
            term("c", start=20),
            term("the", weight=0.1, start=30),
            term("b", start=10),
            term("c b", Kind.PAIR, start=40),
            term("#45", Kind.NUMBER, 1.0, start=0),
        ]
    )
    assert laid.late.tolist() == [True, False, False, False, False]


def test_totals_and_shares_per_sentence() -> None:
    laid = lay(
        [term("a", weight=0.25), term("b", weight=0.75), term("a b", Kind.PAIR, 0.5)],
        [],
        [term("a", weight=0.25), term("#45", Kind.NUMBER, 1.0)],
    )
    assert laid.sums(np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])).tolist() == [7, 8, 48]
    assert laid.sums(np.ones((6, 2))).tolist() == [[3, 3], [1, 1], [2, 2]]
    assert laid.shares(Kind.WORD).tolist() == [0.25, 0.75, 0, 0, 1, 0]
    assert laid.shares(Kind.PAIR).tolist() == [0, 0, 1, 0, 0, 0]
    assert laid.shares(Kind.SKIP).tolist() == [0] * 6


def test_only_words_and_numbers_are_named_as_lost() -> None:
    a, b, number = term("a"), term("b"), term("#45", Kind.NUMBER, 1.0)
    pair, denial = term("a b", Kind.PAIR), term("!", Kind.NEGATION)
    laid = lay([a, b, pair], [number, denial, a])
    present = np.array([True, False, False, False, False, True])
    assert laid.without(present) == ((b,), (number,))


@given(st.lists(st.text(max_size=30), min_size=1, max_size=4))
def test_any_sentences_can_be_laid(sentences: list[str]) -> None:
    laid = lay(*(terms(sentence) for sentence in sentences))
    assert len(laid.first) == len(sentences)
    assert laid.owner[laid.first].tolist() == list(range(len(sentences)))
    assert not (laid.late & ~laid.item).any()
    for kind in Kind:
        whole = laid.sums(laid.shares(kind))
        assert (np.isclose(whole, 1) | (whole == 0)).all()
