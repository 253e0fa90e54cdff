"""Judges an answer by its reference and by its question, and the reference by the chunks."""

import asyncio
from collections.abc import Sequence
from typing import Final

from judge.answer.citations import find
from judge.answer.kinds import classify
from judge.answer.sentences import split
from judge.checks.quotes import find_words, flag_quotes, verify
from judge.pipeline import ask, evaluate_sample, make_request, prepare, sign
from judge.pool import HEAVY, apart, weigh
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
    Status,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.records.result import ANSWER, GOLD
from judge.scores.answer import answer_relevance, is_beside, unasked, with_outcomes
from judge.scores.correctness import context_scores, correctness, quadrant
from judge.text.words import blank

# Validators take a while to build, and a command that starts needs none.
_FOREIGN: Final = Unscored.model_construct(
    reason=UnscoredReason.MALFORMED, detail="question: the parts given are not its own"
)


async def compare(
    sample: Sample, result: SampleResult, judge: Judge | None, rules: Rules
) -> SampleResult:
    """Return the result with its correctness, and its quadrant where gold or context allows one.

    Without a judge there is no correctness. Gold evidence that contradicts the reference sets a
    flag and no quadrant.
    """
    gold = sample.gold_answer or ""
    weight = weigh(sample.model_copy(update={"answer": gold}))
    reference = await apart(weight, lambda: classify(split(gold)))
    if judge is not None:
        result = await _compare_both_ways(sample, result, reference, judge, rules)
    cell = quadrant(sample, result, reference, rules)
    if cell is None and sample.has_gold:
        flags = (*result.flags, Flag(name=FlagName.CONFLICTING_GOLD))
        return result.model_copy(update={"flags": flags})
    return result.model_copy(update={"cell": cell})


async def judge_reference(
    sample: Sample, result: SampleResult, judge: Judge, rules: Rules
) -> SampleResult:
    """Return the result with its context scores: the claims of the reference judged by the chunks.

    Without a reference, no judge is asked.
    """
    swapped = sample.model_copy(update={"answer": sample.gold_answer or "", "sentences": None})
    found = await evaluate_sample(swapped, judge, rules)
    context, calls = context_scores(sample, found), (*result.calls, *found.calls)
    return result.model_copy(update={"context": context, "calls": calls})


async def _compare_both_ways(
    sample: Sample,
    result: SampleResult,
    reference: Sequence[Sentence],
    judge: Judge,
    rules: Rules,
) -> SampleResult:
    forth = back = Judgment()
    claims = any(sentence.kind is SentenceKind.CLAIM for sentence in reference)
    if result.status is not Status.ABSTAINED and claims:
        both = sample.model_copy(update={"answer": f"{sample.answer}\n{sample.gold_answer}"})
        weight = HEAVY if rules.citation_pattern else weigh(both)
        requests = await apart(weight, _requests, sample, reference, rules)
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(_verdicts(judge, each, rules)) for each in requests]
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        forth, back = (task.result() for task in tasks)
    found = correctness(
        result.sentences,
        reference,
        forth,
        back,
        signature=sign(judge.signature, rules, (*forth.outcomes.values(), *back.outcomes.values())),
    )
    calls = (*result.calls, *forth.calls, *back.calls)
    return result.model_copy(update={"correctness": found, "calls": calls})


def _requests(
    sample: Sample, reference: Sequence[Sentence], rules: Rules
) -> tuple[JudgeRequest, JudgeRequest]:
    """Return the requests about the answer's claims and the reference's, each by the other text.

    Citation markers are blank in the evidence, because no chunk is shown and `[3]` is no figure.
    """
    gold = sample.gold_answer or ""
    swapped = sample.model_copy(update={"answer": gold, "sentences": None})
    forth, _ = prepare(sample, rules)
    back = make_request(swapped, reference, find(swapped, reference, rules).citations)

    def evidence(name: str, text: str, markers: Sequence[tuple[int, int]]) -> dict[str, object]:
        return {"chunks": (Chunk(chunk_id=name, text=blank(text, markers)),), "cites": {}}

    return (
        forth.model_copy(update=evidence(GOLD, gold, back.markers)),
        back.model_copy(update=evidence(ANSWER, sample.answer, forth.markers)),
    )


async def _verdicts(judge: Judge, request: JudgeRequest, rules: Rules) -> Judgment:
    """Return the judgment with its quotes looked up."""
    judgment = await ask(judge, request)
    outcomes = await apart(weigh(request), verify, judgment.outcomes, request.chunks, rules)
    flags = (*flag_quotes(outcomes), *judgment.flags)
    return judgment.model_copy(update={"outcomes": outcomes, "flags": flags})


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
    query, kind = request.query, SentenceKind.QUESTION
    sentences = [
        Sentence(index=index, start=start, end=end, text=query[start:end], kind=kind)
        for index, (start, end) in enumerate(spans)
    ]
    found = with_outcomes(sentences, outcomes)
    return answer_relevance(found, flags=flag_quotes(outcomes), signature=signature)
