"""Citations that people have judged: rows of `citations.jsonl`, and their statuses.

A row is a sentence, its chunks (called 1, 2, …), a person's opinion of its citations in order (`v`
valid, `u` unsupported, `d` dangling), and for a language model its verdict. Of the held half only
the totals are looked at.
"""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from judge import Config, Evaluator, Sample, SampleResult
from judge.backends.fake import FakeModel
from judge.judges.prompted import PromptedJudge
from judge.pipeline import evaluate_sample
from judge.prompt import load_prompt
from judge.records import Rules

TABLE: Final = Path(__file__).with_name("citations.jsonl")
ROWS: Final[list[dict[str, Any]]] = [
    json.loads(line) for line in TABLE.read_text("utf-8").splitlines()
]

# Of the citations that do not hold, those found and all; of those that hold, false alarms and all.
TOTALS: Final = {
    ("learn", "similarity"): (12, 15, 7, 36),
    ("learn", "llm"): (15, 17, 2, 22),
    ("held", "similarity"): (11, 16, 6, 33),
    ("held", "llm"): (15, 17, 2, 20),
}


async def judged(row: dict[str, Any], evaluator: Evaluator) -> SampleResult:
    """Return the result of a row, by similarity or from the reply of its language model."""
    chunks = [{"chunk_id": str(n), "text": text} for n, text in enumerate(row["chunks"], 1)]
    fields = {"qid": row["id"], "answer": row["answer"], "chunks": chunks}
    sample = Sample.model_validate(fields)
    if "verdict" not in row:
        (result,) = [each async for each in evaluator.evaluate([sample])]
        return result
    reply = json.dumps({"verdicts": [{"id": "s1", **row["verdict"]}]})
    judge = PromptedJudge(FakeModel([reply]), load_prompt("faithfulness", "v1"))
    return await evaluate_sample(sample, judge, Rules())


@pytest.mark.no_cover
async def test_citations_that_people_have_judged() -> None:
    totals = {key: [0, 0, 0, 0] for key in TOTALS}
    async with Evaluator(Config()) as evaluator:
        for row in ROWS:
            result = await judged(row, evaluator)
            found = [(each.status or "-")[0] for each in result.citations]
            counts = totals[row["half"], row["judge"]]
            for wanted, status in zip(row["want"].split(), found, strict=True):
                place = 2 if wanted == "v" else 0
                counts[place] += status != "v"
                counts[place + 1] += 1
            if "d" in row["want"]:
                assert " ".join(found) == row["want"], row["id"]
            for each in result.citations:
                assert bool(each.reason) == (each.status != "valid"), each
                assert "\n" not in each.reason
    assert {key: tuple(counts) for key, counts in totals.items()} == TOTALS
