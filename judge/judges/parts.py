"""The judge that also looks at what each citation stands behind, part by part."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from judge.answer.parts import carriers, telling
from judge.protocols import Judge
from judge.records import (
    Chunk,
    CitedPart,
    JudgeRequest,
    Judgment,
    Sentence,
    SentenceKind,
    Support,
    Verdict,
)
from judge.text.pieces import segments
from judge.workers import apart, weigh

_PARTS: Final = 64
_CHUNKS: Final = 128
"""Parts, and chunks cited for them, that are asked about at once: all against all."""
_WHOLE: Final = 0.9
"""Share of a part that stands in the chunks cited for it where these carry it together."""


class _Place(NamedTuple):
    sentence: int
    part: CitedPart


class PartsJudge:
    """Another judge's verdicts, and among `supporting` the chunks cited for a part that hold it.

    Where a sentence cites several chunks, or one for some of it, the inner judge is also asked
    about each part and each of its clauses, against the chunks cited there alone. A chunk supports
    its part if it does so alone, or holds a clause of it, or has what the others cited there lack,
    and they together have all of it. Nothing is asked about a sentence that is contradicted, or
    whose citations all support it. No label or score changes.
    """

    def __init__(self, inner: Judge) -> None:
        self._inner = inner

    @property
    def signature(self) -> str:
        """The inner judge's, whose edition says how citations are read."""
        return self._inner.signature

    async def judge(self, request: JudgeRequest) -> Judgment:
        """The inner judge's outcomes, with what supports their parts."""
        judgment = await self._inner.judge(request)
        places = list(_open(request, judgment))
        if not places:
            return judgment
        held: dict[int, dict[str, None]] = {}
        passages = _Passages(request.chunks)
        for block in _blocks(places):
            asked, owners = _asked(request, block)
            found = await self._inner.judge(asked)
            for index, outcome in found.outcomes.items():
                if isinstance(outcome, Verdict) and outcome.support is not Support.CONTRADICTED:
                    cited = {asked.chunks[at].chunk_id for at in asked.cites.get(index, ())}
                    names = [name for name in outcome.supporting if name in cited]
                    held.setdefault(owners[index], {}).update(dict.fromkeys(names))
            await apart(weigh(asked), _unite, request, block, passages, held)
        outcomes = dict(judgment.outcomes)
        for sentence, named in held.items():
            if isinstance(verdict := outcomes[sentence], Verdict):
                supporting = tuple(dict.fromkeys([*verdict.supporting, *named]))
                outcomes[sentence] = verdict.model_copy(update={"supporting": supporting})
        return judgment.model_copy(update={"outcomes": outcomes})


def _open(request: JudgeRequest, judgment: Judgment) -> Iterator[_Place]:
    """The parts with a citation that nothing yet shows to hold."""
    for sentence, parts in request.parts.items():
        verdict = judgment.outcomes.get(sentence)
        if not isinstance(verdict, Verdict) or verdict.support is Support.CONTRADICTED:
            continue
        held = set(verdict.supporting)
        for part in parts:
            if any(request.chunks[at].chunk_id not in held for at in part.cites):
                yield _Place(sentence, part)


def _blocks(places: Sequence[_Place]) -> Iterator[list[_Place]]:
    block: list[_Place] = []
    cited: set[int] = set()
    for place in places:
        both = cited.union(place.part.cites)
        if block and (len(block) >= _PARTS or len(both) > _CHUNKS):
            yield block
            block, both = [], set(place.part.cites)
        block.append(place)
        cited = both
    yield block


def _asked(request: JudgeRequest, block: Sequence[_Place]) -> tuple[JudgeRequest, list[int]]:
    """A request about the parts and their clauses, and the sentence of each of its own."""
    positions = sorted({at for place in block for at in place.part.cites})
    place_of = {at: number for number, at in enumerate(positions)}
    spans = [
        (place, span)
        for place in block
        for span in ((place.part.start, place.part.end), *place.part.clauses)
    ]
    sentences = tuple(
        # No claims of their own: their neighbours tell nothing of them.
        Sentence(
            index=index,
            start=start,
            end=end,
            text=request.answer[start:end],
            kind=SentenceKind.META,
        )
        for index, (_, (start, end)) in enumerate(spans)
    )
    cites = {
        index: tuple(place_of[at] for at in place.part.cites)
        for index, (place, _) in enumerate(spans)
    }
    update = {
        "sentences": sentences,
        "ask": tuple(range(len(spans))),
        "chunks": tuple(request.chunks[at] for at in positions),
        "cites": cites,
        "parts": {},
    }
    return request.model_copy(update=update), [place.sentence for place, _ in spans]


class _Passages:
    """For each chunk its segments, read once, and the one that says most of a claim."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = chunks
        self._read = cache(self._segments)

    def _segments(self, position: int) -> list[tuple[str, frozenset[str]]]:
        text = self._chunks[position].text
        cut = [text[start:end] for start, end in segments(text)]
        return [(each, frozenset(telling(each))) for each in cut]

    def best(self, position: int, weights: dict[str, float]) -> str:
        """The segment that has most of these."""
        found = self._read(position)

        def worth(said: frozenset[str]) -> float:
            return sum(weights[key] for key in weights.keys() & said)

        return max(found, key=lambda each: worth(each[1]), default=("", frozenset()))[0]


def _unite(
    request: JudgeRequest,
    block: Sequence[_Place],
    passages: _Passages,
    held: dict[int, dict[str, None]],
) -> None:
    """Add the chunks that carry a part together with others cited there."""
    for sentence, part in block:
        named = held.setdefault(sentence, {})
        if all(request.chunks[at].chunk_id in named for at in part.cites):
            continue
        bare = request.bare(part.start, part.end)
        weights = telling(bare)
        said: dict[str, list[str]] = {}
        for at in part.cites:
            said.setdefault(request.chunks[at].chunk_id, []).append(passages.best(at, weights))
        if len(said) > 1:
            named.update(dict.fromkeys(sorted(carriers(bare, said, _WHOLE))))
