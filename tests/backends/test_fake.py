import numpy as np
import pytest

from judge.backends.fake import FakeEmbedder, FakeModel, FakePairScorer
from judge.protocols import Embedder, Model, PairScorer
from judge.records import ChatFailure, ChatReply, ChatRequest, Relation, Unscored, UnscoredReason

REQUEST = ChatRequest(system="four", user="说", reply_schema={}, max_tokens=9)


async def test_an_embedder_gives_rows_of_unit_length_and_zeros_for_the_unknown() -> None:
    fake: Embedder = FakeEmbedder({"a": (3.0, 4.0), "零": (0.0, 0.0)})
    rows = await fake.embed(["a", "unknown", "零"], deadline=0.0)
    assert isinstance(rows, np.ndarray)
    assert rows.dtype == np.float32
    assert rows == pytest.approx(np.array([[0.6, 0.8], [0, 0], [0, 0]]))
    none = await fake.embed([])
    assert isinstance(none, np.ndarray)
    assert none.shape == (0, 2)


async def test_a_pair_scorer_says_what_its_function_says_or_fails_for_all() -> None:
    half = Relation(entailed=0.5)
    fake: PairScorer = FakePairScorer(lambda one, two: half if one == two else None)
    assert await fake.score([("a", "a"), ("一", "二")]) == [half, None]
    failure = Unscored(reason=UnscoredReason.SERVER_ERROR)
    assert await FakePairScorer(failure).score([("a", "b")]) == failure


async def test_a_model_replies_in_order_and_then_repeats_the_last() -> None:
    failure = ChatFailure(reason=UnscoredReason.TIMEOUT)
    fake = FakeModel([failure, lambda request: request.user, "eight le"], "llm:fake@here")
    model: Model = fake
    assert model.signature == "llm:fake@here"
    replies = [await model.chat(REQUEST) for _ in range(4)]
    assert replies[0] == failure
    assert [reply.text for reply in replies if isinstance(reply, ChatReply)] == [
        "说",
        "eight le",
        "eight le",
    ]
    assert replies[3] == ChatReply(
        text="eight le", finish="stop", model="fake", prompt_tokens=2, reply_tokens=2, seconds=0.0
    )
    assert fake.requests == [REQUEST] * 4
