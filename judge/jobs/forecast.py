"""A forecast of a run: its calls, tokens, cost and time, without what the cache holds."""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import aclosing
from functools import partial
from typing import Final, NamedTuple

from judge.compose import compose
from judge.config import Config
from judge.evaluator import Evaluator
from judge.inputs.files import InputName
from judge.inputs.samples import Rejected, check_samples, draw_samples, read_samples
from judge.pool import at_once
from judge.records import Excluded, Verdict
from judge.records.run import RunInput
from judge.reports.worst import outcomes

SECONDS_PER_CALL: Final = 5.0
_MINUTE: Final = 60.0


class Forecast(NamedTuple):
    """The requests of a run, without those after unusable replies and those of `repeat`."""

    answers: int
    claims: int
    """Judged claims of answers and references, and judged questions or their known parts."""
    kept: int
    """The number of claims with a verdict in the cache."""
    calls: int
    prompt_tokens: int
    reply_tokens: int
    cost: float | None
    """Null without prices."""
    minutes: float
    """At `SECONDS_PER_CALL`, with `at_once` calls in flight, and no faster than the rate limits."""
    at_once: int


def forecast(
    path: InputName,
    config: Config,
    *,
    limit: int | None = None,
    skip_bad_lines: bool = False,
) -> Forecast:
    """Return the requests that `judge score` would make for these samples; none is sent."""
    on_bad = (lambda _: None) if skip_bad_lines else None
    found = check_samples(path, on_bad=on_bad, mapping=config.map)
    many = min(found.samples, limit or found.samples)
    whole = found.samples if many < found.samples else None
    made_from = RunInput(path=str(path), sha256=found.sha256, samples=many, drawn_from=whole)
    single = {"fallback": False, "workers": 1, "max_tokens": None, "max_cost": None, "repeat": 1}
    asked = config.model_copy(update=single)

    counts, claims, kept = asyncio.run(_count(path, made_from, asked, on_bad))
    calls, prompt, reply = counts["calls"], counts["prompt_tokens"], counts["reply_tokens"]
    width = at_once(config)
    minutes = max(
        calls * SECONDS_PER_CALL / width / _MINUTE,
        calls / (config.rpm or float("inf")),
        (prompt + reply) / (config.tpm or float("inf")),
    )
    cost = config.cost(prompt, reply)
    return Forecast(many, claims, kept, calls, prompt, reply, cost, minutes, width)


async def _count(
    path: InputName,
    made_from: RunInput,
    config: Config,
    on_bad: Callable[[Rejected], None] | None,
) -> tuple[Counter[str], int, int]:
    """Return counts of the requests, the claims, and the claims with a verdict."""
    from judge.backends.openai.model import count_request  # noqa: PLC0415  imports the SDK

    counts, claims, kept = Counter[str](), 0, 0
    read = read_samples(path, on_bad=on_bad, mapping=config.map)
    samples = draw_samples(read, made_from, config.seed)
    async with (
        compose(config, partial(count_request, counts)) as judges,
        aclosing(Evaluator(config, judge=judges).evaluate(samples)) as results,
    ):
        async for result in results:
            judged = [each for each in outcomes(result) if not isinstance(each, Excluded)]
            claims += len(judged)
            kept += sum(isinstance(each, Verdict) for each in judged)
    return counts, claims, kept
