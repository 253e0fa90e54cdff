"""The judge that asks a language model, and repeats requests for verdicts that are missing."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Final, NamedTuple

from judge.errors import JudgeUnhealthy
from judge.judges.prompted.render import code_of, render, reply_tokens
from judge.judges.prompted.reply import Form
from judge.pool import apart, weigh
from judge.prompt import Prompt
from judge.protocols import Model
from judge.records import (
    Call,
    ChatFailure,
    ChatReply,
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    Reply,
    Unscored,
    UnscoredReason,
)
from judge.signature import Signature
from judge.text.visible import clip, printable

_MOST_MISSES: Final = 3
"""Replies without a verdict on a sentence, after which it is `Unscored(missing)`."""
_MOST_FAULTS: Final = 2
"""Unusable verdicts on a sentence, after which it is `Unscored(malformed)`."""
_MOST_REPLY_TOKENS: Final = 16_384
"""The highest limit on a reply where no other is set, beside the room for thinking."""
THINKING_TOKENS: Final = 8_192
"""The least limit after a cut where no other is set: some models think within it."""
BARREN: Final = 20
"""Answers without any verdict at the start of a run, after which it ends."""
_SHOWN_CHARACTERS: Final = 160
_STOPPED: Final = {
    "refusal": (UnscoredReason.REFUSED, "the model refused"),
    "content_filter": (
        UnscoredReason.CONTENT_FILTER,
        "the server's content filter stopped the reply",
    ),
}
_LATE: Final = "the time for this answer was up; see --deadline"
_VERDICTS: Final = Form()


class _Question(NamedTuple):
    """The sentences of one call."""

    faults: dict[int, str]
    """The fault of the last verdict on each sentence; empty without one."""
    cut: bool = False
    """Whether a reply about them was cut, so that the next limit is higher."""

    def halves(self, *, cut: bool) -> "list[_Question]":
        pairs, half = tuple(self.faults.items()), len(self.faults) // 2
        return [_Question(dict(part), cut) for part in (pairs[:half], pairs[half:])]


@dataclass(slots=True)
class _Progress:
    """The outcomes, calls and failed attempts of one answer so far."""

    code: str
    """The code in the tags around its texts."""
    outcomes: dict[int, JudgeOutcome] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    misses: Counter[int] = field(default_factory=Counter)
    faults: Counter[int] = field(default_factory=Counter)
    last_reply: str | None = None
    """The last reply; empty after an error response, null without a response."""

    def give_up(self, ids: Iterable[int], reason: UnscoredReason, detail: str) -> None:
        line = " ".join(detail.split())
        self.outcomes.update(dict.fromkeys(ids, Unscored(reason=reason, detail=line)))


@lru_cache
def _signature_of(
    model: str, prompt: Prompt, sentences_per_call: int, edition: tuple[str, ...]
) -> str:
    asked = Signature.parse(model)
    words, size = f"prompt:{prompt.reference}", f"n:{sentences_per_call}"
    return str(Signature(asked.maker).having(words, *asked.parts, size, *edition))


class PromptedJudge:
    """Asks a model about up to `sentences_per_call` sentences at a time, one call after the other.

    A reply that was cut is requested once more with `max_reply_tokens`, by default twice the limit
    and at least 8192; then in halves. `room` are the tokens for thinking, if the limit on a reply
    includes them. `form` belongs to the prompt. A guarded judge ends the run if the first answers
    have no verdict.
    """

    def __init__(
        self,
        model: Model,
        prompt: Prompt,
        *,
        sentences_per_call: int = 16,
        max_reply_tokens: int | None = None,
        room: int = 0,
        edition: tuple[str, ...] = (),
        form: Form = _VERDICTS,
        guarded: bool = True,
    ) -> None:
        self._model = model
        self._prompt = prompt
        self._size = sentences_per_call
        self._limit_after_cut = max_reply_tokens
        self._most = max_reply_tokens or _MOST_REPLY_TOKENS + room
        self._room = room
        # The first answers, which had no verdict; None after a verdict, or if unguarded.
        self._useless: set[int] | None = set() if guarded else None
        self._edition = edition
        self._form = form

    @property
    def signature(self) -> str:
        """The signature of the model, prompt and edition; it changes with the serving model."""
        return _signature_of(self._model.signature, self._prompt, self._size, self._edition)

    async def judge(self, request: JudgeRequest) -> Judgment:
        """Return one outcome per asked sentence. Without chunks the model is asked as well.

        After the request's deadline no call is made, and the open sentences are timeouts.

        Raises:
            JudgeUnhealthy: the first `BARREN` answers of the run had no verdict.
            JudgeUnavailable: as `Model.chat`.
        """
        clock = asyncio.get_running_loop().time
        code = await apart(weigh(request), code_of, request)
        progress = _Progress(code)
        starts = range(0, len(request.ask), self._size)
        groups = [request.ask[low : low + self._size] for low in reversed(starts)]
        questions = [_Question(dict.fromkeys(group, "")) for group in groups]
        while questions:
            question = questions.pop()
            if request.deadline is not None and clock() >= request.deadline:
                progress.give_up(question.faults, UnscoredReason.TIMEOUT, _LATE)
                continue
            questions.extend(reversed(await self._ask(request, question, progress)))
        self._stop_if_useless(request, progress)
        outcomes = {index: progress.outcomes[index] for index in request.ask}
        return Judgment(
            outcomes=outcomes, calls=tuple(progress.calls), replies=tuple(progress.replies)
        )

    async def _ask(
        self, request: JudgeRequest, question: _Question, progress: _Progress
    ) -> list[_Question]:
        """Make one call, and return the questions that are still open."""
        ids = tuple(question.faults)
        asked = request if ids == request.ask else request.model_copy(update={"ask": ids})
        usual = reply_tokens(len(ids) * self._form.entries) + self._room
        longer = self._limit_after_cut or max(2 * usual, THINKING_TOKENS)
        limit = min(self._most, longer if question.cut else usual)
        heavy, form, faults = weigh(request), self._form, self._describe(question)
        words = partial(render, faults=faults, limit=limit, code=progress.code, schema=form.schema)
        chat = await apart(heavy, words, asked, self._prompt)
        answer = await self._model.chat(chat)
        # A budget refuses a request before it is sent.
        if isinstance(answer, ChatReply) or answer.reason is not UnscoredReason.BUDGET:
            progress.calls.append(_call(answer))
        if isinstance(answer, ChatReply):
            progress.last_reply = answer.text
        elif answer.refused:
            progress.last_reply = ""
        if isinstance(answer, ChatReply) and answer.finish == "stop":
            again = self._read(answer.text, asked, f"{chat.system}\n{chat.user}", progress)
            return [question._replace(faults=again)] if again else []
        if isinstance(answer, ChatReply) and answer.finish == "length":
            if limit < min(self._most, longer):
                return [question._replace(cut=True)]
            if len(ids) > 1:
                return question.halves(cut=True)
            name = self._form.name(ids[0])
            hint = f"the reply was cut at {limit} tokens, and {name} alone was asked about"
            progress.give_up(ids, UnscoredReason.TRUNCATED, f"{hint}; see --max-reply-tokens")
        elif isinstance(answer, ChatReply):
            progress.give_up(ids, *_STOPPED[answer.finish])
        elif answer.reason is UnscoredReason.TRUNCATED and question.cut and len(ids) > 1:
            # The server refused the longer limit.
            return question.halves(cut=False)
        else:
            progress.give_up(ids, answer.reason, answer.detail)
        return []

    def _stop_if_useless(self, request: JudgeRequest, progress: _Progress) -> None:
        """Raise if all of the first `BARREN` answers of the run had no verdict."""
        if self._useless is None or progress.last_reply is None:
            return
        self._useless.add(hash((request.query, request.answer)))
        if len(self._useless) < BARREN:
            return
        failures = [each for each in progress.outcomes.values() if isinstance(each, Unscored)]
        text = clip(printable(progress.last_reply), _SHOWN_CHARACTERS)
        details = [*(each.detail for each in failures[-1:]), *([f"«{text}»"] if text else [])]
        last = " ".join(details)
        model = Signature.parse(self._model.signature).maker
        raise JudgeUnhealthy(
            f"{model}: none of the first {BARREN} answers got a usable verdict; last came: {last}; "
            "name another --model, or mend what it says"
        )

    def _read(
        self, text: str, asked: JudgeRequest, shown: str, progress: _Progress
    ) -> dict[int, str]:
        """Record the verdicts of a reply, and return the faults of the sentences to repeat."""
        # The signature is read now, because this reply may have named another serving model.
        parsed = self._form.parse(text, asked, self.signature, shown)
        progress.outcomes.update(parsed.verdicts)
        if parsed.verdicts:
            self._useless = None
            # The text may have a lone surrogate, which no file can hold.
            text = text.encode(errors="replace").decode()
            reply = Reply(text=text, call=progress.calls[-1], sentences=tuple(parsed.verdicts))
            progress.replies.append(reply)
        progress.misses.update(parsed.missing.keys())
        progress.faults.update(parsed.faulty.keys())
        again: dict[int, str] = {}
        for index, fault in sorted({**parsed.missing, **parsed.faulty}.items()):
            name = self._form.name(index)
            if progress.misses[index] >= _MOST_MISSES:
                detail = f"{name}: {fault} in {_MOST_MISSES} replies"
                progress.give_up([index], UnscoredReason.MISSING, detail)
            elif progress.faults[index] >= _MOST_FAULTS:
                progress.give_up([index], UnscoredReason.MALFORMED, f"{name}: {fault}")
            else:
                again[index] = fault
        return again

    def _describe(self, question: _Question) -> str:
        """Return the faults of earlier verdicts, each with its sentences."""
        names: dict[str, list[str]] = {}
        for index, fault in question.faults.items():
            if fault:
                names.setdefault(fault, []).append(self._form.name(index))
        return "; ".join(f"{', '.join(ids)}: {fault}" for fault, ids in names.items())


def _call(answer: ChatReply | ChatFailure) -> Call:
    reply = answer if isinstance(answer, ChatReply) else None
    return Call(
        model=reply.model if reply else "",
        prompt_tokens=reply.prompt_tokens if reply else 0,
        reply_tokens=reply.reply_tokens if reply else 0,
        seconds=answer.seconds,
        retries=answer.retries,
    )
