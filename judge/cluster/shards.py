"""A block scored into its files: whole, or taken up where a worker was lost."""

import asyncio
import gzip
import json
import os
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, asynccontextmanager
from itertools import takewhile
from pathlib import Path
from typing import Final, NamedTuple

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

_TRIES: Final = 2
_CAREFUL: Final = 128
"""Answers that are tried by themselves once workers died: about as many are under way at a time."""
_AGAIN: Final = "mend that, and run the same command again"


class Try(NamedTuple):
    """A line of a shard's journal: what a worker was about to do."""

    session: str
    """Of the driver: what an earlier one began and did not end says nothing of an answer."""
    kind: str
    """Score `all` that are left, or one `alone`; one that is `lost` is never tried again."""
    kept: int
    """Results that were there; of one that is lost its place in the block."""


class Door:
    """Blocks go through together, or one alone, which is not to be blamed for another."""

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._inside = 0

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Together with others."""
        async with self._changed:  # held by whoever is alone
            self._inside += 1
        try:
            yield
        finally:
            async with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @asynccontextmanager
    async def closed(self) -> AsyncGenerator[None]:
        """Alone."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self._inside)
            yield


class Shard:
    """The files of one block in a run folder, written once.

    While it is scored, its results stand in a `.part`, one whole line each. Whoever takes it up
    again, on whatever machine, goes on behind the last sound one. Where workers die of it, twice,
    its answers are tried one by one; the one that a worker dies of by itself, twice, is set aside.
    """

    def __init__(self, folder: Path, name: str, session: str = "") -> None:
        self._folder = folder
        self._name, self._session = name, session
        self.lost: list[int] = []
        """Places in the block of those that were set aside."""
        self._journal = folder / SHARDS / f"{name}.tries"
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

    async def score(self, block: Block, evaluator: Evaluator, door: Door) -> list[SampleResult]:
        """The results of a block, on disk once they are returned; `lost` says whose are missing."""
        while True:
            tries = self._tries()
            self.lost = [each.kept for each in tries if each.kind == "lost"]
            samples = [each for i, each in enumerate(block.samples) if i not in self.lost]
            kept = await asyncio.to_thread(self._kept, samples)
            number = len(kept)
            if number == len(samples):
                return kept
            behind = takewhile(lambda each: each.kind != "lost", reversed(tries))
            mine = [each for each in behind if each.session == self._session]  # newest first
            if mine.count(Try(self._session, "alone", number)) >= _TRIES:
                index = block.samples.index(samples[number])
                self._note("lost", index)
                continue
            begun = len(list(takewhile(lambda each: each.kind == "alone", mine)))
            alone = mine.count(Try(self._session, "all", number)) >= _TRIES or 0 < begun < _CAREFUL
            async with door.closed() if alone else door.open():
                self._note("alone" if alone else "all", number)
                rest = samples[number : number + 1 if alone else None]
                await self._go_on(rest, evaluator, number)

    def _tries(self) -> list[Try]:
        try:
            lines = self._journal.read_text("utf-8").splitlines(keepends=True)
        except FileNotFoundError:
            return []
        whole = (json.loads(each) for each in lines if each.endswith("\n"))
        return [Try(*each) for each in whole]

    def _note(self, kind: str, kept: int) -> None:
        with self._journal.open("a", encoding="utf-8") as file:
            file.write(json.dumps(Try(self._session, kind, kept)) + "\n")

    async def _go_on(self, samples: list[Sample], evaluator: Evaluator, sound: int) -> None:
        written = sound
        try:
            with self._part.open("ab") as file:
                async with aclosing(evaluator.evaluate(samples)) as results:
                    async for result in results:
                        file.write(line_of(result))
                        file.flush()
                        written += 1
                        if not is_barren(result) and (sound == written - 1 or is_fresh(result)):
                            sound = written
        except JudgeUnhealthy:
            with self._part.open("rb+") as file:
                file.truncate(sum(len(line) for line, _ in zip(file, range(sound), strict=False)))
            raise

    def finish(self, block: Block, results: list[SampleResult], *, copied: bool) -> None:
        """Write samples, where they are to be kept, bad lines, and the results last."""
        if copied:
            with (
                replacing(self._folder / SAMPLES / f"{self._name}.jsonl.gz", _AGAIN) as path,
                gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as file,
            ):
                file.writelines(f"{json.dumps(_row(each))}\n" for each in block.samples)
        if bad := [*_rejected(block), *self._crashed(block)]:
            with (
                replacing(self._folder / REJECTS / f"{self._name}.jsonl", _AGAIN) as path,
                path.open("w", encoding="utf-8") as file,
            ):
                file.writelines(json.dumps(each, ensure_ascii=False) + "\n" for each in bad)
        # Not the `.part` by another name: a worker of a driver that died may still write there.
        with replacing(self.path, _AGAIN) as path, path.open("wb") as file:
            file.writelines(map(line_of, results))
            file.flush()
            os.fsync(file.fileno())
        self._part.unlink(missing_ok=True)
        self._journal.unlink(missing_ok=True)

    def crashed(self) -> list[str]:
        """The qids of those that were set aside, of a shard that is there."""
        try:
            with (self._folder / REJECTS / f"{self._name}.jsonl").open("rb") as file:
                return [each["qid"] for each in map(json.loads, file) if "qid" in each]
        except FileNotFoundError:
            return []

    def _crashed(self, block: Block) -> Iterator[dict[str, JsonValue]]:
        for index in self.lost:
            error = f"crashed: {_TRIES} workers died of it alone"
            yield {"qid": block.samples[index].qid, "error": error}


def _row(sample: Sample) -> dict[str, JsonValue]:
    """A line of samples that is read as this one."""
    given = sample.model_dump(mode="json")
    beside: dict[str, JsonValue] = given.pop("metadata")
    return beside | {name: value for name, value in given.items() if value is not None}


def _rejected(block: Block) -> Iterator[dict[str, JsonValue]]:
    for bad in block.rejected:
        yield {"line": bad.line, "error": str(bad.error), "text": bad.text.rstrip("\r\n")}
