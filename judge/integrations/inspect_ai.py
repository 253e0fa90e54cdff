"""A scorer for Inspect: how far its passages support a solver's answer.

An answer without a score is `Score.unscored` with its `reason`; metrics leave it out.
"""

import re
from typing import Any

from judge import Evaluator, Sample
from judge.config import load_config
from judge.messages import Lang
from judge.reports.cases import case_of

try:
    from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
    from inspect_ai.solver import TaskState
except ModuleNotFoundError as error:
    raise ImportError(f"{error.name} is missing: pip install inspect-ai") from error

_NUMBERS = {"claims", "judged", "unscored", "faithfulness_bounds", "citation_validity"}


@scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator]  # mypy sees no optional package
def faithfulness(chunks: str = "contexts", lang: Lang = "en", **settings: Any) -> Scorer:  # noqa: ANN401
    """Return a scorer of faithfulness, 0 to 1.

    Args:
        chunks: the path of the passages in a sample's metadata or store, as in `--map`.
        lang: the language of the explanation.
        settings: settings of `judge score`, beside those of the environment and judge.toml.
    """
    judge = Evaluator(load_config(settings))

    async def score(state: TaskState, target: Target) -> Score:
        del target  # the target tells whether an answer is right, not whether passages support it
        place = "metadata" if re.split(r"[.[]", chunks)[0] in state.metadata else "store"
        paths = {"answer": "output", "query": "input", "qid": "id", "chunks": f"{place}.{chunks}"}
        row = {"output": state.output.completion, "input": state.input_text, "id": state.sample_id}
        row |= {"metadata": state.metadata, "store": dict(state.store.items())}
        result = await judge.evaluate_one(Sample.of(row, map=paths))
        case = case_of(result, lang=lang)
        fields = {"answer": row["output"], "explanation": case.text or None}
        origin = {"status": result.status.value, "signature": result.signature}
        fields["metadata"] = result.scores.model_dump(include=_NUMBERS) | origin
        fields |= {"reason": "grader_failed"} if case.kind == "error" else {}
        if result.scores.faithfulness is None:
            return Score.unscored(**{"reason": result.status.value, **fields})
        return Score(value=result.scores.faithfulness, **fields)

    return score
