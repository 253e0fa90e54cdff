"""Worker processes. Each pair of them takes a second to start, so that little is done with many."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import JsonValue

from judge import Config, Evaluator, JudgeRequest, JudgeUnhealthy, Judgment, Support, Verdict
from judge.backends.fake import FakeJudge
from judge.errors import WorkerLost
from judge.inputs.fields import sample_from
from tests.asked import Asked
from tests.commands import judge, line, results, write
from tests.faults import CRASHED, broken, cut
from tests.replies import Answer, Hang, Script, right
from tests.server import JudgeServer

LINES: list[dict[str, JsonValue]] = [
    line("甲", "食堂七点开门[1]。周末不开。", ["食堂早上七点开门,周一到周五。"])
    | {"gold_answer": "七点。"},
    line("long", "It opens at seven [1]. It is shut on 5 May 2020 [9].\n" * 200),
    line("empty", ""),
    line("bare", "Nobody knows.", []),
    *(line(f"q{n}", f"Room {n} opens at seven. It cost {n} yuan.") for n in range(9)),
]
BAD = '\nbad\n{"answer": "half of a \\ud800", "chunks": []}\n'


def test_two_make_the_same_bytes_as_none(place: Path) -> None:
    source = place / "in.jsonl"
    source.write_text("".join(json.dumps(each) + BAD for each in LINES))
    ran = [
        judge("score", source, "-o", f"run{n}", "--skip-bad-lines", "--correctness", "--workers", n)
        for n in (1, 2)
    ]
    assert [each.code for each in ran] == [0, 0]
    assert ran[0].out.replace("run1", "run2") == ran[1].out
    for name in ("results.jsonl", "summary.json", "rejected.jsonl"):
        one, two = ((place / run / name).read_bytes() for run in ("run1", "run2"))
        assert one == two, name
    assert len(results(place / "run2")) == len(LINES)


def test_where_none_can_be_started(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    source = write(place / "in.jsonl", (line(f"q{n}", "It opens.") for n in range(200)))
    # With so many answers they are tried for, and done without; not so where they are asked for.
    assert judge("score", source, "-o", "run").code == 0
    ran = judge("score", source, "-o", "other", "--workers", 2)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("judge: ")


SAMPLES = [sample_from(each, line=n, needs=()) for n, each in enumerate(LINES)]


def worse(asked: Asked) -> Answer:
    """By what is asked: right, wrong in four ways, or nothing at all."""
    said = "".join(asked.sentences.values())
    ways: dict[str, Script] = {
        "Room 2": broken,
        "Room 3": cut,
        "Room 4": lambda _: CRASHED,
        "Room 5": lambda _: Hang(),
    }
    return next((way for name, way in ways.items() if name in said), right)(asked)


async def scored(evaluator: Evaluator) -> list[str]:
    """The results as JSON, but for what the clock says."""
    texts = [each.model_dump_json() async for each in evaluator.evaluate(SAMPLES)]
    return [re.sub(r'("seconds":|within )[\d.]+', "", text) for text in texts]


def children() -> list[int]:
    """The processes that this one has started, but for the one that tells."""
    words = ["pgrep", "-P", str(os.getpid())]
    told = subprocess.run(words, capture_output=True, text=True, check=False)
    return [int(pid) for pid in told.stdout.split()]


@pytest.mark.no_cover
async def test_whoever_is_asked_says_the_same_and_a_worker_that_is_killed_is_told() -> None:
    # Six seconds, for one answer is waited for until its deadline, which all others must keep.
    with JudgeServer(worse) as server:
        config = server.config(deadline=6)
        both = Evaluator(config), Evaluator(config.model_copy(update={"workers": 2}))
        async with both[0], both[1]:
            one, two = await asyncio.gather(*map(scored, both))
            assert one == two
            os.kill(children()[0], signal.SIGKILL)
            with pytest.raises(WorkerLost, match="signal 9"):
                await scored(both[1])
    reasons = re.findall(r'"unscored","reason":"(\w+)', "".join(one))
    assert set(reasons) == {"timeout", "server_error", "truncated", "malformed"}
    assert children() == []


async def test_a_judge_of_ones_own_stays_here_and_may_stop_the_run() -> None:
    class Own(Verdict):
        """No other process can import it."""

    class Ailing(FakeJudge):
        async def judge(self, request: JudgeRequest) -> Judgment:
            if "Room 8" in request.answer:
                raise JudgeUnhealthy("it ails")
            return await super().judge(request)

    said = Own(support=Support.FULL, source="llm", signature="own")
    judge = Ailing({"Room 1 opens at seven.": said})
    async with Evaluator(Config(workers=2), judge=judge) as evaluator:
        results = [each async for each in evaluator.evaluate(SAMPLES[:-1])]
        with pytest.raises(JudgeUnhealthy, match="it ails"):
            await anext(evaluator.evaluate(SAMPLES[-1:]))
    outcomes = [each.outcome for result in results for each in result.sentences]
    assert [type(each) for each in outcomes if each == said] == [Own]
    assert children() == []
