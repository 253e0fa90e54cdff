"""Fakes for users' tests and ours, to be passed in and never patched.

Each yields to the event loop once, as a real one does.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from judge.records import (
    ChatFailure,
    ChatReply,
    ChatRequest,
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    Unscored,
    UnscoredReason,
)
from judge.text.fold import estimate_tokens

Scripted = ChatReply | ChatFailure | str
"""A scripted reply or failure; a text is short for a finished reply."""


@dataclass(eq=False)
class FakeJudge:
    """Answers by the sentence's text."""

    outcomes: Mapping[str, JudgeOutcome]
    """Sentence text to outcome; another sentence is `Unscored(missing)`."""
    signature: str = "fake"
    requests: list[JudgeRequest] = field(default_factory=list)
    """The requests so far, in order."""

    async def judge(self, request: JudgeRequest) -> Judgment:
        """Return one scripted outcome per asked sentence."""
        self.requests.append(request)
        await asyncio.sleep(0)
        missing = Unscored(reason=UnscoredReason.MISSING, detail="not in the script")
        texts = {index: request.sentences[index].text for index in request.ask}
        return Judgment(outcomes={i: self.outcomes.get(text, missing) for i, text in texts.items()})


@dataclass(eq=False)
class FakeModel:
    """Gives scripted replies in order, then repeats the last."""

    replies: Sequence[Scripted | Callable[[ChatRequest], Scripted]]
    """At least one. One that depends on the request is a function of it."""
    signature: str = "fake"
    requests: list[ChatRequest] = field(default_factory=list)
    """The requests so far, in order."""

    async def chat(self, request: ChatRequest) -> ChatReply | ChatFailure:
        """Return the next reply."""
        self.requests.append(request)
        await asyncio.sleep(0)
        reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
        if callable(reply):
            reply = reply(request)
        if not isinstance(reply, str):
            return reply
        return ChatReply(
            text=reply,
            finish="stop",
            model="fake",
            prompt_tokens=estimate_tokens(request.system + request.user),
            reply_tokens=estimate_tokens(reply),
            seconds=0.0,
        )


class FakeStore:
    """A store in memory."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        """The stored texts by key."""

    async def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the stored texts by key."""
        return {key: self.texts[key] for key in keys if key in self.texts}

    async def put(self, texts: Mapping[str, str]) -> None:
        """Store the texts."""
        self.texts.update(texts)
