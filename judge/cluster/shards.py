"""The shard of a block: its results in a run folder, whole, or resumed where a worker was lost."""

import gzip
import json
import os
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from judge.cluster.blocks import Block
from judge.errors import JudgeUnhealthy
from judge.evaluator import Evaluator
from judge.inputs.runs import (
    REJECTS,
    SAMPLES,
    SHARDS,
    line_of,
    misplaced,
    results_in,
    whole_lines,
)
from judge.inputs.tables import replacing
from judge.records import Sample, SampleResult
from judge.scores.answer import is_barren, is_fresh

_STEP: Final = "mend that, and run the same command again"


class Shard:
    """The files of one block in a run folder.

    While the block is scored, its results are in a `.part`, one whole line each. A worker that
    takes the block over, on any machine, goes on behind the last sound line.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self.path = folder / SHARDS / f"{name}.jsonl"
        self._part = self.path.with_suffix(".jsonl.part")
        self._attempts = self.path.with_suffix(".attempts")

    def whole(self) -> list[SampleResult]:
        """Return the results of a finished shard, up to the first damaged one."""
        with self.path.open("rb") as file:
            return [each for each in results_in(file) if not isinstance(each, str)]

    def _kept(self, samples: list[Sample]) -> list[SampleResult]:
        """Return the sound results in the `.part`, and cut off the lines behind them."""
        try:
            with self._part.open("rb") as file:
                lines = list(whole_lines(file))
        except FileNotFoundError:
            return []
        found: list[SampleResult] = []
        for number, (result, sample) in enumerate(zip(results_in(lines), samples, strict=False), 1):
            if isinstance(result, str) or misplaced(number, result, sample):
                break
            found.append(result)
        os.truncate(self._part, sum(map(len, lines[: len(found)])))
        return found

    def attempts(self, session: str) -> int:
        """Note an attempt to score the block; return how many made no progress, this one included.

        Attempts of an earlier session do not count: its driver may have been stopped.
        """
        try:
            kept = self._part.stat().st_size
        except FileNotFoundError:
            kept = 0
        with self._attempts.open("a+", encoding="utf-8") as file:
            file.write(f"{session} {kept}\n")
            file.seek(0)
            return file.readlines().count(f"{session} {kept}\n")

    async def score(self, block: Block, evaluator: Evaluator) -> list[SampleResult]:
        """Score the block, or the rest of it; return all its results, which are on disk then."""
        results = self._kept(block.samples)
        sound = len(results)
        try:
            with self._part.open("ab") as file:
                async with aclosing(evaluator.evaluate(block.samples[sound:])) as fresh:
                    async for result in fresh:
                        file.write(line_of(result))
                        file.flush()
                        results.append(result)
                        follows = sound == len(results) - 1
                        if not is_barren(result) and (follows or is_fresh(result)):
                            sound = len(results)
        except JudgeUnhealthy:
            with self._part.open("rb+") as file:
                file.truncate(sum(len(line) for line, _ in zip(file, range(sound), strict=False)))
            raise
        return results

    def finish(self, block: Block, results: list[SampleResult], *, copied: bool) -> None:
        """Write the samples, if they are to be copied, the bad lines, and the results last."""
        if copied:
            with (
                replacing(self._folder / SAMPLES / f"{self._name}.jsonl.gz", _STEP) as path,
                gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as file,
            ):
                file.writelines(f"{json.dumps(_row(each))}\n" for each in block.samples)
        if block.rejected:
            with (
                replacing(self._folder / REJECTS / f"{self._name}.jsonl", _STEP) as path,
                path.open("w", encoding="utf-8") as file,
            ):
                file.writelines(
                    json.dumps(each, ensure_ascii=False) + "\n" for each in _rejected(block)
                )
        # Not a renamed `.part`: a worker of an earlier driver may still write there.
        with replacing(self.path, _STEP) as path, path.open("wb") as file:
            file.writelines(map(line_of, results))
            file.flush()
            os.fsync(file.fileno())
        self._part.unlink(missing_ok=True)
        self._attempts.unlink(missing_ok=True)


def _row(sample: Sample) -> dict[str, JsonValue]:
    """Return the fields of a line that is read as this sample."""
    given = sample.model_dump(mode="json")
    metadata: dict[str, JsonValue] = given.pop("metadata")
    return metadata | {name: value for name, value in given.items() if value is not None}


def _rejected(block: Block) -> Iterator[dict[str, JsonValue]]:
    for bad in block.rejected:
        yield {"line": bad.line, "error": str(bad.error), "text": bad.text.rstrip("\r\n")}
