"""The scorer in evaluations by the real Inspect, without a model.

`test_inspect_ai.py` has pytest run this file in a process of its own.
"""

import math
from pathlib import Path
from typing import Any

import pytest

from tests.chat_call import ChatCall
from tests.known_scores import recipe
from tests.replies import Answer, Says, Status, right, verdicts
from tests.server import JudgeServer

pytest.importorskip("inspect_ai")
from inspect_ai import Task, eval_async
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from judge.integrations.inspect_ai import faithfulness

NOTICE, HOLIDAYS = "Either side gives four weeks' notice.", "员工每年有15天年假。"


@solver  # type: ignore[untyped-decorator]  # mypy sees no optional package
def rag() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        del generate
        state.output = ModelOutput.from_content("rag", state.metadata["says"])
        state.store.set("found", {"docs": [{"page_content": NOTICE}]})
        return state

    return solve


async def run(place: Path, scorer: Scorer, answers: list[str], **given: object) -> EvalLog:
    """In a running loop, as in a notebook; the log as it is read from its file."""
    samples = [
        Sample(input="多长？", id=number, metadata={"says": answer, **given})
        for number, answer in enumerate(answers)
    ]
    task = Task(samples, solver=rag(), scorer=scorer)
    (log,) = await eval_async(task, model="mockllm/model", log_dir=str(place))
    return read_eval_log(log.location)


def scores(log: EvalLog) -> list[Any]:
    assert log.status == "success", log.error
    return [sample.scores["faithfulness"] for sample in log.samples or () if sample.scores]


async def test_a_task(place: Path) -> None:
    answers = [NOTICE, f"{HOLIDAYS}Bears dance at night.", "I cannot answer that.", ""]
    contexts = [NOTICE, {"id": "hr", "text": HOLIDAYS}]
    log = await run(place, faithfulness(), answers, contexts=contexts)
    first, second, third, fourth = scores(log)
    assert (first.value, second.value, first.answer, first.reason) == (1.0, 0.5, NOTICE, None)
    assert "none, sentence 2: Bears dance at night." in second.explanation
    assert second.metadata["claims"] == 2
    assert second.metadata["signature"].startswith("similarity:")
    assert math.isnan(third.value)
    assert math.isnan(fourth.value)
    assert (third.reason, fourth.reason) == ("abstained", "no_claims")
    (found,) = log.results.scores
    assert found.metrics["mean"].value == 0.75  # of two: the others are left out
    assert (found.scored_samples, found.unscored_samples) == (2, 2)


async def test_nothing_unscored_has_a_score(place: Path) -> None:
    def answered(asked: ChatCall) -> Answer:
        if asked.is_probe:
            return right(asked)
        labels = {name: text.split()[0].casefold() for name, text in asked.sentences.items()}
        return Status(500, "") if "broken" in labels.values() else Says(verdicts(asked, **labels))

    with JudgeServer(answered) as server:
        settings = server.config().model_dump(mode="json", exclude_defaults=True)
        scorer = faithfulness(lang="zh", **settings)
        log = await run(place, scorer, ["Broken line here.", "Full one."], contexts=[NOTICE])
    first, second = scores(log)
    assert math.isnan(first.value)
    assert first.reason == "grader_failed"
    assert first.metadata["unscored"] == 1
    assert "未得到判断" in first.explanation
    assert second.value == 1.0


async def test_the_recipe(place: Path) -> None:
    names = recipe("inspect_ai")
    task = names["probation"](rag())
    task.dataset[0].metadata["says"] = "试用期为三个月。"
    (log,) = await eval_async(task, model="mockllm/model", log_dir=str(place))
    (score,) = scores(log)
    assert score.value == 1.0
