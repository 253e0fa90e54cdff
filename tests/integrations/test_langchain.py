"""The evaluator in the real langsmith; traces stay on loopback."""

import uuid
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from tests.known_scores import RATED, TEXT, rater, recipe, tool
from tests.post_server import PostServer
from tests.replies import Status

runnables = tool("langchain_core.runnables")
documents = tool("langchain_core.documents")
langsmith = tool("langsmith")
ours = tool("judge.integrations.langchain")

pytestmark = pytest.mark.filterwarnings("default")  # the packages' own


def dataset() -> list[Any]:
    schemas, own = tool("langsmith.schemas")(), uuid.uuid4()
    return [
        schemas.Example(id=uuid.uuid4(), inputs={"question": name}, dataset_id=own)
        for name in RATED
    ]


@cache
def chunks() -> list[Any]:
    return [documents().Document(page_content=TEXT, metadata={"source": "hr.pdf"})]


def target(inputs: dict[str, str]) -> dict[str, object]:
    return {"answer": RATED[inputs["question"]].answer, "documents": chunks()}


def check(given: list[Any]) -> None:
    """Check that answers without a score have none, instead of a 0 or a 1."""
    told = {
        row["example"].inputs["question"]: each
        for row in given
        for each in row["evaluation_results"]["results"]
    }
    assert {name: each.score for name, each in told.items()} == {
        name: each.score for name, each in RATED.items()
    }
    for name, each in told.items():
        assert each.key == "faithfulness"
        assert (each.comment or "").split("\n")[0] == RATED[name].says
        words = {"unscored": name, "abstained": name, "empty": "no_claims", "undecided": "unscored"}
        assert each.value == words.get(name)
        assert each.metadata == {"signature": "fake"}


@pytest.fixture
def settings() -> Iterator[dict[str, Any]]:
    """Nothing of LangSmith's but a server that takes what is traced."""
    with PostServer(Status(202, {})) as server:
        client = langsmith().Client(api_url=server.origin, api_key="-", info={})
        judge = ours().faithfulness_evaluator(rater())
        yield {"evaluators": [judge], "client": client, "upload_results": False}
        client.flush()


def test_langsmith_evaluate(settings: dict[str, Any]) -> None:
    check(list(langsmith().evaluate(target, data=dataset(), **settings)))


def test_a_step_behind_a_chain() -> None:
    rag = runnables().RunnableLambda(
        lambda name: {"input": name, "answer": RATED[name].answer, "context": chunks()}
    )
    for row in (rag | ours().with_faithfulness(rater())).batch(list(RATED)):
        rated = RATED[row["input"]]
        assert (row["faithfulness"], row["answer"]) == (rated.score, rated.answer)
        assert row["faithfulness_comment"].split("\n")[0] == rated.says
        assert row["context"] == chunks()


def test_the_recipe() -> None:
    feedback = recipe("langchain")["feedback"]
    assert (feedback["score"], feedback["comment"]) == (1.0, "")
