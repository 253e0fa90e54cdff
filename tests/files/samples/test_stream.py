from collections.abc import AsyncIterator, Iterator

from judge.files.samples.stream import each
from judge.records import Sample

SAMPLES = [Sample(qid=qid) for qid in ("a", "中", "c")]


async def test_a_list_and_what_waits_give_the_same() -> None:
    async def waiting() -> AsyncIterator[Sample]:
        for sample in SAMPLES:
            yield sample

    assert [sample async for sample in each(SAMPLES)] == SAMPLES
    assert [sample async for sample in each(waiting())] == SAMPLES
    assert [sample async for sample in each([])] == []


async def test_no_more_is_read_than_is_asked_for() -> None:
    read = []

    def source() -> Iterator[Sample]:
        for sample in SAMPLES:
            read.append(sample.qid)
            yield sample

    stream = each(source())
    assert (await anext(stream)).qid == "a"
    assert read == ["a"]
    await stream.aclose()
