"""Worker processes. Each pair of them takes seconds to start, so that little is done with many."""

import asyncio
import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from pydantic import JsonValue

from judge import Config, Evaluator
from judge.errors import WorkerLost
from judge.inputs.fields import sample_from
from tests.commands import judge, line, results, start, until, write

LINES: list[dict[str, JsonValue]] = [
    line("甲", "食堂七点开门[1]。周末不开。", ["食堂早上七点开门,周一到周五。"])
    | {"gold_answer": "七点。"},
    line("long", "It opens at seven [1]. It is shut on 5 May 2020 [9].\n" * 200),
    line("empty", ""),
    line("bare", "Nobody knows.", []),
    *(line(f"q{n}", f"Room {n} opens at seven. It cost {n} yuan.") for n in range(9)),
]
BAD = '\nbad\n{"answer": "half of a \\ud800", "chunks": []}\n'
SAMPLES = [sample_from(each, line=n, needs=()) for n, each in enumerate(LINES)]


def children(parent: int) -> list[int]:
    """The processes that a process has started, without the one that lists them."""
    words = ["pgrep", "-P", str(parent), "-f", "spawn_main"]
    processes = subprocess.run(words, capture_output=True, text=True, check=False)
    return [int(pid) for pid in processes.stdout.split()]


def test_two_workers_write_the_same_bytes_as_none(place: Path) -> None:
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


@pytest.mark.no_cover
async def test_a_killed_worker_ends_the_run_and_all_workers() -> None:
    async with Evaluator(Config(workers=2)) as evaluator:
        before = [each.qid async for each in evaluator.evaluate(SAMPLES)]
        assert before == [sample.qid for sample in SAMPLES]
        os.kill(children(os.getpid())[0], signal.SIGKILL)
        with pytest.raises(WorkerLost, match=r"memory may have run out.*__main__.*--workers 1"):
            [_ async for _ in evaluator.evaluate(SAMPLES * 9)]
    assert children(os.getpid()) == []


@pytest.mark.no_cover
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_their_parent(place: Path, number: signal.Signals) -> None:
    source = write(place / "in.jsonl", (line(f"q{n}", "It opens. " * 50) for n in range(2000)))
    with start("score", source, "-o", place / "run", "--workers", 2) as process:
        until(process, lambda: len(workers := children(process.pid)) == 2 and workers)
        workers = children(process.pid)
        process.send_signal(number)
        _, err = process.communicate()
    assert process.returncode == (130 if number == signal.SIGINT else -signal.SIGKILL)
    assert "Traceback" not in err

    def alive() -> list[int]:
        return [pid for pid in workers if Path(f"/proc/{pid}/cmdline").exists()]

    async def end() -> None:
        async with asyncio.timeout(30):
            while alive():  # noqa: ASYNC110  a process tells nobody of its end
                await asyncio.sleep(0.01)

    asyncio.run(end())


@pytest.mark.no_cover
def test_ctrl_c_again_and_again_stops_at_once_without_a_traceback(place: Path) -> None:
    source = write(place / "in.jsonl", (line(f"q{n}", "It opens. " * 50) for n in range(2000)))
    part = place / "run" / "results.jsonl.part"
    with start("score", source, "-o", place / "run", "--workers", 2) as process:
        until(process, lambda: part.exists() and part.stat().st_size)
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode in {130, -signal.SIGINT}  # a shell takes both for 130
    assert "Traceback" not in err
    assert err.splitlines()[-1].startswith("judge: interrupted; ")
