"""For ragas: a metric for its experiments, and one for `ragas.evaluate`.

    from judge import Config, Evaluator
    from judge.integrations.ragas import JudgeFaithfulness, SingleTurnJudgeFaithfulness
    judge = Evaluator(Config(model="gpt-5-mini"))
    row = {"response": "每晚600元。", "retrieved_contexts": ["住宿每晚不超过600元。"]}
    print(await JudgeFaithfulness(judge).ascore(**row))
    print(ragas.evaluate(dataset, [SingleTurnJudgeFaithfulness(judge)]))

What is unscored, abstained or makes no claim is NaN, which ragas' means leave out: count it, too.
In `ragas.evaluate` a single claim without a verdict is enough: it logs why, or raises.
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
    """For experiments: a `MetricResult` with its reason."""

    def __init__(self, evaluator: Evaluator | None = None, lang: Lang = "en") -> None:
        super().__init__("judge_faithfulness")
        self._evaluator, self._lang = evaluator or Evaluator(load_config({})), lang

    async def ascore(self, **row: Any) -> MetricResult:  # noqa: ANN401  as the base class has it
        """The faithfulness of `response` to `retrieved_contexts`."""
        result = await self._evaluator.evaluate_one(Sample.of(row))
        score, reason = result.scores.faithfulness, case_of(result, lang=self._lang).text
        return MetricResult(nan if score is None else score, reason)


class SingleTurnJudgeFaithfulness(SingleTurnMetric):  # type: ignore[misc] # likewise
    """For `ragas.evaluate`: a column of numbers, of answers whose claims all have a verdict."""

    def __init__(self, evaluator: Evaluator | None = None) -> None:
        columns = {"user_input:optional", "response", "retrieved_contexts"}
        super().__init__({MetricType.SINGLE_TURN: columns}, "judge_faithfulness")
        self._evaluator = evaluator or Evaluator(load_config({}))

    def init(self, run_config: object) -> None:
        """Nothing: the evaluator has its own settings."""

    async def _single_turn_ascore(self, sample: SingleTurnSample, **_: object) -> float:
        result = await self._evaluator.evaluate_one(Sample.of(sample))
        if result.scores.unscored:
            raise JudgeError(case_of(result).text)
        return nan if (score := result.scores.faithfulness) is None else score
