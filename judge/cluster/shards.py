"""A block scored into its files: whole, or taken up where a worker was lost."""

import asyncio
import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from judge.cluster.blocks import Block
from judge.errors import JudgeUnhealthy
from judge.evaluator import Evaluator
from judge.files.runs import (
    SAMPLES,
    SHARDED,
    SHARDS,
    line_of,
    misplaced,
    results_in,
    whole_lines,
)
from judge.files.tables import replacing
from judge.records import Sample, SampleResult
from judge.scores.contribution import is_barren, is_fresh

_AGAIN: Final = "mend that, and run the same command again"


class Shard:
    """The files of one block in a run folder, written once.

    While it is scored, its results stand in a `.part`, one whole line each. Whoever takes it up
    again, on whatever machine, goes on behind the last sound one.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self.path = folder / SHARDS / f"{name}.jsonl"
        self._part = self.path.with_suffix(".jsonl.part")

    def whole(self) -> list[SampleResult]:
        """Those of a shard that is there, up to the first that is damaged."""
        with self.path.open("rb") as file:
            return [each for each in results_in(file) if not isinstance(each, str)]

    def _kept(self, samples: list[Sample]) -> list[SampleResult]:
        """Those in the `.part` that are these samples', in order; what stands behind is cut off."""
        found: list[SampleResult] = []
        try:
            with self._part.open("rb") as file:
                lines = list(whole_lines(file))
        except FileNotFoundError:
            return found
        for number, (result, sample) in enumerate(zip(results_in(lines), samples, strict=False), 1):
            if isinstance(result, str) or misplaced(number, result, sample):
                break
            found.append(result)
        os.truncate(self._part, sum(map(len, lines[: len(found)])))
        return found

    async def score(self, block: Block, evaluator: Evaluator) -> list[SampleResult]:
        """The results of a block, on disk once they are returned."""
        samples = block.samples
        while len(kept := await asyncio.to_thread(self._kept, samples)) < len(samples):
            await self._go_on(samples[len(kept) :], evaluator, len(kept))
        return kept

    async def _go_on(self, samples: list[Sample], evaluator: Evaluator, sound: int) -> None:
        written = sound
        try:
            with self._part.open("ab") as file:
                async for result in evaluator.evaluate(samples):
                    file.write(line_of(result))
                    file.flush()
                    written += 1
                    if not is_barren(result) and (sound == written - 1 or is_fresh(result)):
                        sound = written
        except JudgeUnhealthy:
            with self._part.open("rb+") as file:
                file.truncate(sum(len(line) for line, _ in zip(file, range(sound), strict=False)))
            raise

    def finish(self, block: Block, *, copied: bool) -> None:
        """Write samples, where they are to be kept, and bad lines; name the results last."""
        if copied:
            with (
                replacing(self._folder / SAMPLES / f"{self._name}.jsonl.gz", _AGAIN) as path,
                gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as file,
            ):
                file.writelines(f"{json.dumps(_row(each))}\n" for each in block.samples)
        if block.rejected:
            with (
                replacing(self._folder / SHARDED[2] / f"{self._name}.jsonl", _AGAIN) as path,
                path.open("w", encoding="utf-8") as file,
            ):
                file.writelines(_rejected(block))
        self._part.touch()
        with self._part.open("rb") as part:
            os.fsync(part.fileno())
        self._part.replace(self.path)


def _row(sample: Sample) -> dict[str, JsonValue]:
    """A line of samples that is read as this one."""
    given = sample.model_dump(mode="json")
    beside: dict[str, JsonValue] = given.pop("metadata")
    return beside | {name: value for name, value in given.items() if value is not None}


def _rejected(block: Block) -> Iterator[str]:
    for bad in block.rejected:
        text = bad.text.rstrip("\r\n")
        entry = {"line": bad.line, "error": str(bad.error), "text": text}
        yield json.dumps(entry, ensure_ascii=False) + "\n"
