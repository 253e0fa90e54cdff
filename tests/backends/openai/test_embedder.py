import asyncio
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest

from judge.backends.openai import Connection, OpenAIEmbedder, Policy
from judge.errors import JudgeUnavailable
from judge.protocols import Embedder
from judge.records import Unscored
from tests.replies import Answer, Body, Hang, Reset, Status
from tests.server import JudgeServer

Rows = npt.NDArray[np.float32]
Embed = Callable[..., list[Rows | Unscored]]


@pytest.fixture
def embed(key: str, quick: Policy) -> Embed:
    """The rows of each list of texts, one after the other from one embedder."""

    def embedded(url: str, *lists: Sequence[str]) -> list[Rows | Unscored]:
        async def main() -> list[Rows | Unscored]:
            async with Connection(url, key, policy=quick) as connection:
                embedder: Embedder = OpenAIEmbedder(connection, "e")
                assert embedder.signature == f"embedding:e@{connection.host}"
                return [await embedder.embed(texts) for texts in lists]

        return asyncio.run(main())

    return embedded


def by_length(texts: Sequence[str]) -> list[list[float]]:
    """3-4-5 triangles and their multiples."""
    return [[3.0 * len(text), 4.0 * len(text)] for text in texts]


def only(outcomes: list[Rows | Unscored]) -> Rows:
    (rows,) = outcomes
    assert isinstance(rows, np.ndarray)
    return rows


def test_rows_of_unit_length_in_the_order_of_the_texts(embed: Embed) -> None:
    with JudgeServer(embedding=lambda texts: [[len(text), 0.0] for text in texts]) as server:
        rows = only(embed(server.base_url, ["a", "差旅标准"]))
    assert rows.dtype == np.float32
    assert rows.tolist() == [[1.0, 0.0], [1.0, 0.0]]
    with JudgeServer(embedding=by_length) as server:
        assert only(embed(server.base_url, ["ab"])) == pytest.approx(np.array([[0.6, 0.8]]))
    assert server.embedded == [["ab"]]


def test_blank_texts_alone_have_rows_as_long_as_the_others(embed: Embed) -> None:
    with JudgeServer(embedding=by_length) as server:
        first, second, none = embed(server.base_url, [" "], ["", "a"], [])
    assert isinstance(first, np.ndarray)
    assert isinstance(second, np.ndarray)
    assert isinstance(none, np.ndarray)
    assert first.tolist() == [[0.0, 0.0]]
    assert second == pytest.approx(np.array([[0, 0], [0.6, 0.8]]))
    assert none.shape == (0, 2)


def test_many_texts_go_in_batches(embed: Embed) -> None:
    texts = [f"{'x' * (i % 7)}" for i in range(84)]
    with JudgeServer(embedding=by_length) as server:
        rows = only(embed(server.base_url, texts))
    assert [len(batch) for batch in server.embedded] == [32, 32, 8]
    assert rows.any(axis=1).tolist() == [bool(text) for text in texts]


def test_rows_are_put_in_the_order_that_their_numbers_say(embed: Embed) -> None:
    body = '{"data": [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [5, 0]}]}'
    with JudgeServer(embedding=lambda _: Body(body)) as server:
        assert only(embed(server.base_url, ["a", "b"])).tolist() == [[1, 0], [0, 1]]
    # Without numbers the order is theirs, and a row of zeros stays one.
    body = '{"data": [{"embedding": [0, 0]}, {"embedding": [5, 0]}]}'
    with JudgeServer(embedding=lambda _: Body(body)) as server:
        assert only(embed(server.base_url, ["a", "b"])).tolist() == [[0, 0], [1, 0]]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Body('{"data": [{"embedding": [1]}]}'), "server_error"),
        (Body('{"data": [{"embedding": [1]}, {"embedding": [1, 2]}]}'), "server_error"),
        (Body('{"data": [{"embedding": []}, {"embedding": []}]}'), "server_error"),
        (Body('{"data": [{"embedding": [1]}, {"embedding": [NaN]}]}'), "server_error"),
        (Body('{"data": [{"embedding": "AAAA"}, {"embedding": "AAAA"}]}'), "server_error"),
        (Body("<html></html>", "text/html"), "server_error"),
        (Status(400, {"error": "too long"}), "server_error"),
        (Status(429, {"error": "slow down"}), "rate_limited"),
        (Reset(), "connection"),
    ],
)
def test_a_failure_is_a_value(embed: Embed, answer: Answer, reason: str) -> None:
    with JudgeServer(embedding=lambda _: answer) as server:
        (outcome,) = embed(server.base_url, ["a", "b"])
    assert isinstance(outcome, Unscored)
    assert outcome.reason == reason
    assert outcome.detail


def test_rows_of_another_width_than_before_are_refused(embed: Embed) -> None:
    def growing(texts: Sequence[str]) -> list[list[float]]:
        return [[1.0] * len(texts) for _ in texts]

    with JudgeServer(embedding=growing) as server:
        first, second = embed(server.base_url, ["a"], ["b", "c"])
    assert isinstance(first, np.ndarray)
    assert isinstance(second, Unscored)
    assert second.reason == "server_error"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(Hang(), "timeout"), (Status(429, {"error": "x"}, {"Retry-After": "9"}), "rate_limited")],
)
async def test_the_deadline_is_kept(key: str, quick: Policy, answer: Answer, reason: str) -> None:
    clock = asyncio.get_running_loop().time
    with JudgeServer(embedding=lambda _: answer) as server:
        async with Connection(server.base_url, key, policy=quick) as connection:
            outcome = await OpenAIEmbedder(connection, "e").embed(["a"], clock() + 0.05)
    assert isinstance(outcome, Unscored)
    assert outcome.reason == reason


async def check(url: str, key: str, policy: Policy) -> None:
    async with Connection(url, key, policy=policy) as connection:
        await OpenAIEmbedder(connection, "e").check()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Status(400, {"error": "no embeddings here"}), "can this model embed (--embedding-model)?"),
        (Body("<html>Sign in</html>", "text/html"), "is --base-url right?"),
        (Status(404, {"error": "no such model"}), "check --embedding-model"),
        (Reset(), "is the server running?"),
    ],
)
async def test_a_check_that_fails_ends_the_run_with_the_next_step(
    key: str, quick: Policy, answer: Answer, said: str
) -> None:
    with JudgeServer(embedding=lambda _: answer) as server:
        with pytest.raises(JudgeUnavailable) as caught:
            await check(server.base_url, key, quick)
        assert server.base_url in str(caught.value)
    assert said in str(caught.value)
    assert "'e'" in str(caught.value)
    assert "--model" not in str(caught.value)
