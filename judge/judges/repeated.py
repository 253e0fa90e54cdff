"""The judge that is asked again: another seed, another order of the chunks, and the same labels."""

import hashlib
from collections.abc import Sequence
from random import Random
from typing import Final

from judge.protocols import Judge
from judge.records import JudgeRequest, Judgment

_DRAWS: Final = 64
"""Shuffles for each order wanted: two chunks come to stand the other way in all but 1 of 2^64."""


class ReorderedJudge:
    """Shows another judge the chunks in the order of a repeat.

    What it says names chunks by their ids, and so means those of the request, however they stood.
    """

    def __init__(self, inner: Judge, repeat: int) -> None:
        self._inner = inner
        self._repeat = repeat

    @property
    def signature(self) -> str:
        """The inner judge's: the order is no setting of it."""
        return self._inner.signature

    async def judge(self, request: JudgeRequest) -> Judgment:
        """The inner judge's outcomes, its citations those of the request."""
        shown = chunk_order([chunk.text for chunk in request.chunks], self._repeat)
        place_of = {position: place for place, position in enumerate(shown)}
        cites = {
            index: tuple(sorted(place_of[position] for position in cited))
            for index, cited in request.cites.items()
        }
        chunks = tuple(request.chunks[position] for position in shown)
        update = {"chunks": chunks, "cites": cites, "parts": {}}
        return await self._inner.judge(request.model_copy(update=update))


def chunk_order(texts: Sequence[str], repeat: int) -> tuple[int, ...]:
    """The positions of the chunks in the order in which a repeat shows them; 0 is as they stand.

    A shuffle drawn by the texts: never the first order where there is another, and no order twice
    while there are others.

    >>> [chunk_order(("a", "b"), repeat) for repeat in range(3)]
    [(0, 1), (1, 0), (1, 0)]
    """
    first = {text: at for at, text in reversed(list(enumerate(texts)))}
    alike = [first[text] for text in texts]
    order = list(range(len(texts)))
    found = {tuple(alike): tuple(order)}
    seed = hashlib.sha256("\0".join(texts).encode(errors="surrogatepass")).hexdigest()
    drawn = Random(seed)  # noqa: S311  it is to be drawn again
    for _ in range(_DRAWS * repeat):
        if len(found) > repeat:
            break
        drawn.shuffle(order)
        found.setdefault(tuple(alike[at] for at in order), tuple(order))
    _, *others = found.values()
    return others[(repeat - 1) % len(others)] if repeat and others else tuple(range(len(texts)))
