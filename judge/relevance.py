"""Scores whether an answer answers its question: one more call with the answer as evidence."""

from collections.abc import Sequence
from typing import Final

from judge.checks.quotes import find_words, flag_quotes, verify
from judge.pipeline import ask, sign
from judge.pool import apart, weigh
from judge.protocols import Judge
from judge.records import (
    AnswerRelevance,
    Chunk,
    Evidence,
    Flag,
    FlagName,
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    PartsVerdict,
    Rules,
    Sample,
    SampleResult,
    Sentence,
    SentenceKind,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.records.result import ANSWER
from judge.scores.answer import answer_relevance, is_beside, unasked, with_outcomes
from judge.text.words import blank

_FOREIGN: Final = Unscored(
    reason=UnscoredReason.MALFORMED, detail="question: the parts given are not its own"
)


async def relate(sample: Sample, result: SampleResult, judge: Judge, rules: Rules) -> SampleResult:
    """Return the result with its answer relevance, and a flag where no part is answered.

    No judge is asked about an answer that abstains, or one without a query.
    """
    status, signature = unasked(sample, result), sign(judge.signature, rules)
    if status is not None:
        found = answer_relevance(status=status, signature=signature)
        return result.model_copy(update={"answer_relevance": found})
    request = _request(sample, result)
    judgment = await ask(judge, request)
    signature = sign(judge.signature, rules, judgment.outcomes.values())
    found = await apart(weigh(request), _read, request, judgment, rules, signature)
    beside = (Flag(name=FlagName.BESIDE_QUESTION),) if is_beside(found) else ()
    return result.model_copy(
        update={
            "answer_relevance": found,
            "flags": (*result.flags, *beside),
            "calls": (*result.calls, *judgment.calls),
        }
    )


def _request(sample: Sample, result: SampleResult) -> JudgeRequest:
    """Return a request whose one sentence is the question, with the answer as its only chunk.

    Citation markers in the answer are blank.
    """
    query = sample.query
    markers = sorted({(citation.start, citation.end) for citation in result.citations})
    question = Sentence(index=0, start=0, end=len(query), text=query, kind=SentenceKind.QUESTION)
    return JudgeRequest(
        query=query,
        answer=query,
        sentences=(question,),
        ask=(0,),
        chunks=(Chunk(chunk_id=ANSWER, text=blank(sample.answer, markers)),),
    )


def _read(
    request: JudgeRequest, judgment: Judgment, rules: Rules, signature: str
) -> AnswerRelevance:
    outcome = judgment.outcomes[0]
    if isinstance(outcome, Unscored):
        return answer_relevance(failure=outcome, signature=signature)
    parts = outcome.parts if isinstance(outcome, PartsVerdict) else ()
    places = find_words([part.words for part in parts], request.query)
    spans = [span for span in places if span is not None]
    if not parts or len(spans) < len(parts):  # a cached reply may have been changed
        return answer_relevance(failure=_FOREIGN, signature=signature)
    outcomes: dict[int, JudgeOutcome] = {
        index: Verdict(
            support=part.answered,
            evidence=tuple(Evidence(chunk_id=ANSWER, quote=quote) for quote in part.quotes),
            reason=part.reason,
            source="llm",
            signature=outcome.signature,
        )
        for index, part in enumerate(parts)
    }
    outcomes = verify(outcomes, request.chunks, rules)
    return answer_relevance(
        with_outcomes(_sentences(request.query, spans), outcomes),
        flags=flag_quotes(outcomes),
        signature=signature,
    )


def _sentences(query: str, spans: Sequence[tuple[int, int]]) -> list[Sentence]:
    kind = SentenceKind.QUESTION
    return [
        Sentence(index=index, start=start, end=end, text=query[start:end], kind=kind)
        for index, (start, end) in enumerate(spans)
    ]
