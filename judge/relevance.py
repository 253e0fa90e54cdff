"""Whether an answer answers its question: one more call, in which the answer is the evidence."""

from collections.abc import Sequence
from typing import Final

from judge.checks.quotes import find_words, flag_quotes, verify
from judge.pipeline import ask, sign
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
from judge.turns import Turn
from judge.workers import weigh

_FOREIGN: Final = Unscored(
    reason=UnscoredReason.MALFORMED, detail="question: the parts given are not its own"
)


async def relate(
    sample: Sample, result: SampleResult, judge: Judge, rules: Rules, turn: Turn
) -> SampleResult:
    """The result with its answer relevance, and with a flag where no part is answered.

    Of an answer that abstains, or without a query, nobody is asked. The turn is the one of the
    whole answer.
    """
    status, signature = unasked(sample, result), sign(judge.signature, rules)
    if status is not None:
        found = answer_relevance(status=status, signature=signature)
        return result.model_copy(update={"answer_relevance": found})
    asked = _request(sample, result)
    judgment = await ask(judge, asked, turn)
    signature = sign(judge.signature, rules, judgment.outcomes.values())
    found = await turn.compute(weigh(asked), _read, asked, judgment, rules, signature)
    beside = (Flag(name=FlagName.BESIDE_QUESTION),) if is_beside(found) else ()
    return result.model_copy(
        update={
            "answer_relevance": found,
            "flags": (*result.flags, *beside),
            "calls": (*result.calls, *judgment.calls),
        }
    )


def _request(sample: Sample, result: SampleResult) -> JudgeRequest:
    """The question as the one sentence that is asked about; the answer as the only evidence.

    Citation markers are no part of what is said, and blank.
    """
    query = sample.query
    markers = sorted({(citation.start, citation.end) for citation in result.citations})
    whole = Sentence(index=0, start=0, end=len(query), text=query, kind=SentenceKind.QUESTION)
    return JudgeRequest(
        query=query,
        answer=query,
        sentences=(whole,),
        ask=(0,),
        chunks=(Chunk(chunk_id=ANSWER, text=blank(sample.answer, markers)),),
    )


def _read(asked: JudgeRequest, judgment: Judgment, rules: Rules, signature: str) -> AnswerRelevance:
    outcome = judgment.outcomes[0]
    if isinstance(outcome, Unscored):
        return answer_relevance(failure=outcome, signature=signature)
    parts = outcome.parts if isinstance(outcome, PartsVerdict) else ()
    places = find_words([part.words for part in parts], asked.query)
    spans = [span for span in places if span is not None]
    if not parts or len(spans) < len(parts):  # what was kept may have been changed since
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
    outcomes = verify(outcomes, asked.chunks, rules)
    return answer_relevance(
        with_outcomes(_sentences(asked.query, spans), outcomes),
        flags=flag_quotes(outcomes),
        signature=signature,
    )


def _sentences(query: str, spans: Sequence[tuple[int, int]]) -> list[Sentence]:
    kind = SentenceKind.QUESTION
    return [
        Sentence(index=index, start=start, end=end, text=query[start:end], kind=kind)
        for index, (start, end) in enumerate(spans)
    ]
