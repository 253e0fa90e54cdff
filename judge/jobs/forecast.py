"""What a run would ask and cost: judged by nobody, with what is kept taken off."""

import asyncio
from collections import Counter
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from judge.compose import compose
from judge.config import Config
from judge.evaluator import Evaluator
from judge.inputs.samples import check_samples, drawn, read_samples
from judge.pool import at_once
from judge.records import Excluded, SampleResult, Verdict
from judge.records.run import RunInput

SECONDS: Final = 5.0
"""A call is thought to take so long."""
_MINUTE: Final = 60.0


class Forecast(NamedTuple):
    """What a run would ask; what replies leave open, and is asked again, is not in it."""

    answers: int
    claims: int
    """All that are judged: of answers, references and questions."""
    kept: int
    """How many of these have a verdict in the cache."""
    calls: int
    prompt_tokens: int
    reply_tokens: int
    cost: float | None
    """Null where there are no prices."""
    minutes: float
    """At `SECONDS` a call, `at_once` of them, and no faster than the limits allow."""
    at_once: int
    again: "More | None" = None
    """What asking again (`repeat`) adds at most, as if all that has no verdict yet came out
    doubtful; null where nothing is asked again."""


class More(NamedTuple):
    """What comes on top."""

    calls: int
    prompt_tokens: int
    reply_tokens: int
    cost: float | None
    """Null where there are no prices."""


def forecast(
    path: Path,
    config: Config,
    *,
    limit: int | None = None,
    skip_bad_lines: bool = False,
) -> Forecast:
    """What `judge score` would ask about these samples; nothing is sent or written.

    Raises:
        InputError: the samples cannot be read.
        ConfigError: the cache cannot.
    """
    from judge.backends.openai import CountingModel  # noqa: PLC0415  the SDK takes half a second

    on_bad = (lambda _: None) if skip_bad_lines else None
    found = check_samples(path, on_bad=on_bad, max_line=config.max_line, mapping=config.map)
    many = min(found.samples, limit or found.samples)
    whole = found.samples if many < found.samples else None
    made_from = RunInput(path=str(path), sha256=found.sha256, samples=many, drawn_from=whole)
    single = {"fallback": False, "workers": 1, "max_tokens": None, "max_cost": None, "repeat": 1}
    asked = config.model_copy(update=single)

    async def ask(settings: Config) -> tuple[Counter[str], int, int]:
        """What is sent with these settings, the claims, and how many of them have a verdict."""
        counts, claims, kept = Counter[str](), 0, 0
        make_model = partial(CountingModel, counts=counts)
        read = read_samples(path, on_bad=on_bad, max_line=config.max_line, mapping=config.map)
        async with compose(settings, make_model, unknown=True) as judges:
            samples = drawn(read, made_from, config.seed)
            async with aclosing(Evaluator(settings, judge=judges).evaluate(samples)) as results:
                async for result in results:
                    more, verdicts = _claims(result)
                    claims, kept = claims + more, kept + verdicts
        return counts, claims, kept

    once, claims, kept = asyncio.run(ask(asked))
    calls, prompt, reply = once["calls"], once["prompt_tokens"], once["reply_tokens"]
    again = None
    if config.repeat > 1:
        most, *_ = asyncio.run(ask(asked.model_copy(update={"repeat": config.repeat})))
        more = (most["prompt_tokens"] - prompt, most["reply_tokens"] - reply)
        again = More(most["calls"] - calls, *more, config.cost(*more))
    width = at_once(config)
    minutes = max(
        calls * SECONDS / width / _MINUTE,
        calls / (config.rpm or float("inf")),
        (prompt + reply) / (config.tpm or float("inf")),
    )
    cost = config.cost(prompt, reply)
    return Forecast(many, claims, kept, calls, prompt, reply, cost, minutes, width, again)


def _claims(result: SampleResult) -> tuple[int, int]:
    """How many claims an answer has, compared ones too, and how many of them a verdict."""
    compared, related = result.correctness, result.answer_relevance
    told = [each.outcome for each in result.sentences]
    if compared is not None:
        told += [each.outcome for each in compared.answer]
        told += [each.outcome for each in compared.reference]
    outcomes = [outcome for outcome in told if not isinstance(outcome, Excluded)]
    verdicts = sum(isinstance(outcome, Verdict) for outcome in outcomes)
    if related is None or not (related.parts or related.failures):
        return len(outcomes), verdicts
    return len(outcomes) + 1, verdicts + (not related.failures)
