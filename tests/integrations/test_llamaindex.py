"""The LlamaIndex evaluator in the real llama-index-core."""

import pytest

from tests.known_scores import RATED, TEXT, rater, recipe, tool

evaluation = tool("llama_index.core.evaluation")
schema = tool("llama_index.core.schema")
responses = tool("llama_index.core.base.response.schema")
ours = tool("judge.integrations.llamaindex")

pytestmark = pytest.mark.filterwarnings("default")  # the package's own


@pytest.mark.parametrize("name", RATED)
async def test_an_evaluation(name: str) -> None:
    rated, judge = RATED[name], ours().JudgeFaithfulness(rater())
    for each in (
        await judge.aevaluate("差旅标准?", rated.answer, [TEXT]),
        judge.evaluate("差旅标准?", rated.answer, [TEXT]),  # in a running loop
    ):
        assert (each.score, each.passing) == (rated.score, rated.passing)
        assert each.invalid_result is (rated.passing is None)
        assert each.invalid_reason == (rated.says if rated.passing is None else None)
        assert (each.feedback or "").split("\n")[0] == rated.says
        assert (each.query, each.response, each.contexts) == ("差旅标准?", rated.answer, [TEXT])


async def test_a_batch_of_responses() -> None:
    node = schema().NodeWithScore(node=schema().TextNode(text=TEXT), score=0.5)
    given = [
        responses().Response(response=each.answer, source_nodes=[node]) for each in RATED.values()
    ]
    runner = evaluation().BatchEvalRunner({"faith": ours().JudgeFaithfulness(rater())}, workers=4)
    found = await runner.aevaluate_responses(queries=list(RATED), responses=given)
    assert [each.score for each in found["faith"]] == [each.score for each in RATED.values()]


def test_the_recipe() -> None:
    result = recipe("llamaindex")["result"]
    assert (result.passing, result.score) == (True, 1.0)
