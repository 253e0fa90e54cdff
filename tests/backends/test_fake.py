import numpy as np
import pytest

from judge.backends.fake import FakeEmbedder, FakeModel, FakePairScorer
from judge.protocols import Embedder, Model, PairScorer
from judge.records import ChatFailure, ChatReply, ChatRequest, Relation, Unscored, UnscoredReason


async def test_an_embedder_gives_rows_of_unit_length_and_zeros_for_the_unknown() -> None:
    fake = FakeEmbedder({"a": (3.0, 4.0), "零": (0.0, 0.0)})
    embedder: Embedder = fake
    assert embedder.signature == "fake"
    rows = await fake.embed(["a", "unknown", "零", "a"])
    assert rows.dtype == np.float32
    assert rows == pytest.approx(np.array([[0.6, 0.8], [0, 0], [0, 0], [0.6, 0.8]]))
    assert (await fake.embed([])).shape == (0, 2)
    assert np.array_equal(await fake.embed(["a"], deadline=0.0), rows[:1])


async def test_a_pair_scorer_says_what_its_function_says_and_keeps_the_pairs() -> None:
    half = Relation(entailed=0.5)
    fake = FakePairScorer(lambda premise, hypothesis: half if premise == hypothesis else None)
    scorer: PairScorer = fake
    assert scorer.signature == "fake"
    assert await scorer.score([("a", "a"), ("一", "二")]) == [half, None]
    assert await scorer.score([]) == []
    assert fake.pairs == [("a", "a"), ("一", "二")]


async def test_a_pair_scorer_that_fails_fails_for_all_pairs() -> None:
    failure = Unscored(reason=UnscoredReason.SERVER_ERROR)
    assert await FakePairScorer(failure).score([("a", "b")]) == failure


REQUEST = ChatRequest(system="four", user="说", reply_schema={}, max_tokens=9)


async def test_a_model_replies_in_order_and_then_repeats_the_last() -> None:
    reply = ChatReply(
        text="{}", finish="length", model="m", prompt_tokens=1, reply_tokens=1, seconds=0.0
    )
    failure = ChatFailure(reason=UnscoredReason.TIMEOUT)
    fake = FakeModel([failure, reply])
    model: Model = fake
    assert [await model.chat(REQUEST) for _ in range(3)] == [failure, reply, reply]
    assert fake.requests == [REQUEST] * 3


async def test_a_text_is_a_finished_reply_of_it() -> None:
    assert await FakeModel(["eight le"]).chat(REQUEST) == ChatReply(
        text="eight le", finish="stop", model="fake", prompt_tokens=2, reply_tokens=2, seconds=0.0
    )


async def test_a_function_replies_to_what_it_is_asked() -> None:
    failure = ChatFailure(reason=UnscoredReason.CONNECTION)
    model = FakeModel([lambda request: request.user, lambda _: failure], "llm:fake@here")
    assert model.signature == "llm:fake@here"
    first = await model.chat(REQUEST)
    assert isinstance(first, ChatReply)
    assert first.text == "说"
    assert await model.chat(REQUEST) == failure
