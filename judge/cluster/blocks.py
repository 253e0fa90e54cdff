"""The blocks of a cluster job: samples that are read together, and scored into one shard."""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from judge.config import Config
from judge.errors import JudgeUnhealthy
from judge.evaluator import Evaluator
from judge.inputs.fields import SCORE_NEEDS
from judge.inputs.files import InputFile
from judge.inputs.runs import SHARDS, line_of, misplaced, results_in, whole_lines
from judge.inputs.samples import Rejected, read_samples
from judge.inputs.tables import replacing
from judge.records import Sample, SampleResult
from judge.scores.answer import is_barren, is_fresh

SIZE: Final = 500
"""Samples of a block. A run cannot be resumed with another size, as the names of shards differ."""
_STEP: Final = "mend that, and run the same command again"


@dataclass
class Block:
    """Adjacent samples of a file."""

    file: int
    """The position of the file in the input."""
    number: int
    """The position of the block in the file."""
    samples: list[Sample] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name of the block's shard: its position in the input, then a hash of its content."""
        digest = hashlib.sha256()
        for sample in self.samples:
            digest.update(sample.model_dump_json().encode() + b"\n")
        return f"{self.file:06}-{self.number:06}-{digest.hexdigest()[:16]}"


def blocks(
    source: InputFile,
    file: int,
    config: Config,
    *,
    needs_qid: bool,
    on_bad: Callable[[Rejected], None] | None,
) -> Iterator[Block]:
    """Yield the blocks of a file; errors as in `read_samples`.

    Args:
        source: the file.
        file: its position in the input.
        config: the settings; they have the limit of a line and the paths of fields.
        needs_qid: each row must have a qid, as line numbers of several files are not unique.
        on_bad: as in `read_samples`.
    """
    block = Block(file, 0)
    for sample in read_samples(
        source,
        needs=SCORE_NEEDS | {"qid"} if needs_qid else SCORE_NEEDS,
        on_bad=on_bad,
        max_line=config.max_line,
        unique=False,
        mapping=config.map,
    ):
        if len(block.samples) == SIZE:
            yield block
            block = Block(file, block.number + 1)
        block.samples.append(sample)
    if block.samples:
        yield block


class Shard:
    """The files of one block in a run folder.

    While the block is scored, each result is appended to a `.part` as one line. A worker that takes
    the block over, on any machine, goes on after the last sound line.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / SHARDS / f"{name}.jsonl"
        self._part = self.path.with_suffix(".jsonl.part")
        self._attempts = self.path.with_suffix(".attempts")

    def results(self) -> list[SampleResult]:
        """Return the results of a finished shard, up to the first damaged one."""
        try:
            with self.path.open("rb") as file:
                return [each for each in results_in(file) if not isinstance(each, str)]
        except FileNotFoundError:
            return []

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

    def note_attempt(self) -> int:
        """Note an attempt to score the block; return how many made no progress, with this one."""
        size = self._part.stat().st_size if self._part.exists() else 0
        with self._attempts.open("a+", encoding="utf-8") as file:
            file.write(f"{size}\n")
            file.seek(0)
            return file.readlines().count(f"{size}\n")

    def forget_attempts(self) -> None:
        """Forget the attempts of an earlier session, whose driver may have been stopped."""
        self._attempts.unlink(missing_ok=True)

    async def score(self, block: Block, evaluator: Evaluator) -> None:
        """Score the block, or the rest of it, and write the shard."""
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
        # Not a renamed `.part`: a worker of an earlier driver may still write there.
        with replacing(self.path, _STEP) as path, path.open("wb") as file:
            file.writelines(map(line_of, results))
            file.flush()
            os.fsync(file.fileno())
        self._part.unlink(missing_ok=True)
        self.forget_attempts()
