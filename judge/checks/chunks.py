"""Chunks: what of them keeps any judge from a fair verdict."""

from collections.abc import Iterator

from judge.records import Flag, FlagName, Sample


def flag_chunks(sample: Sample, *, claims: bool) -> Iterator[Flag]:
    """A flag where claims have no chunk with text behind them, one where an id has two texts."""
    if claims and not any(chunk.text.strip() for chunk in sample.chunks):
        yield Flag(name=FlagName.NO_CHUNKS)
    texts: dict[str, str] = {}
    twice = {c.chunk_id for c in sample.chunks if texts.setdefault(c.chunk_id, c.text) != c.text}
    if twice:
        yield Flag(name=FlagName.AMBIGUOUS_CHUNK_ID, detail="; ".join(sorted(twice)))
