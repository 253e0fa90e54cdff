from itertools import product

import pytest

from judge.messages import LANGS, Messages
from judge.records import Cell
from judge.records.cell import CellWord
from judge.scores.totals.halves import place, row_of, table

SEEN, MISSED = "answerable retrieved ", "answerable missed "
WORSE = "answered unfaithful "
ROWS = {
    # The evidence was there.
    SEEN + "answered faithful correct": ("neither", "retrieved faithful correct"),
    SEEN + "answered faithful wrong": ("generation", "retrieved faithful wrong"),
    SEEN + "answered faithful uncompared": ("unknown", "retrieved faithful"),
    SEEN + WORSE + "correct": ("generation", "retrieved unfaithful correct"),
    SEEN + WORSE + "wrong": ("generation", "retrieved unfaithful wrong"),
    SEEN + WORSE + "uncompared": ("generation", "retrieved unfaithful"),
    SEEN + "answered unjudged correct": ("unknown", "retrieved correct"),
    SEEN + "answered unjudged wrong": ("generation", "retrieved wrong"),
    SEEN + "answered unjudged uncompared": ("unknown", "retrieved"),
    SEEN + "abstained": ("generation", "retrieved abstained"),
    SEEN + "silent": ("generation", "retrieved silent"),
    # It was not.
    MISSED + "answered faithful correct": ("neither", "missed faithful correct"),
    MISSED + "answered faithful wrong": ("retrieval", "missed faithful wrong"),
    MISSED + "answered faithful uncompared": ("retrieval", "missed"),
    MISSED + WORSE + "correct": ("retrieval", "missed unfaithful correct"),
    MISSED + WORSE + "wrong": ("retrieval", "missed unfaithful wrong"),
    MISSED + WORSE + "uncompared": ("retrieval", "missed"),
    MISSED + "answered unjudged correct": ("retrieval", "missed"),
    MISSED + "answered unjudged wrong": ("retrieval", "missed"),
    MISSED + "answered unjudged uncompared": ("retrieval", "missed"),
    MISSED + "abstained": ("retrieval", "missed abstained"),
    MISSED + "silent": ("retrieval", "missed silent"),
    # There is none: to abstain is right, and nothing else is.
    "unanswerable answered faithful": ("generation", "unanswerable faithful"),
    "unanswerable answered unfaithful": ("generation", "unanswerable unfaithful"),
    "unanswerable answered unjudged": ("generation", "unanswerable"),
    "unanswerable abstained": ("neither", "unanswerable abstained"),
    "unanswerable silent": ("neither", "unanswerable silent"),
}


def cells() -> set[tuple[CellWord, ...]]:
    """The words of every cell there can be."""
    sides = (True, False)
    return {
        Cell(
            answerable=answerable,
            retrieved=retrieved,
            abstained=abstained,
            silent=silent,
            faithful=faithful,
            correct=correct,
            signature="s",
        ).words
        for answerable, retrieved, abstained, silent in product(sides, repeat=4)
        for faithful, correct in product((*sides, None), repeat=2)
    }


def test_each_cell_has_the_row_that_is_meant() -> None:
    found = {" ".join(words): row_of(words) for words in cells()}
    assert {name: (row.half, row.when) for name, row in found.items()} == {
        name: (half, frozenset(when.split())) for name, (half, when) in ROWS.items()
    }


def test_no_row_is_without_a_cell() -> None:
    assert {place(words) for words in cells()} == set(range(len(table().row)))


def test_what_is_no_cell_has_no_row() -> None:
    with pytest.raises(ValueError, match="faithful"):
        place(("answered", "faithful"))


def test_each_row_means_something_else() -> None:
    texts = Messages.of("quadrants")
    for lang in LANGS:
        readings = [texts(f"reading.{row.reading}", lang) for row in table().row]
        assert len(set(readings)) == len(readings)
