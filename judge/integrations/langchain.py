"""An evaluator for the `evaluate` of LangSmith, and a step behind LangChain's chains.

An answer without a score has a value and a comment with the reason.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from judge import Evaluator, Sample, SampleResult, evaluate
from judge.config import load_config
from judge.messages import Lang
from judge.reports.cases import case_of

if TYPE_CHECKING:
    from langchain_core.runnables import Runnable
_Row = dict[str, Any]


def faithfulness_evaluator(
    evaluator: Evaluator | None = None, paths: Mapping[str, str] | None = None, lang: Lang = "en"
) -> Callable[..., Awaitable[_Row]]:
    """Return an evaluator for LangSmith; `paths` are the map of `Sample.of`."""
    judge = evaluator or Evaluator(load_config({}))

    async def faithfulness(inputs: _Row, outputs: _Row) -> _Row:
        result = await judge.evaluate_one(Sample.of({**inputs, **outputs}, map=paths))
        fields: _Row = {"key": "faithfulness", "score": result.scores.faithfulness}
        fields |= {} if fields["score"] is not None else {"value": result.status.value}
        metadata = {"signature": result.signature}
        return {**fields, "comment": case_of(result, lang=lang).text, "metadata": metadata}

    return faithfulness


def with_faithfulness(evaluator: Evaluator | None = None, lang: Lang = "en") -> "Runnable":
    """Return a step that adds `faithfulness` and `faithfulness_comment` to a chain's output."""
    try:
        from langchain_core.runnables import RunnableLambda  # noqa: PLC0415  LangSmith needs none
    except ModuleNotFoundError as error:
        raise ImportError(f"{error}: pip install langchain-core") from error
    judge = evaluator or Evaluator(load_config({}))

    def with_score(row: _Row, result: SampleResult) -> _Row:
        comment = case_of(result, lang=lang).text
        score = result.scores.faithfulness
        return {**row, "faithfulness": score, "faithfulness_comment": comment}

    def invoke(row: _Row) -> _Row:
        return with_score(row, *evaluate([Sample.of(row)], evaluator=judge))

    async def ainvoke(row: _Row) -> _Row:
        return with_score(row, await judge.evaluate_one(Sample.of(row)))

    return RunnableLambda(invoke, afunc=ainvoke, name="faithfulness")
