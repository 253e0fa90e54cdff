"""A metric for deepeval's `assert_test`, `evaluate` and `deepeval test run`; it needs no key.

A failed claim, or undecided claims alone, give an `error`; an answer without a claim is skipped.
"""

from typing import Any

from judge import Evaluator, Sample, SampleResult, evaluate
from judge.config import load_config
from judge.messages import Lang
from judge.reports.cases import case_of

try:
    from deepeval.metrics import BaseMetric
    from deepeval.metrics.utils import check_llm_test_case_params
    from deepeval.test_case import LLMTestCase, SingleTurnParams
except ModuleNotFoundError as error:
    raise ImportError(f"{error}: pip install deepeval") from error


class JudgeFaithfulness(BaseMetric):  # type: ignore[misc] # mypy sees no optional package
    """Succeeds if faithfulness is at least `threshold`."""

    __name__ = "Faithfulness (judge)"

    def __init__(
        self, threshold: float | None = 1.0, evaluator: Evaluator | None = None, lang: Lang = "en"
    ) -> None:
        self.evaluator = evaluator or Evaluator(load_config({}))
        self.threshold, self.lang = threshold, lang  # all named as arguments, for copies

    def measure(self, test_case: LLMTestCase, **_: Any) -> float | None:  # noqa: ANN401
        """Return the faithfulness of a case, and set its reason; in a running event loop too."""
        return self._take(*evaluate([self._sample(test_case)], evaluator=self.evaluator))

    async def a_measure(self, test_case: LLMTestCase, **_: Any) -> float | None:  # noqa: ANN401
        """Return the same without blocking."""
        return self._take(await self.evaluator.evaluate_one(self._sample(test_case)))

    def is_successful(self) -> bool | None:
        """Return None if the case was skipped, or there is no threshold."""
        return None if self.threshold is None else self.success

    def _sample(self, case: LLMTestCase) -> Sample:
        needed = [SingleTurnParams.ACTUAL_OUTPUT, SingleTurnParams.RETRIEVAL_CONTEXT]
        check_llm_test_case_params(case, needed, None, None, self)
        return Sample.of(case)

    def _take(self, result: SampleResult) -> float | None:
        least = 1.0 if self.threshold is None else self.threshold
        case, self.evaluation_model = case_of(result, least, self.lang), result.signature
        self.reason, self.skipped = case.text, case.kind == "skipped"
        self.success = None if self.skipped else case.kind == "passed"
        self.error = case.text if case.kind in {"error", "undecided"} else None
        self.score = None if self.error else result.scores.faithfulness
        return self.score
