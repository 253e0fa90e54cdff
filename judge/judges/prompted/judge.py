"""The rounds of asking: what is missing is asked again, what is cut is asked in halves."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from judge.errors import ConfigError
from judge.judges.prompted.render import render, sentence_id
from judge.judges.prompted.reply import parse
from judge.prompt import Prompt
from judge.protocols import Model
from judge.records import (
    Call,
    ChatFailure,
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    Reply,
    Unscored,
    UnscoredReason,
)
from judge.signature import Signature
from judge.workers import apart, weigh

MISSES: Final = 3
"""A sentence without a verdict in so many replies is `Unscored(missing)`."""

FAULTS: Final = 2
"""A sentence with so many verdicts that cannot be used is `Unscored(malformed)`."""

_STOPPED: Final = {
    "refusal": (UnscoredReason.REFUSED, "the model refused"),
    "content_filter": (
        UnscoredReason.CONTENT_FILTER,
        "the server's content filter stopped the reply",
    ),
}
_COST: Final = {"model": "", "prompt_tokens": 0, "reply_tokens": 0, "seconds": 0.0, "retries": 0}
"""What is known of a call, and what it is where no reply came."""
_LATE: Final = "the time for this answer was up; see --deadline"


_Question = dict[int, str]
"""The sentences to ask about in one call, and what was wrong with the last verdict on each."""


@dataclass(slots=True)
class _Hearing:
    """What is known so far about one answer."""

    outcomes: dict[int, JudgeOutcome] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    misses: Counter[int] = field(default_factory=Counter)
    faults: Counter[int] = field(default_factory=Counter)

    def give_up(self, ids: Iterable[int], reason: UnscoredReason, detail: str) -> None:
        line = " ".join(detail.split())
        self.outcomes.update(dict.fromkeys(ids, Unscored(reason=reason, detail=line)))


@lru_cache
def signed(model: str, prompt: Prompt, sentences_per_call: int, edition: tuple[str, ...]) -> str:
    """A prompted judge's signature, from its model's and what else it is made of."""
    asked = Signature.parse(model)
    words, size = f"prompt:{prompt.reference}", f"n:{sentences_per_call}"
    return str(Signature(asked.maker).having(words, *asked.parts, size, *edition))


class PromptedJudge:
    """Asks a model about up to `sentences_per_call` sentences at a time, one call after the other.

    `edition` is what else the verdicts depend on, as the last parts of the signature. Each reply
    has a limit made from the number of sentences unless one is given.

    Raises:
        ConfigError: `sentences_per_call` is under 1.
    """

    def __init__(
        self,
        model: Model,
        prompt: Prompt,
        *,
        sentences_per_call: int = 16,
        max_reply_tokens: int | None = None,
        edition: tuple[str, ...] = (),
    ) -> None:
        if sentences_per_call < 1:
            raise ConfigError(
                f"sentences_per_call must be at least 1, not {sentences_per_call!r}; try 16"
            )
        self._model = model
        self._prompt = prompt
        self._size = sentences_per_call
        self._max_reply_tokens = max_reply_tokens
        self._edition = edition

    @property
    def signature(self) -> str:
        """It follows the model's own, which changes when another model comes to answer."""
        return signed(self._model.signature, self._prompt, self._size, self._edition)

    async def judge(self, request: JudgeRequest) -> Judgment:
        """One outcome per asked sentence. Without chunks the model is asked all the same.

        After the request's deadline nothing more is asked: what is open then is a timeout.
        """
        clock = asyncio.get_running_loop().time
        hearing = _Hearing()
        starts = range(0, len(request.ask), self._size)
        groups = [request.ask[low : low + self._size] for low in reversed(starts)]
        open_ones: list[_Question] = [dict.fromkeys(group, "") for group in groups]
        while open_ones:
            question = open_ones.pop()
            if request.deadline is not None and clock() >= request.deadline:
                hearing.give_up(question, UnscoredReason.TIMEOUT, _LATE)
                continue
            open_ones.extend(reversed(await self._ask(request, question, hearing)))
        outcomes = {index: hearing.outcomes[index] for index in request.ask}
        return Judgment(
            outcomes=outcomes, calls=tuple(hearing.calls), replies=tuple(hearing.replies)
        )

    async def _ask(
        self, request: JudgeRequest, question: _Question, hearing: _Hearing
    ) -> list[_Question]:
        """Make one call; returns the questions that it leaves open."""
        ids = tuple(question)
        asked = request if ids == request.ask else request.model_copy(update={"ask": ids})
        faults, most = _told(question), self._max_reply_tokens
        heavy = weigh(request)
        chat = await apart(heavy, render, asked, self._prompt, faults=faults, max_reply_tokens=most)
        answer = await self._model.chat(chat)
        cost = answer.model_dump(include=set(_COST))
        hearing.calls.append(Call.model_validate(_COST | cost))
        if isinstance(answer, ChatFailure):
            hearing.give_up(ids, answer.reason, answer.detail)
        elif answer.finish in _STOPPED:
            hearing.give_up(ids, *_STOPPED[answer.finish])
        elif answer.finish == "stop":
            return self._read(answer.text, asked, hearing)
        elif len(ids) > 1:
            half = len(ids) // 2
            return [{index: question[index] for index in part} for part in (ids[:half], ids[half:])]
        else:
            cut = f"the reply was cut at {chat.max_tokens} tokens, for this sentence alone"
            hint = f"{cut}; see --max-reply-tokens"
            hearing.give_up(ids, UnscoredReason.TRUNCATED, hint)
        return []

    def _read(self, text: str, asked: JudgeRequest, hearing: _Hearing) -> list[_Question]:
        # Read now, for it is this reply that may have shown that another model answers.
        parsed = parse(text, asked, self.signature)
        hearing.outcomes.update(parsed.verdicts)
        if parsed.verdicts:
            reply = Reply(text=text, call=hearing.calls[-1], sentences=tuple(parsed.verdicts))
            hearing.replies.append(reply)
        hearing.misses.update(parsed.missing.keys())
        hearing.faults.update(parsed.faulty.keys())
        again: dict[int, str] = {}
        for index, fault in sorted({**parsed.missing, **parsed.faulty}.items()):
            name = sentence_id(index)
            if hearing.misses[index] >= MISSES:
                detail = f"{name}: {fault} in {MISSES} replies"
                hearing.give_up([index], UnscoredReason.MISSING, detail)
            elif hearing.faults[index] >= FAULTS:
                hearing.give_up([index], UnscoredReason.MALFORMED, f"{name}: {fault}")
            else:
                again[index] = fault
        return [again] if again else []


def _told(question: _Question) -> str:
    """What was wrong with earlier verdicts, each fault with the sentences that had it."""
    names: dict[str, list[str]] = {}
    for index, fault in question.items():
        if fault:
            names.setdefault(fault, []).append(sentence_id(index))
    return "; ".join(f"{', '.join(ids)}: {fault}" for fault, ids in names.items())
