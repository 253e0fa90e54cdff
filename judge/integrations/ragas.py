"""A metric for experiments of ragas, and one for `ragas.evaluate`.

An answer without a score is NaN, which ragas leaves out of its means, so count these too.
"""

from math import nan
from typing import Any

from judge import Evaluator, JudgeError, Sample
from judge.config import load_config
from judge.messages import Lang
from judge.reports.cases import case_of

try:
    from ragas import SingleTurnSample
    from ragas.metrics.base import MetricType, SingleTurnMetric
    from ragas.metrics.collections.base import BaseMetric
    from ragas.metrics.result import MetricResult
except ModuleNotFoundError as error:
    raise ImportError(f"{error}: pip install 'ragas>=0.4' 'langchain-community<0.4.2'") from error


class JudgeFaithfulness(BaseMetric):  # type: ignore[misc] # mypy sees no optional package
    """A metric for experiments, with a reason."""

    def __init__(self, evaluator: Evaluator | None = None, lang: Lang = "en") -> None:
        super().__init__("judge_faithfulness")
        self._evaluator, self._lang = evaluator or Evaluator(load_config({})), lang

    async def ascore(self, **row: Any) -> MetricResult:  # noqa: ANN401  as the base class has it
        """Return the faithfulness of `response` to `retrieved_contexts`."""
        result = await self._evaluator.evaluate_one(Sample.of(row))
        score, reason = result.scores.faithfulness, case_of(result, lang=self._lang).text
        return MetricResult(nan if score is None else score, reason)


class SingleTurnJudgeFaithfulness(SingleTurnMetric):  # type: ignore[misc] # mypy sees no optional package
    """A metric for `ragas.evaluate`: NaN if a claim has no verdict."""

    def __init__(self, evaluator: Evaluator | None = None) -> None:
        columns = {"user_input:optional", "response", "retrieved_contexts"}
        super().__init__({MetricType.SINGLE_TURN: columns}, "judge_faithfulness")
        self._evaluator = evaluator or Evaluator(load_config({}))

    def init(self, run_config: object) -> None:
        """Do nothing: the evaluator has its own settings."""

    async def _single_turn_ascore(self, sample: SingleTurnSample, **_: object) -> float:
        result = await self._evaluator.evaluate_one(Sample.of(sample))
        if case_of(result).kind == "error":
            raise JudgeError(case_of(result).text)
        return nan if (score := result.scores.faithfulness) is None else score
