"""A judge sits an exam: each item is judged as `judge score` would, and graded."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, aclosing
from datetime import UTC, datetime
from typing import Final, NamedTuple

from judge.compose import Judges, compose
from judge.config import Config
from judge.errors import ConfigError, InputError
from judge.evaluator import Evaluator, complete
from judge.exam.fitness import fitness
from judge.exam.items import Items, read_items
from judge.exam.records import Again, Change, Cost, ExamReport, ExamRow
from judge.exam.scores import count, grade
from judge.judges.repeated import ReorderedJudge
from judge.protocols import Judge
from judge.records import SampleResult, UnscoredReason
from judge.signature import Signature

_EXAMINED: Final = {
    "cache": False,
    "fallback": False,
    "repeat": 1,
    "correctness": False,
    "relevance": False,
}
"""The settings of an exam: no cache, no fallback and no majority, so that each answer counts by
itself."""

Watch = Callable[[int, int], object]
"""A function that receives after each answer the number of judged answers and of all answers."""


class _Asking(NamedTuple):
    """All items, judged."""

    change: Change | None
    """The change in this round of requests; None in the first round."""
    results: list[SampleResult]


def sit(
    config: Config | None = None,
    items: Items | None = None,
    *,
    judge: Judge | None = None,
    repeat: int = 1,
    watch: Watch = lambda *_: None,
) -> ExamReport:
    """Have a judge sit an exam, also inside a running event loop.

    Args:
        config: settings of the judge, as for `judge.evaluate`; its cache is neither read nor
            written, nobody falls back, and no majority decides.
        items: those that ship where left out.
        judge: another than the settings make.
        repeat: how often each item is asked; the first asking is graded. Each after it has the
            chunks in another order or, where a language model takes one, by turns another seed.
        watch: told how far it is.

    Raises:
        ConfigError: `repeat` is under 1.
        InputError: no labelled sentence is one that the judge is asked about.
        JudgeError: as of `judge.evaluate`.
    """
    if repeat < 1:
        raise ConfigError(f"repeat must be at least 1, not {repeat!r}; try 3")
    items = items or read_items()
    examined = (config or Config()).model_copy(update=_EXAMINED)
    began, started = time.monotonic(), datetime.now(UTC).isoformat(timespec="seconds")
    askings: list[_Asking] = []

    async def ask() -> None:
        async with AsyncExitStack() as stack:
            judges = Judges(judge) if judge else await stack.enter_async_context(compose(examined))
            for change, asked in _changed(judges, repeat):
                samples = [item.sample for item in items.items]
                evaluator = Evaluator(examined, judge=Judges(asked))
                askings.append(_Asking(change, results := []))
                async with aclosing(evaluator.evaluate(samples)) as judged:
                    async for result in judged:
                        results.append(result)
                        done = len(samples) * (len(askings) - 1) + len(results)
                        watch(done, len(samples) * repeat)

    complete(ask())
    return _report(items, askings, examined, started, time.monotonic() - began)


def _report(
    items: Items, askings: Sequence[_Asking], config: Config, started: str, seconds: float
) -> ExamReport:
    rows = _rows(items, askings)
    if not rows:
        raise InputError("no labelled sentence of these items is a claim that a judge is asked")
    signatures = Counter(result.signature for result in askings[0].results)
    signature = signatures.most_common(1)[0][0]
    labels = sum(len(item.labels) for item in items.items)
    totals = count(rows, len(items.items), labels - len(rows))
    unasked = totals.unscored.get(UnscoredReason.BUDGET, 0) if config.limited else 0
    reasons = {each.unscored for row in rows for each in (row, *row.again)}
    return ExamReport(
        items=items.version,
        signature=signature,
        prompt=Signature.parse(signature).part("prompt"),
        started=started,
        seconds=seconds,
        config=config.model_dump(mode="json"),
        repeat=len(askings),
        rows=rows,
        totals=totals,
        cost=_cost(askings, config),
        fitness=fitness(totals, config.max_unscored, unasked),
        over_budget=config.limited and UnscoredReason.BUDGET in reasons,
    )


def _changed(judges: Judges, repeat: int) -> Iterator[tuple[Change | None, Judge]]:
    """The judge of each asking, and what is another for it; one thing at a time."""
    again = judges.repeat_judge or (lambda _, order: ReorderedJudge(judges.faithfulness, order))
    # A judge without seeds has the same signature for each seed.
    seeded = again(1, 1).signature != again(0, 1).signature
    yield None, judges.faithfulness
    for number in range(1, repeat):
        if not seeded:
            yield "order", again(0, number)
        elif number % 2:
            yield "order", again(0, number // 2 + 1)
        else:
            yield "seed", again(number // 2, 0)


def _rows(items: Items, askings: Sequence[_Asking]) -> tuple[ExamRow, ...]:
    """The rows of the first asking, with what was said at the others."""
    again: defaultdict[tuple[str, int], list[Again]] = defaultdict(list)
    for change, results in askings[1:]:
        for item, result in zip(items.items, results, strict=True):
            if change == "order" and len({chunk.text for chunk in item.sample.chunks}) <= 1:
                continue  # there is no other
            for row in grade(item, result):
                told = Again(said=row.said, unscored=row.unscored, change=change or "order")
                again[row.qid, row.sentence].append(told)
    return tuple(
        row.model_copy(update={"again": tuple(again[row.qid, row.sentence])})
        for item, result in zip(items.items, askings[0].results, strict=True)
        for row in grade(item, result)
    )


def _cost(askings: Sequence[_Asking], config: Config) -> Cost:
    answered = [result.calls for _, results in askings for result in results if result.calls]
    calls = [call for each in answered for call in each]
    prompt = sum(call.prompt_tokens for call in calls)
    reply = sum(call.reply_tokens for call in calls)
    return Cost(
        calls=len(calls),
        prompt_tokens=prompt,
        reply_tokens=reply,
        cost=config.cost(prompt, reply),
        seconds=sum(call.seconds for call in calls) / len(answered) if answered else None,
    )
