import asyncio
from pathlib import Path

import pytest

from judge.config import Config
from judge.errors import ConfigError, InputError
from judge.evaluator import Evaluator
from judge.records import Chunk, Sample
from judge.review.livesheet import LiveSheet
from judge.review.sheet import read_sheet

SAMPLES = [
    Sample(
        qid=f"q{n}",
        query="=何时开门？",
        answer="The canteen opens at seven. Thank you! It closes at three.",
        chunks=(Chunk(chunk_id="a", text="The canteen opens at seven and closes at three."),),
    )
    for n in range(5)
]


async def run(path: Path, samples: list[Sample]) -> None:
    config = Config(review_rate=1.0)
    hook = LiveSheet(path, config.seed)
    async for _ in Evaluator(config, review_hook=hook).evaluate(samples):
        pass


def test_claims_of_what_is_handed_on_stand_in_the_sheet(tmp_path: Path) -> None:
    path = tmp_path / "live.csv"
    asyncio.run(run(path, SAMPLES))
    rows = [row.cells for row in read_sheet(path)]
    assert len(rows) == 10  # the thanks are no claim
    assert len({row["review_id"] for row in rows}) == 10
    assert {row["sentence"] for row in rows} == {
        "The canteen opens at seven.",
        "It closes at three.",
    }
    assert {row["human_support"] for row in rows} == {""}
    text = path.read_text("utf-8")
    assert text.count("'=何时开门？") == 10
    assert "judge_support" not in text


def test_what_is_there_is_not_added_again(tmp_path: Path) -> None:
    path = tmp_path / "live.csv"
    asyncio.run(run(path, SAMPLES[:3]))
    asyncio.run(run(path, SAMPLES))
    assert len(list(read_sheet(path))) == 10


def test_a_place_that_cannot_be_is_told_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such folder"):
        LiveSheet(tmp_path / "none" / "live.csv", 0)
    (tmp_path / "mine.csv").write_text("a,b\r\n1,2\r\n", encoding="utf-8")
    with pytest.raises(InputError, match="is no sheet"):
        LiveSheet(tmp_path / "mine.csv", 0)


def test_the_same_question_answered_otherwise_is_another_row(tmp_path: Path) -> None:
    path = tmp_path / "live.csv"
    asyncio.run(run(path, SAMPLES[:2]))
    again = [sample.model_copy(update={"answer": "It closes at four."}) for sample in SAMPLES[:2]]
    asyncio.run(run(path, again))
    rows = [row.cells for row in read_sheet(path)]
    assert sum(row["sentence"] == "It closes at four." for row in rows) == 2
    assert len({row["review_id"] for row in rows}) == len(rows) == 6
