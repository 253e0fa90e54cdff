"""A scorer for `mlflow.genai.evaluate`.

Passages may also be the outputs of the trace's retrievers. The `Feedback` on an answer without a
score has no value, and its `error` has the reason as code.
"""

from collections.abc import Mapping
from typing import Any

from judge import Evaluator, Sample, evaluate
from judge.config import load_config
from judge.messages import Lang
from judge.reports.cases import case_of

try:
    from mlflow.entities import AssessmentError, AssessmentSource, Feedback, SpanType, Trace
    from mlflow.genai.scorers import Scorer, scorer
except ModuleNotFoundError as error:
    raise ImportError(f"{error.name} is missing: pip install mlflow") from error

_NUMBERS = {"claims", "judged", "unscored", "faithfulness_bounds", "citation_validity"}


def faithfulness_scorer(
    evaluator: Evaluator | None = None, *, paths: Mapping[str, str] | None = None, lang: Lang = "en"
) -> Scorer:
    """Return a scorer of faithfulness, 0 to 1; `paths` are the map of `Sample.of`."""
    judge = evaluator or Evaluator(load_config({}))

    def faithfulness(
        inputs: object = None, outputs: object = None, trace: Trace | None = None
    ) -> Feedback:
        spans = trace.search_spans(span_type=SpanType.RETRIEVER) if trace else []
        own = {span.span_id for span in spans}  # nested retrievers repeat the passages
        lists = [each.outputs for each in spans if each.parent_id not in own]
        documents = [each for some in lists if isinstance(some, list) for each in some]
        row: dict[str, Any] = {"documents": documents} if documents else {}
        for value, name in ((inputs, "query"), (outputs, "answer")):
            row |= value if isinstance(value, Mapping) else {name: value}
        (result,) = evaluate([Sample.of(row, map=paths)], evaluator=judge)
        score, case = result.scores.faithfulness, case_of(result, lang=lang)
        numbers = result.scores.model_dump(include=_NUMBERS, exclude_none=True)
        return Feedback(
            value=score,
            error=AssessmentError(result.status.name, case.message) if score is None else None,
            rationale=case.text or None,
            source=AssessmentSource("LLM_JUDGE" if result.calls else "CODE", result.signature),
            metadata={name: str(value) for name, value in numbers.items()},
        )

    return scorer(faithfulness)
