"""What each cell says of retrieval and generation, as `judge/data/cells.toml` has it."""

import tomllib
from collections.abc import Collection
from functools import cache
from importlib.resources import files

from judge.records.cell import CellWord, Half
from judge.records.record import Record


class CellRow(Record):
    """What some cells have in common."""

    when: frozenset[CellWord]
    """Words that all of them bear."""
    half: Half
    """What is broken there."""
    reading: str
    """What it means: the key of a text in `judge/data/messages/quadrants.toml`, under `reading`."""


class Table(Record):
    """All of the file."""

    row: tuple[CellRow, ...]
    """A cell's is the first whose words it bears."""


@cache
def table() -> Table:
    """The file, read once."""
    raw = files("judge").joinpath("data", "cells.toml").read_text("utf-8")
    return Table.model_validate(tomllib.loads(raw))


def place(words: Collection[CellWord]) -> int:
    """Where the row of a cell stands in the table.

    Raises:
        ValueError: no row is its: `words` are not all that `Cell.words` gives.
    """
    for number, row in enumerate(table().row):
        if row.when.issubset(words):
            return number
    raise ValueError(f"no row of judge/data/cells.toml holds for {sorted(words)}")


def row_of(words: Collection[CellWord]) -> CellRow:
    """The row of a cell; errors as of `place`.

    >>> row_of(("answerable", "missed", "abstained")).half
    'retrieval'
    """
    return table().row[place(words)]
