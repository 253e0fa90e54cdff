"""The ragas metrics in the real ragas, without its telemetry."""

import logging
import math
import os

import pytest

from judge import JudgeError
from tests.known_scores import RATED, TEXT, rater, recipe, tool

os.environ.setdefault("RAGAS_DO_NOT_TRACK", "true")  # it is read once
ragas = tool("ragas")
ours = tool("judge.integrations.ragas")

pytestmark = pytest.mark.filterwarnings("default")  # the package's own
ROWS = [
    {"user_input": name, "response": each.answer, "retrieved_contexts": [TEXT]}
    for name, each in RATED.items()
]


def shown(value: float) -> float | None:
    return None if math.isnan(value) else value


def test_a_batch() -> None:
    found = ours().JudgeFaithfulness(rater()).batch_score(ROWS)
    assert [shown(each.value) for each in found] == [each.score for each in RATED.values()]
    said = [(each.reason or "").split("\n")[0] for each in found]
    assert said == [each.says for each in RATED.values()]


def test_evaluate_has_a_number_only_where_every_claim_has_a_verdict(
    caplog: pytest.LogCaptureFixture,
) -> None:
    dataset = ragas().EvaluationDataset([ragas().SingleTurnSample(**row) for row in ROWS])
    metrics = [ours().SingleTurnJudgeFaithfulness(rater())]
    with caplog.at_level(logging.ERROR, logger="ragas"):
        found = ragas().evaluate(dataset, metrics, show_progress=False)
    column = [shown(row["judge_faithfulness"]) for row in found.scores]
    assert column == [1.0, 0.5, None, None, None, None, 1.0, None]
    for name in ("unscored", "partly"):
        assert RATED[name].says in caplog.text
    with pytest.raises(JudgeError, match="has no verdict"):
        ragas().evaluate(dataset, metrics, show_progress=False, raise_exceptions=True)


def test_the_recipe() -> None:
    assert recipe("ragas")["found"].value == 1.0
