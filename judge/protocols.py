"""The interfaces that judges are built from. `judge.backends.fake` has fakes of them for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from judge.records.exchange import (
        ChatFailure,
        ChatReply,
        ChatRequest,
        JudgeRequest,
        Judgment,
        Relation,
    )
    from judge.records.result import SampleResult
    from judge.records.sample import Sample
    from judge.records.sentence import Unscored


class Judge(Protocol):
    """Turns a request into one outcome per asked sentence. Judges nest."""

    @property
    def signature(self) -> str:
        """How the verdicts are made; known before the first one."""

    async def judge(self, request: JudgeRequest) -> Judgment:
        """Return an outcome for each of `request.ask`; failures of the world are `Unscored`.

        Raises:
            JudgeUnavailable: the model cannot be asked at all.
        """


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def signature(self) -> str:
        """The maker and the name of the embedding."""

    async def embed(
        self, texts: Sequence[str], deadline: float | None = None
    ) -> npt.NDArray[np.float32] | Unscored:
        """Return rows of unit length, shape (len(texts), d); zeros for a text without content.

        A failure of the world is a value. `deadline` is on the event loop's clock.

        Raises:
            JudgeUnavailable: as `Model.chat`.
        """


class PairScorer(Protocol):
    """Judges whether the second text of a pair follows from the first."""

    @property
    def signature(self) -> str:
        """`NAME@HASH`: the model and its weights."""

    async def score(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Relation | None] | Unscored:
        """Return one relation per pair (premise, hypothesis), None for a pair that is too long.

        A failure of the world is a value for all pairs.
        """


class Model(Protocol):
    """A language model that is asked by chat completions."""

    @property
    def signature(self) -> str:
        """`llm:MODEL@HOST|…`, followed by the options that the probe of the server found."""

    async def chat(self, request: ChatRequest) -> ChatReply | ChatFailure:
        """Send a request, with retries. A failure of the world is a value.

        Raises:
            JudgeUnavailable: wrong key, unknown model, exhausted quota.
        """


class Store(Protocol):
    """Keeps texts by key, across processes and crashes."""

    async def get(self, keys: Sequence[str]) -> Mapping[str, str]:
        """Return the texts known for these keys; a missing key is absent."""

    async def put(self, texts: Mapping[str, str]) -> None:
        """Store all texts in one transaction."""


class ReviewHook(Protocol):
    """Receives a share of the results during a run. A plain function is one."""

    def __call__(
        self, sample: Sample, result: SampleResult, probability: float, /
    ) -> Awaitable[None] | None:
        """Receive one result, which was drawn with this probability, over 0 to 1.

        The calls run one after another on a separate thread. An awaitable result is awaited there,
        for at most 30 seconds. Errors are logged. While 1000 calls wait, further ones are dropped.
        A finished run waits 30 seconds for the last calls.
        """
