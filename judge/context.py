"""Judges by the chunks what the reference claims: one more call, of the prompt of faithfulness."""

from judge.pipeline import evaluate_sample
from judge.protocols import Judge
from judge.records import Rules, Sample, SampleResult
from judge.scores.context import context_scores


async def judge_reference(
    sample: Sample, result: SampleResult, judge: Judge, rules: Rules
) -> SampleResult:
    """Return the result with its context scores. Without a reference, no judge is asked."""
    swapped = sample.model_copy(update={"answer": sample.gold_answer or "", "sentences": None})
    found = await evaluate_sample(swapped, judge, rules)
    return result.model_copy(
        update={
            "context": context_scores(sample, found),
            "calls": (*result.calls, *found.calls),
        }
    )
