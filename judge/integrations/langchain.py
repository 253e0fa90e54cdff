"""An evaluator for the `evaluate` of LangSmith, LangChain's platform.

An answer without a score has a value and a comment with the reason.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from judge import Evaluator, Sample
from judge.config import load_config
from judge.messages import Lang
from judge.reports.cases import case_of

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
