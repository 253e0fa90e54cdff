"""The deepeval metric in the real deepeval, without a key and without its telemetry."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.known_scores import RATED, TEXT, rater, recipe, tool

os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "1")  # it is read as it is imported
deepeval = tool("deepeval")
errors = tool("deepeval.errors")
cases = tool("deepeval.test_case")
ours = tool("judge.integrations.deepeval")

pytestmark = pytest.mark.filterwarnings("default")  # the package's own
JUDGED = {name: each for name, each in RATED.items() if each.answer}
"""deepeval itself refuses an empty output."""


def case(answer: str, texts: list[str] | None) -> Any:  # noqa: ANN401  of an optional package
    return cases().LLMTestCase(input="差旅标准?", actual_output=answer, retrieval_context=texts)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # it leaves a folder where it runs


@pytest.mark.parametrize("name", JUDGED)
async def test_a_measurement(name: str) -> None:
    rated, metric = JUDGED[name], ours().JudgeFaithfulness(evaluator=rater())
    open_ = name in {"unscored", "partly", "undecided"}
    for wait in (False, True):
        given = case(rated.answer, [TEXT])
        found = await metric.a_measure(given) if wait else metric.measure(given)
        assert found == metric.score == (None if open_ else rated.score)
        assert metric.is_successful() is (False if open_ else rated.passing)
        assert metric.skipped is (name == "abstained")
        assert ((metric.error or "").split("\n")[0] == rated.says) is (open_ or name == "supported")
        assert metric.reason.split("\n")[0] == rated.says
        assert (metric.evaluation_model, metric.threshold) == ("fake", 1.0)


@pytest.mark.parametrize("run_async", [True, False])
def test_assert_test(*, run_async: bool) -> None:
    metric = [ours().JudgeFaithfulness(1.0, rater(), "zh")]
    deepeval().assert_test(case(RATED["supported"].answer, [TEXT]), metric, run_async=run_async)
    for name, why in (("half", "2 条论断中有 1 条没有依据"), ("unscored", "未得到判断")):
        with pytest.raises(AssertionError, match=why):
            deepeval().assert_test(case(RATED[name].answer, [TEXT]), metric, run_async=run_async)
    with pytest.raises(errors().MissingTestCaseParamsError, match="retrieval_context"):
        deepeval().assert_test(case("Yes.", None), metric, run_async=run_async)


def test_the_recipe() -> None:
    recipe("deepeval")["test_probation"]()
