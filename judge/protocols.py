"""The interfaces the judges are built from. A fake of each stands in `judge.backends.fake`."""

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
    """Turns a request into one outcome per asked sentence. Judges nest: that is the policy."""

    @property
    def signature(self) -> str:
        """How its verdicts are made; known before the first one."""

    async def judge(self, request: JudgeRequest) -> Judgment:
        """Judge `request.ask`. The world's failures come back as `Unscored`, never as exceptions.

        Raises:
            JudgeUnavailable: the model cannot be asked at all, so that going on is pointless.
        """


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def signature(self) -> str:
        """The maker and the name of the embedding."""

    async def embed(
        self, texts: Sequence[str], deadline: float | None = None
    ) -> npt.NDArray[np.float32] | Unscored:
        """Rows of unit length (all zero for a text without content), shape (len(texts), d).

        A failure of the world is a value. `deadline`, on the event loop's clock, is when the rows
        must be there.

        Raises:
            JudgeUnavailable: as of `Model.chat`.
        """


class PairScorer(Protocol):
    """Tells of pairs of texts whether the second follows from the first."""

    @property
    def signature(self) -> str:
        """`NAME@HASH`: which model, and which weights of it."""

    async def score(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Relation | None] | Unscored:
        """One relation per pair (premise, hypothesis), in order; None for one that is too long.

        A failure of the world is a value, and concerns all pairs.
        """


class Model(Protocol):
    """A language model that is asked by chat completions."""

    @property
    def signature(self) -> str:
        """`llm:MODEL@HOST|…`: then the options that the capability probe settled."""

    async def chat(self, request: ChatRequest) -> ChatReply | ChatFailure:
        """Ask once, retries included. A failure of the world is a value.

        Raises:
            JudgeUnavailable: wrong key, unknown model, exhausted quota.
        """


class Store(Protocol):
    """Keeps texts by key, across processes and crashes."""

    async def get(self, keys: Sequence[str]) -> Mapping[str, str]:
        """The texts known for these keys; a missing key is absent."""

    async def put(self, texts: Mapping[str, str]) -> None:
        """Keep all of these, or none."""


class ReviewHook(Protocol):
    """Hands a share of the answers to people, while a run goes on; a plain function serves too."""

    def __call__(
        self, sample: Sample, result: SampleResult, probability: float, /
    ) -> Awaitable[None] | None:
        """Called as the result is made, in no order, for the answers that were drawn.

        On a thread of its own, one call after another; what it returns to be awaited, as a
        coroutine function does, is awaited there in another event loop than the caller's, 30
        seconds at most. So nothing it uses may be tied to the caller's loop.

        Whatever it raises, the run goes on as if there were no hook; only at its end are calls that
        are left waited for, half a minute at most. Of more than 1000 that wait, the next ones are
        dropped. A run that ends by an error or is interrupted gives them up. Results kept from an
        interrupted run are not handed on again, but one that was made and not yet written when it
        was cut off is made, and handed on, once more.

        Args:
            sample: what was judged.
            result: what came of it.
            probability: with which this answer was drawn, over 0 to 1.
        """
