"""What sentences say, term by term."""

from typing import NamedTuple

from judge.judges.similarity.terms import Kind, Terms

MARKS = {Kind.PAIR: " ", Kind.SKIP: "…"}


class Row(NamedTuple):
    key: str
    kind: Kind
    weight: float
    start: int
    end: int
    name: bool
    concept: str | None


def rows(said: Terms) -> list[Row]:
    """Every term, its key written as one or two words."""
    words, concepts = list(said.words), [*said.meanings, None]
    fields = (said.first, said.second, said.kind, said.sense)
    keys = []
    for first, second, kind, _ in zip(*(each.tolist() for each in fields), strict=True):
        mark = MARKS.get(Kind(kind))
        keys.append(f"{words[first]}{mark}{words[second]}" if mark else words[first])
    own = (said.kind, said.weight, said.start, said.end, said.name, said.sense)
    return [
        Row(key, Kind(kind), weight, start, end, name, concepts[sense])
        for key, kind, weight, start, end, name, sense in zip(
            keys, *(each.tolist() for each in own), strict=True
        )
    ]
