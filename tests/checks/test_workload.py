"""What a look for mismatches may take: counted beforehand, and what is left out is said."""

import pytest

from judge.answer.sentences import split
from judge.checks.workload import flag_objections
from judge.records import Chunk, JudgeRequest, Support, Verdict
from tests.growth import growth


def asked(claims: int, chunks: int) -> tuple[JudgeRequest, dict[int, Verdict]]:
    """So many claims, each supported by all chunks but one of its own; all lack its number."""
    answer = "".join(f"The site had {number + 50_000} visits.\n" for number in range(claims))
    request = JudgeRequest(
        query="",
        answer=answer,
        sentences=split(answer),
        ask=tuple(range(claims)),
        chunks=tuple(
            Chunk(chunk_id=str(n), text=f"It had {n + 900} visits.") for n in range(chunks)
        ),
    )
    verdicts = {
        index: Verdict(
            support=Support.FULL,
            supporting=tuple(str(n) for n in range(chunks) if n != index % chunks),
            source="llm",
            signature="s",
        )
        for index in request.ask
    }
    return request, verdicts


def test_claims_beyond_the_limit_are_counted_and_not_looked_at() -> None:
    request, verdicts = asked(8, 5)
    every = flag_objections(request, verdicts)
    assert [(flag.name, flag.sentence) for flag in every] == [
        ("mismatch:number", index) for index in range(8)
    ]
    # A claim takes about half a million steps, its evidence a tenth of that.
    some = flag_objections(request, verdicts, limit=2_000_000)
    *flags, last = some
    assert 0 < len(flags) < 8
    assert flags == list(every[: len(flags)])
    assert (last.name, last.sentence) == ("unchecked_claims", None)
    assert last.detail == f"{8 - len(flags)} / 8"


@pytest.mark.no_cover
def test_work_that_would_grow_with_the_cube_is_cut() -> None:
    def look(claims: str) -> None:
        request, verdicts = cases[len(claims)]
        flag_objections(request, verdicts, limit=60_000_000)

    cases = {size: asked(size, size) for size in (25, 200)}
    assert growth(look, lambda size: "a" * size, 25, 16) < 16
