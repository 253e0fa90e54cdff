"""Samples one at a time, wherever they come from."""

from collections.abc import AsyncGenerator, AsyncIterable, Iterable

from judge.records import Sample

Samples = Iterable[Sample] | AsyncIterable[Sample]


async def each(samples: Samples) -> AsyncGenerator[Sample]:
    """Every sample, in order; of what can be read both ways, the way that waits."""
    if isinstance(samples, AsyncIterable):
        async for sample in samples:
            yield sample
    else:
        for sample in samples:
            yield sample
