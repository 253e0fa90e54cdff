"""What a sample's gold adds to its result: how it agrees with the reference, and its quadrant."""

import asyncio
from collections.abc import Sequence

from judge.answer.citations import find
from judge.answer.kinds import classify
from judge.answer.sentences import split
from judge.checks.quotes import flag_quotes, verify
from judge.pipeline import ask, asked, request, sign
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
from judge.scores.correctness import correctness, has_gold, quadrant
from judge.text.words import blank
from judge.turns import Turn
from judge.workers import HEAVY, weigh


async def compare(
    sample: Sample,
    result: SampleResult,
    judge: Judge | None,
    rules: Rules,
    turn: Turn,
) -> SampleResult:
    """The result with its correctness, and with its quadrant where the sample names gold evidence.

    Gold evidence that contradicts the reference is flagged instead. Without a judge correctness is
    left out. Each direction has a turn of its own, as long as this one.
    """
    if judge is None and not has_gold(sample):
        return result
    gold = sample.gold_answer or ""
    reference = await turn.compute(weigh(sample.model_copy(update={"answer": gold})), _read, gold)
    if judge is not None:
        result = await _both_ways(sample, result, reference, judge, rules, turn)
    found = quadrant(sample, result, reference, rules)
    if found is None and has_gold(sample):
        flags = (*result.flags, Flag(name=FlagName.CONFLICTING_GOLD))
        return result.model_copy(update={"flags": flags})
    return result.model_copy(update={"cell": found})


def _read(answer: str) -> tuple[Sentence, ...]:
    return classify(split(answer))


async def _both_ways(
    sample: Sample,
    result: SampleResult,
    reference: Sequence[Sentence],
    judge: Judge,
    rules: Rules,
    turn: Turn,
) -> SampleResult:
    forth = back = Judgment()
    claims = any(sentence.kind is SentenceKind.CLAIM for sentence in reference)
    if result.status is not Status.ABSTAINED and claims:
        both = f"{sample.answer}\n{sample.gold_answer}"
        whole = sample.model_copy(update={"answer": both})
        heavy = HEAVY if rules.citation_pattern else weigh(whole)
        pair = await turn.compute(heavy, _swapped, sample, reference, rules)
        forth, back = await _answered(pair, judge, rules, turn)
    found = correctness(
        result.sentences,
        reference,
        forth,
        back,
        signature=sign(judge.signature, rules, (*forth.outcomes.values(), *back.outcomes.values())),
    )
    calls = (*result.calls, *forth.calls, *back.calls)
    return result.model_copy(update={"correctness": found, "calls": calls})


async def _answered(
    pair: tuple[JudgeRequest, JudgeRequest], judge: Judge, rules: Rules, turn: Turn
) -> tuple[Judgment, Judgment]:
    """Both directions: at the same time where two places are free, else one after the other."""
    try:
        async with asyncio.TaskGroup() as group:
            ways = [group.create_task(_held(judge, each, rules, turn.again())) for each in pair]
    except ExceptionGroup as errors:
        # Whoever asked awaits one judge's error, not a group of them.
        raise errors.exceptions[0] from None
    return ways[0].result(), ways[1].result()


def _swapped(
    sample: Sample, reference: Sequence[Sentence], rules: Rules
) -> tuple[JudgeRequest, JudgeRequest]:
    """What is asked of the answer's claims, and of the reference's: each by the other text.

    Whatever either cites are chunks, which nobody is shown: markers are no part of a claim, and
    blank where they stand in evidence, for `[3]` is no figure.
    """
    gold = sample.gold_answer or ""
    swapped = sample.model_copy(update={"answer": gold, "sentences": None})
    forth = asked(sample, rules)
    back = request(swapped, reference, find(swapped, reference, rules))

    def shown(name: str, text: str, markers: Sequence[tuple[int, int]]) -> dict[str, object]:
        return {"chunks": (Chunk(chunk_id=name, text=blank(text, markers)),), "cites": {}}

    return (
        forth.model_copy(update=shown(GOLD, gold, back.markers)),
        back.model_copy(update=shown(ANSWER, sample.answer, forth.markers)),
    )


async def _held(judge: Judge, request: JudgeRequest, rules: Rules, turn: Turn) -> Judgment:
    judgment = await ask(judge, request, turn)
    return await turn.compute(weigh(request), _checked, judgment, request, rules)


def _checked(judgment: Judgment, request: JudgeRequest, rules: Rules) -> Judgment:
    outcomes = verify(judgment.outcomes, request.chunks, rules)
    flags = (*flag_quotes(outcomes), *judgment.flags)
    return judgment.model_copy(update={"outcomes": outcomes, "flags": flags})
