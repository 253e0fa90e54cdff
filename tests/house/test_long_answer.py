"""One answer of half a megabyte beside ordinary ones: nobody waits for it.

Some five seconds, for the long answer has to be read and judged.
"""

from judge import Chunk, Evaluator, Sample, Verdict
from tests.server import JudgeServer

LONG = f"{'no. 5 e.g. a ' * 40_000}The site had 105 visits."
CHUNKS = [Chunk(chunk_id="1", text="The site had 105 visits in 2021.")]


async def test_ordinary_answers_are_asked_about_and_judged_before_a_long_one_is_read() -> None:
    answers = [LONG, *(f"The site had {number} visits." for number in range(100, 120))]
    samples = [
        Sample(qid=str(number), query="How many?", answer=answer, chunks=CHUNKS)
        for number, answer in enumerate(answers)
    ]
    with JudgeServer() as server:
        config = server.config(concurrency=32, deadline=5, fallback=False)
        async with Evaluator(config) as evaluator:
            results = [result async for result in evaluator.evaluate(samples)]
    assert [len(asked.user) > len(LONG) for asked in server.requests[-21:]] == [False] * 20 + [True]
    ordinary = [sentence.outcome for each in results[1:] for sentence in each.sentences]
    assert [type(outcome) for outcome in ordinary] == [Verdict] * 20
