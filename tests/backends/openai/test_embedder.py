import asyncio
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest

from judge.backends.openai.client import Connection, Policy
from judge.backends.openai.embedder import OpenAIEmbedder
from judge.errors import JudgeUnavailable
from judge.protocols import Embedder
from judge.records import Unscored
from tests.replies import Answer, Body, Hang, Reset, Status, too_many
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
                assert embedder.signature == f"embedding:e@{connection.server.host}"
                return [await embedder.embed(texts) for texts in lists]

        return asyncio.run(main())

    return embedded


def by_length(texts: Sequence[str]) -> list[list[float]]:
    """3-4-5 triangles and their multiples."""
    return [[3.0 * len(text), 4.0 * len(text)] for text in texts]


def always(answer: Answer) -> Callable[[Sequence[str]], Answer]:
    return lambda _: answer


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
        assert only(embed(server.base_url, ["so</s>"])).shape == (1, 2)
    assert server.embedded == [["ab"], ["so＜/s\u2060>"]]


def test_blank_texts_have_rows_as_long_as_the_others(embed: Embed) -> None:
    with JudgeServer(embedding=by_length) as server:
        first, second = embed(server.base_url, [" "], ["", "a"])
    assert isinstance(first, np.ndarray)
    assert isinstance(second, np.ndarray)
    assert first.tolist() == [[0.0, 0.0]]
    assert second == pytest.approx(np.array([[0, 0], [0.6, 0.8]]))


_BAD = "server_error"
FAILURES: list[tuple[Answer, str]] = [
    (Body('{"data": [{"embedding": [1]}]}'), _BAD),
    (Body('{"data": [{"embedding": [1]}, {"embedding": [1, 2]}]}'), _BAD),
    (Body('{"data": [{"embedding": []}, {"embedding": []}]}'), _BAD),
    (Body('{"data": [{"embedding": [1]}, {"embedding": [NaN]}]}'), _BAD),
    *(
        (Body(f'{{"data": [{{"embedding": [1, 0]}}, {{"embedding": [{number}, 0]}}]}}'), _BAD)
        for number in ("1e999", "1e300", "-Infinity", "9" * 400, "null")
    ),
    (Body('[{"embedding": [1]}, {"embedding": [1]}]'), _BAD),
    (Body('{"data": [{"embedding": "AAAA"}, {"embedding": "AAAA"}]}'), _BAD),
    (Body("<html></html>", "text/html"), _BAD),
    (Status(400, {"error": "too long"}), _BAD),
    (Status(429, {"error": "slow down"}), "rate_limited"),
    (Reset(), "connection"),
]


def test_a_failure_is_a_value(embed: Embed) -> None:
    found = []
    for answer, _ in FAILURES:
        with JudgeServer(embedding=always(answer)) as server:
            (outcome,) = embed(server.base_url, ["a", "b"])
        assert isinstance(outcome, Unscored)
        assert outcome.detail
        found.append((answer, outcome.reason))
    assert found == FAILURES


def test_batches_whose_rows_differ_in_length_are_a_failure(embed: Embed) -> None:
    # A server that changes its model meanwhile.
    with JudgeServer(embedding=lambda texts: [[1.0] * len(texts) for _ in texts]) as server:
        (outcome,) = embed(server.base_url, ["a"] * 33)
    assert isinstance(outcome, Unscored)
    assert outcome.reason == _BAD


async def test_the_deadline_is_kept(key: str, quick: Policy) -> None:
    clock = asyncio.get_running_loop().time
    # A wait that would end behind the deadline is not begun.
    answers: dict[str, tuple[Answer, float]] = {
        "timeout": (Hang(), 0.05),
        "rate_limited": (too_many("90"), 60.0),
    }
    for reason, (answer, seconds) in answers.items():
        with JudgeServer(embedding=always(answer)) as server:
            async with Connection(server.base_url, key, policy=quick) as connection:
                outcome = await OpenAIEmbedder(connection, "e").embed(["a"], clock() + seconds)
        assert isinstance(outcome, Unscored)
        assert outcome.reason == reason


HOPELESS: dict[str, Answer] = {
    "does this model take such requests (--embedding-model)?": Status(
        400, {"error": "no embeddings here"}
    ),
    "is --base-url right?": Body("<html>Sign in</html>", "text/html"),
    "check --embedding-model": Status(404, {"error": "no such model"}),
    "is the server running?": Reset(),
}


async def test_a_check_that_fails_ends_the_run_with_the_next_step(key: str, quick: Policy) -> None:
    for said, answer in HOPELESS.items():
        with JudgeServer(embedding=always(answer)) as server:
            async with Connection(server.base_url, key, policy=quick) as connection:
                with pytest.raises(JudgeUnavailable) as caught:
                    await OpenAIEmbedder(connection, "e").check()
        message = str(caught.value)
        assert message.startswith(f"model 'e' at {server.base_url} ")
        assert said in message
        assert "--model" not in message
