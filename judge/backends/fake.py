"""Stand-ins for the outside world, for users' tests and ours. They are passed in, never patched."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from judge.records import (
    ChatFailure,
    ChatReply,
    ChatRequest,
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    Relation,
    Unscored,
    UnscoredReason,
)
from judge.text.fold import estimate_tokens


class FakeJudge:
    """Answers by the sentence's text.

    Args:
        outcomes: sentence text to outcome; another sentence is `Unscored(missing)`.
        signature: what it calls itself.
    """

    def __init__(self, outcomes: Mapping[str, JudgeOutcome], signature: str = "fake") -> None:
        self._outcomes = outcomes
        self.signature = signature
        self.requests: list[JudgeRequest] = []
        """Every request it was given, in order."""

    async def judge(self, request: JudgeRequest) -> Judgment:
        """One scripted outcome per asked sentence."""
        self.requests.append(request)
        await asyncio.sleep(0)  # a real judge gives way, too
        missing = Unscored(reason=UnscoredReason.MISSING, detail="not in the script")
        texts = {index: request.sentences[index].text for index in request.ask}
        return Judgment(
            outcomes={index: self._outcomes.get(text, missing) for index, text in texts.items()}
        )


class FakeEmbedder:
    """Gives scripted vectors, scaled to unit length; a text without one is the zero vector."""

    signature = "fake"

    def __init__(self, vectors: Mapping[str, Sequence[float]]) -> None:
        self._vectors = vectors

    async def embed(
        self,
        texts: Sequence[str],
        deadline: float | None = None,  # noqa: ARG002 (nothing is waited for)
    ) -> npt.NDArray[np.float32]:
        """Rows of unit length, shape (len(texts), d)."""
        width = len(next(iter(self._vectors.values()), (0.0,)))
        rows = np.array([self._vectors.get(t, [0.0] * width) for t in texts], dtype=np.float32)
        rows = rows.reshape(len(texts), width)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        unit: npt.NDArray[np.float32] = rows / np.maximum(lengths, np.finfo(np.float32).tiny)
        return unit


class FakePairScorer:
    """Says what a function says of premise and hypothesis; keeps the pairs.

    Args:
        says: None for a pair that is too long. One failure instead fails all pairs.
        signature: what it calls itself.
    """

    def __init__(
        self, says: Callable[[str, str], Relation | None] | Unscored, signature: str = "fake"
    ) -> None:
        self._says = says
        self.signature = signature
        self.pairs: list[tuple[str, str]] = []
        """Every pair it was given, in order."""

    async def score(self, pairs: Sequence[tuple[str, str]]) -> list[Relation | None] | Unscored:
        """What the function says of each."""
        self.pairs += pairs
        await asyncio.sleep(0)  # a real model gives way, too
        if isinstance(self._says, Unscored):
            return self._says
        return [self._says(premise, hypothesis) for premise, hypothesis in pairs]


Scripted = ChatReply | ChatFailure | str
"""What a scripted model says; a text stands for a finished reply that consists of it."""


class FakeModel:
    """Gives scripted replies in order, then repeats the last; keeps the requests.

    Args:
        replies: at least one. One that depends on the request is a function of it.
        signature: what it calls itself.
    """

    def __init__(
        self,
        replies: Sequence[Scripted | Callable[[ChatRequest], Scripted]],
        signature: str = "fake",
    ) -> None:
        self._replies = list(replies)
        self.signature = signature
        self.requests: list[ChatRequest] = []
        """Every request it was given, in order."""

    async def chat(self, request: ChatRequest) -> ChatReply | ChatFailure:
        """The next reply."""
        self.requests.append(request)
        await asyncio.sleep(0)  # a real model gives way, too
        reply = self._replies[min(len(self.requests), len(self._replies)) - 1]
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
        """What is kept."""

    async def get(self, keys: Sequence[str]) -> dict[str, str]:
        """The texts known for these keys."""
        return {key: self.texts[key] for key in keys if key in self.texts}

    async def put(self, texts: Mapping[str, str]) -> None:
        """Keep all of these."""
        self.texts.update(texts)
