import pytest

from judge import Config, Sample, evaluate
from judge.judges.questioned.verbatim import verbatim
from judge.records import (
    Chunk,
    JudgeRequest,
    Judgment,
    Sentence,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)

NONE = Verdict(support=Support.NONE, score=0.1, reason="x", source="similarity", signature="s")


def held(claim: str, chunk: str) -> Verdict:
    sentence = Sentence(index=0, start=0, end=len(claim), text=claim)
    request = JudgeRequest(
        query="",
        answer=claim,
        sentences=(sentence,),
        ask=(0,),
        chunks=(Chunk(chunk_id="c", text=chunk),),
    )
    outcome = verbatim(request, Judgment(outcomes={0: NONE})).outcomes[0]
    assert isinstance(outcome, Verdict)
    return outcome


@pytest.mark.parametrize(
    ("claim", "chunk", "quote"),
    [
        ("A", "A", "A"),
        ("a.", "A", "A"),
        ("Both", "I asked them. Both. Then it rained.", "Both."),
        ("他们", "他们。", "他们。"),
        ("都不是", "甲说过。都不是。", "都不是。"),
        ("+", "+", "+"),
        ("😀", "😀", "😀"),
        ("Ａ", "A", "A"),
    ],
)
def test_what_stands_there_word_for_word_is_said(claim: str, chunk: str, quote: str) -> None:
    found = held(claim, chunk)
    assert (found.support, found.supporting, found.reason) == (Support.FULL, ("c",), "")
    assert [each.quote.strip() for each in found.evidence] == [quote]
    assert found.evidence[0].start is not None
    assert chunk[found.evidence[0].start : found.evidence[0].end].strip() == quote


@pytest.mark.parametrize(
    ("claim", "chunk"), [("A", "B"), ("A", "A and B"), ("Both", "Both of them left."), ("-", " ")]
)
def test_what_is_part_of_a_sentence_is_not(claim: str, chunk: str) -> None:
    assert held(claim, chunk) == NONE


def test_failures_and_other_verdicts_stay() -> None:
    request = JudgeRequest(query="", answer="", sentences=(), ask=(), chunks=())
    failed = Unscored(reason=UnscoredReason.TIMEOUT)
    full = NONE.model_copy(update={"support": Support.FULL})
    judgment = Judgment(outcomes={0: failed, 1: full})
    assert verbatim(request, judgment) == judgment


@pytest.mark.parametrize("text", ["A", "(A)", "I", "The Who", "To be or not to be", "他", "都不是"])
def test_an_answer_is_its_own_reference(text: str) -> None:
    sample = Sample(qid="1", query="Which?", answer=text, gold_answer=text)
    (result,) = evaluate([sample], Config(correctness=True))
    assert result.correctness is not None
    assert (result.correctness.precision, result.correctness.recall) == (1, 1)
