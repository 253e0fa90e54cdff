"""Judge with the replies to a batch: verdicts go into the cache, open requests to a writer."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from judge.backends.openai.batch_model import WAITS, BatchModel, RequestKey
from judge.compose import MakeModel, compose, settled
from judge.config import Config
from judge.errors import JudgeUnhealthy, RunError
from judge.evaluator import Evaluator
from judge.inputs.files import is_many
from judge.inputs.runs import has_bytes
from judge.inputs.samples import read_samples
from judge.jobs.batch import REPLIES, BatchFolder, Replies, reading
from judge.judges.prompted import BARREN
from judge.records import FlagName, Outcome, SampleResult, Unscored, UnscoredReason, Verdict


class Filled(NamedTuple):
    """The state of the answers of a batch folder."""

    answers: int
    claims: int
    judged: int
    """Claims with a verdict, which is in the cache."""
    waiting: int
    """Claims that may still get a verdict by a reply."""
    unscored: Counter[str]
    """The other claims, by reason."""
    asked: int
    """Requests without a reply."""
    troubles: Counter[str]
    """The provider's reasons for requests without an answer."""


def fill(
    folder: BatchFolder, hand_on: Callable[[RequestKey, Mapping[str, JsonValue]], None]
) -> Filled:
    """Judge the samples of a folder with the replies that are there, as `judge score` would.

    Verdicts go into the cache; `hand_on` is called with each request without a reply, once or more.

    Raises:
        RunError: the samples have changed since.
        JudgeUnhealthy: there are many replies, and none holds a usable verdict.
    """
    made_from = folder.record.input
    path = Path(made_from.path)
    with reading(path):
        there = path.is_file() or is_many(path)
        if not there or not has_bytes(path, made_from):
            raise RunError(f"{path}: is not what {folder.path} was written from; put that back")
    # Budgets hold when the files are sent.
    unlimited = {"max_cost": None, "max_tokens": None}
    config = folder.config().model_copy(update=unlimited | {"fallback": False, "workers": 1})
    asked = set[str]()

    def note(key: RequestKey, body: Mapping[str, JsonValue]) -> None:
        asked.add(key.digest)
        hand_on(key, body)

    replies = Replies(folder)
    known = {**folder.record.takes, "served": folder.record.takes["served"] or replies.served}
    make_model = partial(BatchModel, find=replies.find, hand_on=note)
    counts, reasons = asyncio.run(_judged(config, known, make_model, path))
    if len(replies) >= BARREN and not counts["judged"]:
        message = f"{config.model}: none of {len(replies):,} replies holds a usable verdict; "
        raise JudgeUnhealthy(
            message + f"look into {folder.path / REPLIES}, or name another --model"
        )
    claims = counts["judged"] + counts["waiting"] + reasons.total()
    return Filled(
        counts["answers"],
        claims,
        counts["judged"],
        counts["waiting"],
        reasons,
        len(asked),
        replies.troubles,
    )


async def _judged(
    config: Config, known: Mapping[str, JsonValue], make_model: MakeModel, path: Path
) -> tuple[Counter[str], Counter[str]]:
    """Return the counts of answers and claims, and the reasons for claims without a verdict."""
    counts, reasons = Counter[str](), Counter[str]()
    await settled(config, known)
    async with compose(config, make_model) as judges:
        limit, paths = config.max_line, config.map
        samples = read_samples(path, on_bad=lambda _: None, max_line=limit, mapping=paths)
        async with aclosing(Evaluator(config, judge=judges).evaluate(samples)) as results:
            async for result in results:
                counts["answers"] += 1
                for outcome in _outcomes(result):
                    match outcome:
                        case Verdict():
                            counts["judged"] += 1
                        case Unscored(detail=detail) if detail == WAITS:
                            counts["waiting"] += 1
                        case Unscored(reason=reason):
                            reasons[reason.value] += 1
    return counts, reasons


def _outcomes(result: SampleResult) -> Iterator[Outcome]:
    """Yield the outcomes of an answer's claims, of correctness and of relevance."""
    # A verdict on some of the windows only is not final, and is not cached.
    half = {each.sentence for each in result.flags if each.name is FlagName.UNJUDGED_EVIDENCE}
    waits = Unscored(reason=UnscoredReason.CONNECTION, detail=WAITS)
    for sentence in result.sentences:
        yield waits if sentence.index in half else sentence.outcome
    if compared := result.correctness:
        yield from (each.outcome for each in compared.answer)
        yield from (each.outcome for each in compared.reference)
    if question := result.answer_relevance:
        yield from (part.outcome for part in question.parts)
        if question.failure:
            yield question.failure
