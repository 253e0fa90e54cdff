"""An evaluator of LlamaIndex responses, alone or in a `BatchEvalRunner`.

A result with a failed claim, or without a score, is invalid, and its `passing` is None.
"""

from collections.abc import Sequence
from typing import Any

from judge import Evaluator, Sample
from judge.config import load_config
from judge.messages import Lang
from judge.reports.cases import case_of

try:
    from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
except ModuleNotFoundError as error:
    raise ImportError(f"{error}: pip install llama-index-core") from error


class JudgeFaithfulness(BaseEvaluator):  # type: ignore[misc] # mypy sees no optional package
    """Passes a response whose faithfulness is at least `threshold`."""

    def __init__(
        self, evaluator: Evaluator | None = None, *, threshold: float = 1.0, lang: Lang = "en"
    ) -> None:
        self._evaluator = evaluator or Evaluator(load_config({}))
        self._threshold, self._lang = threshold, lang

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: dict[str, Any]) -> None:
        del prompts  # the judge's are pinned

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **_: Any,  # noqa: ANN401  as the base class has it
    ) -> EvaluationResult:
        """Return the result of a response, judged by the texts of its contexts."""
        row = {"query": query, "answer": response, "contexts": contexts and list(contexts)}
        result = await self._evaluator.evaluate_one(Sample.of(row))
        case = case_of(result, self._threshold, self._lang)
        judged: dict[str, Any] = {"query": query, "response": response, "contexts": contexts}
        judged |= {"score": result.scores.faithfulness, "feedback": case.text}
        if case.kind in {"passed", "failure"}:
            return EvaluationResult(**judged, passing=case.kind == "passed")
        return EvaluationResult(**judged, invalid_result=True, invalid_reason=case.message)
