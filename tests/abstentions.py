"""Labelled answers, of which some abstain, and the kinds that the package finds in them.

The table, `answer/abstentions.jsonl`, was written before the rules that it measures. A row:

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
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from judge import Sample, evaluate
from judge.records import SentenceKind, Status

Half = Literal["learn", "held"]
Language = Literal["en", "zh"]

TABLE: Final = Path(__file__).parent / "answer" / "abstentions.jsonl"
HALVES: Final[tuple[Half, ...]] = ("learn", "held")
LANGUAGES: Final[tuple[Language, ...]] = ("en", "zh")
CLAIM: Final = SentenceKind.CLAIM.value
ABSTENTION: Final = SentenceKind.ABSTENTION.value
SPLIT: Final = "split"
"""Found in place of a kind where the text was cut into another number of sentences."""


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled text."""

    id: str
    lang: Language
    category: str
    half: Half
    text: str
    kinds: tuple[str, ...]
    abstained: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """A row, and what was made of it."""

    row: Row
    found: tuple[str, ...]
    """The kind of every sentence."""
    abstained: bool
    """Whether the status of the answer says so."""

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Label and finding of every labelled sentence; equal where the finding will do."""
        cut = len(self.found) != len(self.row.kinds)
        found = [SPLIT] * len(self.row.kinds) if cut else self.found
        labels = (kinds.split("|") for kinds in self.row.kinds)
        return [
            (name if name in kinds else kinds[0], name)
            for kinds, name in zip(labels, found, strict=True)
        ]

    @property
    def hides(self) -> bool:
        """Whether a claim of it is taken for another kind, so that no judge sees it."""
        return any(label == CLAIM and name not in (CLAIM, SPLIT) for label, name in self.pairs)

    @property
    def right(self) -> bool:
        """Whether every sentence and the whole answer are what the label says."""
        kinds = all(label == name for label, name in self.pairs)
        return kinds and self.abstained == self.row.abstained


def rows() -> list[Row]:
    """The whole table, in its order."""
    found = map(json.loads, TABLE.read_text("utf-8").splitlines())
    return [Row(**{**row, "kinds": tuple(row["kinds"])}) for row in found]


def read(texts: Iterable[Row]) -> list[Reading]:
    """Return the kinds that the package finds in texts, as answers to an unknown question."""
    given = list(texts)
    results = evaluate([Sample(qid=row.id, answer=row.text, chunks=()) for row in given])
    return [
        Reading(
            row,
            tuple(sentence.kind.value for sentence in result.sentences),
            result.status is Status.ABSTAINED,
        )
        for row, result in zip(given, results, strict=True)
    ]


def confusion(readings: Iterable[Reading]) -> Counter[tuple[str, str]]:
    """Count the sentences by label and found kind."""
    return Counter(pair for reading in readings for pair in reading.pairs)


def matrix(counts: Counter[tuple[str, str]]) -> str:
    """Counts as lines: a label each, and a column for each thing it was found to be."""
    names = [kind.value for kind in SentenceKind]
    named = {name for pair in counts for name in pair}
    shown = [name for name in (*names, SPLIT) if name in named]
    return "\n".join(
        [
            "labelled \\ found" + "".join(f"{name:>12}" for name in shown),
            *(
                f"{label:16}" + "".join(f"{counts[label, name] or '·':>12}" for name in shown)
                for label in names
                if any(counts[label, name] for name in shown)
            ),
        ]
    )


def of(readings: Sequence[Reading], lang: Language) -> list[Reading]:
    """Return the readings in one language."""
    return [reading for reading in readings if reading.row.lang == lang]
