"""One answer of a quarter of a megabyte does not delay ordinary ones."""

import signal
from pathlib import Path

from judge import Chunk, Evaluator, Sample, Verdict
from tests.commands import line, start, until, write
from tests.server import JudgeServer

LINE = f"{'no. 5 e.g. a ' * 2_000}The site had 105 visits."
LONG = "\n".join([LINE] * 10)
CHUNKS = [Chunk(chunk_id="1", text="The site had 105 visits in 2021.")]


async def test_ordinary_answers_are_judged_before_a_long_one_is_read() -> None:
    answers = [LONG, *(f"The site had {number} visits." for number in range(100, 120))]
    samples = [
        Sample(qid=str(number), query="How many?", answer=answer, chunks=CHUNKS)
        for number, answer in enumerate(answers)
    ]
    with JudgeServer() as server:
        config = server.config(concurrency=32, deadline=60, fallback=False)
        async with Evaluator(config) as evaluator:
            results = [result async for result in evaluator.evaluate(samples)]
    assert [len(call.user) > len(LONG) for call in server.requests[-21:]] == [False] * 20 + [True]
    ordinary = [sentence.outcome for each in results[1:] for sentence in each.sentences]
    assert [type(outcome) for outcome in ordinary] == [Verdict] * 20


def test_ctrl_c_does_not_wait_for_a_long_answer(tmp_path: Path) -> None:
    # A new process takes three seconds to start. The long answer would take ten.
    long = "".join(f"The site had {number} visits. " for number in range(30_000))
    lines = [line("short", "It opens at seven."), line("long", long)]
    source, run = write(tmp_path / "in.jsonl", lines), tmp_path / "run"
    with start("score", source, "-o", run) as process:
        assert process.stderr is not None
        part = run / "results.jsonl.part"
        until(process, lambda: part.exists() and part.stat().st_size)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
    assert process.returncode == 130
    assert "1 of 2 answers are kept" in err
