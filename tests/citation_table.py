"""Citations that people have judged: rows of `answer/citations.jsonl`, and what becomes of them.

A row is a sentence, its chunks (called 1, 2, …), what a person says of its citations in order (`v`
valid, `u` unsupported, `d` dangling), and for a language model the verdict that it gave.
"""

import asyncio
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from judge import Config, Evaluator, Sample, SampleResult
from judge.backends.fake import FakeModel
from judge.judges.prompted import PromptedJudge
from judge.pipeline import evaluate_sample
from judge.prompt import load_prompt
from judge.records import Rules

TABLE: Final = Path(__file__).parent / "answer" / "citations.jsonl"


class Row(NamedTuple):
    """A sentence with citations, and a person's opinion of each."""

    id: str
    half: str
    judge: str
    answer: str
    chunks: Sequence[str]
    want: str
    verdict: dict[str, Any] | None = None

    @property
    def sample(self) -> Sample:
        """The row as input."""
        chunks = [{"chunk_id": str(n), "text": text} for n, text in enumerate(self.chunks, 1)]
        return Sample.model_validate({"qid": self.id, "answer": self.answer, "chunks": chunks})


def rows() -> list[Row]:
    """The table."""
    return [Row(**json.loads(line)) for line in TABLE.read_text("utf-8").splitlines()]


def results(table: Iterable[Row]) -> Iterator[tuple[Row, SampleResult]]:
    """Each row with its result, by similarity or from the reply of its language model."""

    async def judged() -> list[tuple[Row, SampleResult]]:
        prompt = load_prompt("faithfulness", "v1")
        found = []
        async with Evaluator(Config()) as evaluator:
            for row in table:
                if row.verdict is None:
                    (result,) = [each async for each in evaluator.evaluate([row.sample])]
                else:
                    reply = json.dumps({"verdicts": [{"id": "s1", **row.verdict}]})
                    judge = PromptedJudge(FakeModel([reply]), prompt)
                    result = await evaluate_sample(row.sample, judge, Rules())
                found.append((row, result))
        return found

    return iter(asyncio.run(judged()))


def said(result: SampleResult) -> str:
    """The statuses of its citations, in order, by their first letters."""
    return " ".join((each.status or "-")[0] for each in result.citations)


class Tally(NamedTuple):
    """How citations that do not hold are caught."""

    caught: int
    wrong: int
    """Citations that do not hold."""
    alarms: int
    right: int
    """Citations that hold."""


def tally(found: Iterable[tuple[Row, SampleResult]]) -> Tally:
    """Count those said not to be valid, among those that do not hold and those that do."""
    pairs = [
        (want, got)
        for row, result in found
        for want, got in zip(row.want.split(), said(result).split(), strict=True)
    ]
    wrong = [got for want, got in pairs if want != "v"]
    right = [got for want, got in pairs if want == "v"]
    return Tally(
        sum(got != "v" for got in wrong), len(wrong), sum(got != "v" for got in right), len(right)
    )
