"""More evidence than one request holds: all of it is judged."""

from pathlib import Path

import pytest
from pydantic import JsonValue

from judge import SampleResult, Verdict
from judge.text.fold import estimate_tokens
from tests.chat_call import ChatCall
from tests.commands import judge, line, results, write
from tests.replies import Answer, Says, packed, right, verdict, verdicts
from tests.server import JudgeServer

WORDS = "the rooms of this house are open to all who live here and to those who visit them " * 6
TEXT = "本楼房间对住户和访客开放。" * 12
CHUNKS = [f"Chunk {n}. {WORDS}".strip() if n % 2 else f"第{n}段。{TEXT}" for n in range(200)]
KEY = "The cellar of the house is locked at nine in the evening by the porter."
ANSWER = "The cellar is locked at nine [151]. 地下室九点上锁。"


def seeing(call: ChatCall) -> Answer:
    """`full` where the one telling chunk is seen, else `none`; its quote out of that chunk."""
    if call.is_probe:
        return right(call)
    at = [n for n, text in enumerate(call.chunks, start=1) if KEY in text]
    if not at:
        return Says(verdicts(call, "none"))
    found: dict[str, JsonValue] = {
        "evidence": [{"chunk": at[0], "quote": KEY}],
        "supporting": [at[0]],
    }
    return Says(packed([verdict(call, name) | found for name in call.ids]))


def ask(place: Path, chunks: list[str], *more: object) -> tuple[JudgeServer, SampleResult]:
    ids = {f"doc#{n}": text for n, text in enumerate(chunks, start=1)}
    source = write(place / "in.jsonl", [line("q", ANSWER, ids)])
    with JudgeServer(seeing) as server:
        assert judge("score", source, "-o", place / "run", *server.words, *more).code == 0
    (result,) = results(place / "run")
    return server, result


def is_found(result: SampleResult, chunk: str) -> None:
    for sentence in result.sentences:
        verdict = sentence.outcome
        assert isinstance(verdict, Verdict)
        assert (verdict.support, verdict.supporting) == ("full", (chunk,))
        (evidence,) = verdict.evidence
        assert (evidence.chunk_id, evidence.quote, evidence.verified) == (chunk, KEY, True)
    (citation,) = result.citations
    assert (citation.chunk_id, citation.status) == ("doc#151", "valid")
    assert result.flags == ()


@pytest.mark.parametrize("limit", [24_000, 2_000])
def test_two_hundred_chunks(place: Path, limit: int) -> None:
    chunks = [*CHUNKS[:150], KEY, *CHUNKS[151:]]
    whole = sum(map(estimate_tokens, chunks))
    assert whole > 24_000
    server, result = ask(place, chunks, "--max-evidence-tokens", limit)
    windows = [asked.chunks for asked in server.requests if not asked.is_probe]
    assert [text for window in windows for text in window] == chunks  # all, once, in order
    assert all(sum(map(estimate_tokens, window)) <= limit for window in windows)
    least = -(-whole // limit)
    assert least <= len(windows) <= least + least // 5 + 1
    assert all(asked.ids == ["s1", "s2"] for asked in server.requests[1:])
    is_found(result, "doc#151")
    assert len(result.calls) == len(windows)
