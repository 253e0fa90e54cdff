"""Compares an answer with its reference, and the reference with the chunks."""

import asyncio
from collections.abc import Sequence

from judge.answer.citations import find
from judge.answer.kinds import classify
from judge.answer.sentences import split
from judge.checks.quotes import flag_quotes, verify
from judge.pipeline import ask, evaluate_sample, make_request, prepare, sign
from judge.pool import HEAVY, apart, weigh
from judge.protocols import Judge
from judge.records import (
    Chunk,
    Flag,
    FlagName,
    JudgeRequest,
    Judgment,
    Rules,
    Sample,
    SampleResult,
    Sentence,
    SentenceKind,
    Status,
)
from judge.records.result import ANSWER, GOLD
from judge.scores.correctness import context_scores, correctness, quadrant
from judge.text.words import blank


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
