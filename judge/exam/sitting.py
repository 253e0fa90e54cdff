"""A sitting: each item of an exam is judged as by `judge score`, and graded."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, aclosing
from datetime import UTC, datetime
from typing import Final

from judge.compose import Judges, compose
from judge.config import Config
from judge.errors import ConfigError, InputError
from judge.evaluator import Evaluator, complete
from judge.exam.fitness import fitness
from judge.exam.items import ExamItems, read_items
from judge.exam.records import Cost, ExamReport, ExamRow, JudgeLabel
from judge.exam.scores import count, grade
from judge.judges.repeated import ReorderedJudge
from judge.protocols import Judge
from judge.records import SampleResult, UnscoredReason
from judge.records.result import ADDED

_EXAMINED: Final = {
    "cache": False,
    "fallback": False,
    "repeat": 1,
    **dict.fromkeys(ADDED, False),
}
"""The settings of an exam: each answer counts by itself."""

_Rounds = Sequence[Sequence[SampleResult]]
"""The results of each time that all items were judged."""
Watch = Callable[[int, int], object]
"""A function that receives after each answer the number of judged answers and of all answers."""


def sit(
    config: Config | None = None,
    items: ExamItems | None = None,
    *,
    judge: Judge | None = None,
    repeat: int = 1,
    watch: Watch = lambda *_: None,
) -> ExamReport:
    """Examine a judge, also inside a running event loop.

    Args:
        config: settings of the judge, as for `judge.evaluate`; without a cache, a fallback and
            repeats by majority.
        items: the items of the exam; by default the shipped ones.
        judge: the judge to examine instead of the one that the settings make.
        repeat: the number of times that each item is judged. The first verdict is graded; later
            ones are made with another order of the chunks, and another seed if the judge has one.
        watch: a function that is called after each answer.

    Raises:
        ConfigError: `repeat` is under 1.
        InputError: no labelled sentence is a claim.
        JudgeError: as for `judge.evaluate`.
    """
    if repeat < 1:
        raise ConfigError(f"repeat must be at least 1, not {repeat!r}; try 3")
    items = items or read_items()
    examined = (config or Config()).model_copy(update=_EXAMINED)
    began, started = time.monotonic(), datetime.now(UTC).isoformat(timespec="seconds")
    rounds: list[list[SampleResult]] = []

    async def ask() -> None:
        async with AsyncExitStack() as stack:
            judges = Judges(judge) if judge else await stack.enter_async_context(compose(examined))
            for examinee in _examinees(judges, repeat):
                samples = [item.sample for item in items.items]
                evaluator = Evaluator(examined, judge=Judges(examinee))
                rounds.append(results := [])
                async with aclosing(evaluator.evaluate(samples)) as judged:
                    async for result in judged:
                        results.append(result)
                        done = len(samples) * (len(rounds) - 1) + len(results)
                        watch(done, len(samples) * repeat)

    complete(ask())
    return _report(items, rounds, examined, started, time.monotonic() - began)


def _report(
    items: ExamItems, rounds: _Rounds, config: Config, started: str, seconds: float
) -> ExamReport:
    rows = _rows(items, rounds)
    if not rows:
        raise InputError("no labelled sentence of these items is a claim")
    signatures = Counter(result.signature for result in rounds[0])
    signature = signatures.most_common(1)[0][0]
    labels = sum(len(item.labels) for item in items.items)
    totals = count(rows, len(items.items), labels - len(rows))
    unasked = totals.unscored.get(UnscoredReason.BUDGET, 0) if config.limited else 0
    reasons = {each.unscored for row in rows for each in (row, *row.repeats)}
    return ExamReport(
        items=items.version,
        signature=signature,
        started=started,
        seconds=seconds,
        config=config.model_dump(mode="json"),
        repeat=len(rounds),
        rows=rows,
        totals=totals,
        cost=_cost(rounds, config),
        fitness=fitness(totals, config.max_unscored, unasked),
        over_budget=config.limited and UnscoredReason.BUDGET in reasons,
    )


def _examinees(judges: Judges, repeat: int) -> Iterator[Judge]:
    """Yield the judge of each round; after the first, another order and seed are used."""
    yield judges.faithfulness
    for number in range(1, repeat):
        if judges.repeat_judge is None:
            yield ReorderedJudge(judges.faithfulness, number)
        else:
            yield judges.repeat_judge(number, number)


def _rows(items: ExamItems, rounds: _Rounds) -> tuple[ExamRow, ...]:
    """Return the rows of the first round, with the labels of the later ones."""
    repeats: defaultdict[tuple[str, int], list[JudgeLabel]] = defaultdict(list)
    for results in rounds[1:]:
        for item, result in zip(items.items, results, strict=True):
            for row in grade(item, result):
                label = JudgeLabel(label=row.label, unscored=row.unscored)
                repeats[row.qid, row.sentence].append(label)
    return tuple(
        row.model_copy(update={"repeats": tuple(repeats[row.qid, row.sentence])})
        for item, result in zip(items.items, rounds[0], strict=True)
        for row in grade(item, result)
    )


def _cost(rounds: _Rounds, config: Config) -> Cost:
    answered = [result.calls for results in rounds for result in results if result.calls]
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
