"""Flags of samples that no judge can judge fairly: without chunk text, or with unjudged text."""

from collections.abc import Iterator
from typing import Final

from judge.records import Flag, FlagName, Sample
from judge.text.patterns import lazy_pattern

_MARKER: Final = lazy_pattern(r"[\[【（(][^\[\]【】（）()\n]{1,80}[\]】）)]")
"""A citation, number or aside in brackets, which is no omitted sentence."""


def flag_chunks(sample: Sample, *, claims: bool) -> Iterator[Flag]:
    """Flag claims without any chunk text, and a chunk id that has two texts."""
    if claims and not any(chunk.text.strip() for chunk in sample.chunks):
        yield Flag(name=FlagName.NO_CHUNKS)
    texts: dict[str, str] = {}
    twice = {c.chunk_id for c in sample.chunks if texts.setdefault(c.chunk_id, c.text) != c.text}
    if twice:
        yield Flag(name=FlagName.AMBIGUOUS_CHUNK_ID, detail="; ".join(sorted(twice)))


def flag_gaps(sample: Sample) -> Iterator[Flag]:
    """Flag words outside the sentences that came with the answer."""
    edges = [(each.start, each.end) for each in sample.sentences or ()]
    if sample.sentences is None:
        return
    starts, ends = [*(start for start, _ in edges), len(sample.answer)], [0, *(e for _, e in edges)]
    gaps = (sample.answer[end:start] for end, start in zip(ends, starts, strict=True))
    words = ["".join(_MARKER.sub("", gap).split()) for gap in gaps]
    if count := sum(len(each) for each in words if any(map(str.isalpha, each))):
        yield Flag(name=FlagName.UNJUDGED_TEXT, detail=str(count))
