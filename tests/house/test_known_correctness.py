"""Answers and references whose precision and recall are known by hand, by each kind of judge."""

import json
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

from judge import CorrectnessStatus, SampleResult
from tests.commands import Ran, judge, results
from tests.replies import right, verdicts
from tests.server import Answer, Asked, JudgeServer, Says

FIXTURE: Final = Path(__file__).resolve().parents[2] / "fixtures" / "correctness.jsonl"
KNOWN: Final[list[dict[str, Any]]] = [
    json.loads(row) for row in FIXTURE.read_text("utf-8").splitlines()
]
SAID: Final = {
    "214 people work in the Lisbon office of Harrow & Pell.": "full",
    "214": "full",
    "云帆公司的创始人是林若兰。": "full",
    "林若兰": "full",
    "The Larkfield R40 has a warranty of 36 months.": "contradicted",
    "The Larkfield R40 has a warranty of 24 months.": "contradicted",
    "每晚不超过450元。": "contradicted",
    "每晚不超过600元。": "contradicted",
    "Fill the kettle with vinegar and water.": "full",
    "Boil it twice.": "none",
    "Rinse it with cold water.": "none",
    "Let the lid dry overnight.": "none",
    "火车票全额报销。": "full",
    "出租车仅在晚上十点以后报销。": "none",
    "Karl Ritter designed the town hall of Oswick.": "full",
    "Its tower was struck by lightning twice.": "none",
    "Karl Ritter": "full",
    "图书馆工作日上午九点至下午六点开放。": "full",
    "馆内设有咖啡厅。": "none",
}
"""What a careful reader says of each sentence of either text, the other being the evidence."""


def reader(asked: Asked) -> Answer:
    """That reader, where answers are compared; where chunks are judged, all is full."""
    if asked.is_probe or "two answers" not in asked.messages[0][1]:
        return right(asked)
    return Says(verdicts(asked, **{name: SAID[text] for name, text in asked.sentences.items()}))


def score(place: Path, *more: object) -> Ran:
    shutil.copy(FIXTURE, place / "samples.jsonl")
    return judge("score", place / "samples.jsonl", "-o", place / "run", "--correctness", *more)


def f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def as_known(found: list[SampleResult]) -> None:
    assert [each.qid for each in found] == [row["qid"] for row in KNOWN]
    for result, row in zip(found, KNOWN, strict=True):
        precision, recall = row["known_precision"], row["known_recall"]
        assert result.correctness is not None
        got = result.correctness
        assert (got.precision, got.recall) == (precision, recall), row["qid"]
        if precision is None:
            assert got.status is CorrectnessStatus.ABSTAINED
            assert got.f1 is None
        else:
            assert got.status is CorrectnessStatus.SCORED
            assert got.f1 == pytest.approx(f1(precision, recall))


def test_similarity_finds_what_is_known(place: Path) -> None:
    assert score(place).code == 0
    as_known(results(place / "run"))


def test_a_language_model_gives_what_is_known(place: Path) -> None:
    with JudgeServer(reader) as server:
        ran = score(place, "--model", "tiny", "--base-url", server.base_url)
    assert ran.code == 0, ran.err
    as_known(results(place / "run"))
