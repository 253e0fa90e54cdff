"""The scorer, in evaluations by the real MLflow, whose store is a folder."""

from pathlib import Path
from typing import Any

import pytest

from judge import Evaluator
from tests.known_scores import RATED, TEXT, rater, recipe, tool
from tests.server import JudgeServer

mlflow = tool("mlflow")
ours = tool("judge.integrations.mlflow")

# What MLflow warns of is its own.
pytestmark = pytest.mark.filterwarnings("default")
NOTICE, HOLIDAYS = "Either side gives four weeks' notice.", "员工每年有15天年假。"


@pytest.fixture(autouse=True)
def store(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    mlflow().set_tracking_uri(place.as_uri())
    mlflow().set_experiment("judge")


@pytest.mark.no_cover
def test_an_evaluation(capsys: pytest.CaptureFixture[str]) -> None:
    """The guide's, of which the mean is printed, and one of more answers."""
    recipe("mlflow")
    assert "'faithfulness/mean': np.float64(1.0)" in capsys.readouterr().out
    answers = [NOTICE, f"{HOLIDAYS}Bears dance at night.", "I cannot answer that."]
    rows = [
        {"inputs": {"question": "?"}, "outputs": {"answer": each, "contexts": [NOTICE, HOLIDAYS]}}
        for each in answers
    ]
    assert mlflow().genai.evaluate(rows, [ours().faithfulness_scorer()]).metrics == {
        "faithfulness/mean": 0.75
    }


def test_passages_of_a_trace() -> None:
    def search() -> list[dict[str, Any]]:
        return [{"page_content": HOLIDAYS, "metadata": {"source": "hr"}}]

    inner = mlflow().trace(search, span_type="RETRIEVER")
    retrieve = mlflow().trace(lambda: inner()[:1], span_type="RETRIEVER")

    def rag(question: str) -> str:
        return f"{HOLIDAYS[:-1]}[hr]。" if question and retrieve() else ""

    rows = [{"inputs": {"question": "多少天？"}}]
    found = mlflow().genai.evaluate(
        data=rows, predict_fn=rag, scorers=[ours().faithfulness_scorer()]
    )
    assert found.metrics["faithfulness/mean"] == 1.0


def test_nothing_unscored_has_a_value() -> None:
    scorer = ours().faithfulness_scorer(rater(), lang="en")
    codes = {"unscored": "UNSCORED", "abstained": "ABSTAINED", "empty": "NO_CLAIMS"}
    codes["undecided"] = "UNSCORED"
    for name, rated in RATED.items():
        told = scorer(outputs={"answer": rated.answer, "contexts": [TEXT]})
        assert told.value == rated.score
        assert (told.rationale or "").startswith(rated.says)
        assert (told.error and told.error.error_code) == codes.get(name)
        assert told.metadata["unscored"] == str(int(rated.is_open))


def test_a_model_is_the_source() -> None:
    with JudgeServer() as server:
        scorer = ours().faithfulness_scorer(Evaluator(server.config()))
        assert (
            scorer(outputs={"answer": HOLIDAYS, "contexts": []}).source.source_type == "LLM_JUDGE"
        )
