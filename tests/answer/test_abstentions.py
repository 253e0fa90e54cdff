"""Of the table of abstentions the half that may be looked at while rules are written.

The held half is measured by `tests/bench/abstentions.py`, which names none of its rows.
"""

from collections import Counter
from typing import Final

import pytest

from tests.abstentions import (
    ABSTENTION,
    CLAIM,
    LANGUAGES,
    Language,
    Reading,
    confusion,
    matrix,
    of,
    read,
    rows,
)

ROWS: Final = rows()

# Sentences of the learn half found to be what they are, and answers found to abstain, at least.
FLOORS: Final = {
    ("en", "abstention"): 68,  # of 68
    ("en", "abstained"): 60,  # of 61
    ("en", "pleasantry"): 17,  # of 18
    ("en", "meta"): 7,  # of 7
    ("en", "question"): 4,  # of 4
    ("en", "heading"): 1,  # of 1
    ("zh", "abstention"): 67,  # of 67
    ("zh", "abstained"): 60,  # of 60
    ("zh", "pleasantry"): 18,  # of 18
    ("zh", "meta"): 7,  # of 7
    ("zh", "question"): 4,  # of 4
    ("zh", "heading"): 1,  # of 1
}

# Of the held half totals alone: abstentions known, answers found to abstain, and claims hidden, the
# latter at most.
HELD: Final[dict[Language, tuple[int, int, int]]] = {
    "en": (62, 53, 0),
    "zh": (60, 51, 1),
}  # of 67, 60, 65 and 66, 59, 66


@pytest.fixture(scope="module")
def readings() -> list[Reading]:
    return read(row for row in ROWS if row.half == "learn")


def wrong(found: list[Reading]) -> str:
    """The confusion matrix of each language, and the rows that were misread."""
    lines = [f"{lang}\n{matrix(confusion(of(found, lang)))}" for lang in LANGUAGES]
    lines += [
        f"{one.row.id}: {' '.join(one.found)}, not {' '.join(one.row.kinds)}: {one.row.text!r}"
        for one in found
        if not one.right
    ]
    return "\n".join(["", *lines])


@pytest.mark.no_cover
def test_each_kind_is_known_as_often_as_before(readings: list[Reading]) -> None:
    right: Counter[tuple[str, str]] = Counter(
        (one.row.lang, label) for one in readings for label, name in one.pairs if label == name
    )
    right.update(
        (one.row.lang, "abstained") for one in readings if one.abstained and one.row.abstained
    )
    assert {key: min(right[key], floor) for key, floor in FLOORS.items()} == FLOORS, wrong(readings)


def test_no_claim_hides(readings: list[Reading]) -> None:
    assert not [one.row.id for one in readings if one.hides], wrong(readings)


def test_no_answer_with_a_claim_abstains(readings: list[Reading]) -> None:
    found = {one.row.id for one in readings if one.abstained and not one.row.abstained}
    assert not found, wrong(readings)


@pytest.mark.no_cover
def test_the_held_half_is_known_as_often_as_before() -> None:
    held = read(row for row in ROWS if row.half == "held")
    for lang in LANGUAGES:
        known, abstained, hidden = HELD[lang]
        found = of(held, lang)
        counts = confusion(found)
        assert counts[ABSTENTION, ABSTENTION] >= known, matrix(counts)
        assert sum(one.abstained and one.row.abstained for one in found) >= abstained
        assert counts[CLAIM, ABSTENTION] <= hidden, matrix(counts)
