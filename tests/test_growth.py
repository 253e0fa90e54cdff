"""The time that a text takes grows with its length and no faster, wherever it is read.

And chunks are read once for all claims of an answer; nothing that was said of them is kept.

Half a minute: 300 strings in four places, of each as much as takes some milliseconds.
"""

import asyncio
import gc
import re
import tracemalloc
from collections.abc import Callable
from itertools import islice, permutations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judge.answer.citations import find
from judge.answer.kinds import classify
from judge.answer.sentences import split
from judge.checks.contradictions import contradiction
from judge.checks.injection import reads_like_orders
from judge.checks.mismatch import differences
from judge.checks.quotes import find_quote
from judge.judges.containment import ContainmentJudge
from judge.judges.prompted import parse, render
from judge.judges.similarity import LexicalEmbedder, SimilarityJudge
from judge.prompt import load_prompt
from judge.records import (
    Chunk,
    Evidence,
    JudgeRequest,
    Rules,
    Sample,
    Sentence,
    Support,
    Verdict,
)
from tests.crafted import SHAPES, UNITS, Make, crafted, repeated_to
from tests.growth import growth, squared

pytestmark = pytest.mark.alone  # coverage would double what they take

SIZE = 500
MIXED = 4_000
"""Longer, for the check looks for 200 names at most: up to there, each more costs all the words."""
PROMPT = load_prompt("faithfulness", "v1")
RULES = Rules(prose_citations=True)
CHUNKS = tuple(Chunk(chunk_id=chunk_id, text="") for chunk_id in ("a#1", "b", "3", "c[1]"))
JUDGE = ContainmentJudge(SimilarityJudge(LexicalEmbedder()))
FULL = Verdict(support=Support.FULL, supporting=("a",), source="llm", signature="s")


def read(answer: str) -> None:
    """Sentences, kinds and citations."""
    sample = Sample(qid="q", answer=answer, chunks=CHUNKS)
    sentences = classify(split(answer))
    find(sample, sentences, RULES)


def asked(text: str) -> JudgeRequest:
    """About all of a text as one sentence, before the same backwards."""
    return JudgeRequest(
        query="",
        answer=text,
        sentences=(Sentence(index=0, start=0, end=len(text), text=text),),
        ask=(0,),
        chunks=(Chunk(chunk_id="a", text=text[::-1]),),
        cites={},
        markers=(),
    )


def compare(text: str) -> None:
    differences(asked(text), {0: FULL})


def check(text: str) -> None:
    find_quote(f"{text[: len(text) // 2]}…{text[len(text) // 3 :]}", text)
    contradiction(text[: len(text) // 2], [text])
    reads_like_orders(text)


def judge(text: str) -> None:
    request = asked(text)
    asyncio.run(JUDGE.judge(request))
    render(request, PROMPT)
    parse(text, request, "s")


PLACES: tuple[Callable[[str], None], ...] = (read, compare, check, judge)


def stalled(*makes: Make, size: int = SIZE) -> list[str]:
    return [
        f"{place.__name__} {text[:20]!r}"
        for place in PLACES
        for text in squared(place, makes, size)
    ]


def test_no_crafted_string_takes_the_square_of_its_length() -> None:
    makes = list(crafted())
    assert len({make(200) for make in makes}) > 220
    assert stalled(*makes) == []


@settings(max_examples=8, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(UNITS), min_size=2, max_size=4), st.sampled_from(SHAPES))
def test_no_mix_of_them_does(units: list[str], shape: Callable[[str], Make]) -> None:
    assert stalled(shape("".join(units)), repeated_to("".join(units)), size=MIXED) == []


def test_a_square_is_seen() -> None:
    planted = re.compile(r"\d*x")
    assert squared(planted.search, map(repeated_to, "a1 "), SIZE // 2) == ["1" * 30]


OPENED = "The mill of Redmond opened in 1950. "


def claimed(claim: str, times: int, chunks: list[str]) -> JudgeRequest:
    return JudgeRequest(
        query="",
        answer=claim * times,
        sentences=tuple(
            Sentence(index=at, start=at * len(claim), end=(at + 1) * len(claim), text=claim)
            for at in range(times)
        ),
        ask=tuple(range(times)),
        chunks=tuple(Chunk(chunk_id=str(at), text=text) for at, text in enumerate(chunks)),
        cites={},
        markers=(),
    )


def held(request: JudgeRequest) -> int:
    """How many mismatches a language model's verdicts have, that quote every chunk alike."""
    quote = Evidence(chunk_id="0", quote=OPENED, start=0, end=len(OPENED), verified=True)
    said = tuple(chunk.chunk_id for chunk in request.chunks)
    full = Verdict(
        support=Support.FULL, supporting=said, evidence=(quote,), source="llm", signature="s"
    )
    return len(differences(request, dict.fromkeys(request.ask, full)))


@pytest.mark.parametrize(("many", "size"), [(1, 100_000), (90, 9_000)])
def test_more_claims_read_no_chunk_again(many: int, size: int) -> None:
    texts = [OPENED * (size // len(OPENED)) + f"It is number {n}." for n in range(many)]

    def compare(text: str) -> None:
        assert held(claimed("Jane Silva ran it. ", len(text), texts)) == len(text)

    assert growth(compare, repeated_to("x"), 4, 3) < 3


def test_what_was_asked_of_a_chunk_is_not_kept() -> None:
    words = ["Amber", "Basil", "Cedar", "Daisy", "Elder", "Fennel", "Ginger", "Hazel"]
    named = [f"It was {' '.join(said)}. " for said in islice(permutations(words, 4), 300)]

    def ask(chunk: str) -> list[int]:
        return [held(claimed(claim, 1, [chunk])) for claim in named]

    assert ask(OPENED) == [1] * len(named)  # the stems of all words are known from here on
    tracemalloc.start()
    try:
        ask(OPENED * 2)
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] < 50_000
    finally:
        tracemalloc.stop()
