"""Labelled answers, of which some abstain, and the kinds that the package finds in them.

The table, `abstentions.jsonl`, was written before the rules that it measures. A row:

`id lang category half`
    `half` is `learn` for the odd rows of each category and language, `held` for the even ones.
    Rules are written with the learn half alone; a row and its translation share a half.
`text`
    A sentence, or a whole short answer.
`kinds`
    The kind of each of its sentences, in order; further right kinds follow a bar.
`abstained`
    Whether the whole text, as an answer, abstains: it gives no answer and claims nothing.
`note`
    The reason, where the label is debatable.

The policy: silence of the evidence ("the documents", "the context", "the passage") is an
abstention; silence of a thing in the world (a contract, a law, a study, a report) is a claim, and
so is a fact that is unknown to all. A silence that takes a fact for granted ("do not mention that
the fee was doubled"), or shares its sentence with one, is a claim. Advice with a figure, an
address, a deadline or a place is a claim, other advice a pleasantry. In doubt it is a claim.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from judge import Sample, evaluate
from judge.records import SentenceKind, Status

TABLE: Final = Path(__file__).with_name("abstentions.jsonl")
CLAIM: Final = SentenceKind.CLAIM.value
ABSTENTION: Final = SentenceKind.ABSTENTION.value

# The least number of known abstentions and of answers found to abstain, the most hidden claims.
FLOORS: Final = {
    ("learn", "en"): (68, 60, 0),  # of 68, 61, 64
    ("learn", "zh"): (67, 60, 0),  # of 67, 60, 65
    ("held", "en"): (62, 53, 0),  # of 67, 60, 65
    ("held", "zh"): (60, 51, 1),  # of 66, 59, 66
}


class Labelled(NamedTuple):
    """A labelled text, and what the package found in it."""

    id: str
    half: tuple[str, str]
    """The half of the table, and the language."""
    kinds: list[tuple[str, str]]
    """The label and the found kind of each sentence; equal where the found kind is right."""
    abstains: bool
    """The label of the whole text."""
    found_abstaining: bool


@pytest.fixture(scope="module")
def table() -> list[Labelled]:
    rows = [json.loads(line) for line in TABLE.read_text("utf-8").splitlines()]
    samples = [Sample(qid=row["id"], answer=row["text"], chunks=()) for row in rows]
    return [
        Labelled(
            row["id"],
            (row["half"], row["lang"]),
            pairs(row["kinds"], [sentence.kind.value for sentence in result.sentences]),
            row["abstained"],
            result.status is Status.ABSTAINED,
        )
        for row, result in zip(rows, evaluate(samples), strict=True)
    ]


def pairs(labels: Sequence[str], found: Sequence[str]) -> list[tuple[str, str]]:
    """Pair labels with found kinds; `split` stands for all if the number of sentences differs."""
    found = found if len(found) == len(labels) else ["split"] * len(labels)
    choices = [label.split("|") for label in labels]
    return [
        (kind if kind in each else each[0], kind) for each, kind in zip(choices, found, strict=True)
    ]


@pytest.mark.no_cover
def test_each_half_is_known_as_often_as_before(table: list[Labelled]) -> None:
    for half, (known, abstained, hidden) in FLOORS.items():
        rows = [row for row in table if row.half == half]
        kinds = [pair for row in rows for pair in row.kinds]
        assert kinds.count((ABSTENTION, ABSTENTION)) >= known, half
        assert sum(row.abstains and row.found_abstaining for row in rows) >= abstained, half
        assert kinds.count((CLAIM, ABSTENTION)) <= hidden, half
