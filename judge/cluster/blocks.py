"""The input of a cluster job in blocks: each is read, scored and written as one."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Final

from judge.inputs.fields import SCORE_NEEDS
from judge.inputs.files import InputFile
from judge.inputs.samples import Rejected, read_samples
from judge.records import Sample

SIZE: Final = 500
"""Samples of a block. A run cannot be resumed with another size, as the names of shards differ."""
_TASK_BYTES: Final = 16 << 20
"""One process reads as much in the time that another takes to start."""


def tasks(files: Sequence[InputFile]) -> int:
    """Return how many tasks read the files: small files share one, as each task costs a process."""
    total = sum(_TASK_BYTES if each.size is None else each.size for each in files)
    return max(1, min(len(files), ceil(total / _TASK_BYTES)))


@dataclass
class Block:
    """Adjacent samples of a file, and the bad lines between them."""

    file: int
    """The position of the file in the input."""
    number: int
    """The position of the block in the file."""
    samples: list[Sample] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)

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
    *,
    max_line: float,
    skip: bool,
    needs_qid: bool,
    mapping: Mapping[str, str] | None = None,
) -> Iterator[Block]:
    """Yield the blocks of a file; arguments and errors as in `read_samples`.

    Args:
        source: the file.
        file: its position in the input.
        max_line: the limit of a line in MB.
        skip: set bad lines aside.
        needs_qid: each row must have a qid, as line numbers of several files are not unique.
        mapping: paths by field.
    """
    block = Block(file, 0)

    def set_aside(bad: Rejected) -> None:
        block.rejected.append(bad)

    samples = read_samples(
        source,
        needs=SCORE_NEEDS | {"qid"} if needs_qid else SCORE_NEEDS,
        on_bad=set_aside if skip else None,
        max_line=max_line,
        unique=False,
        mapping=mapping,
    )
    for sample in samples:
        if len(block.samples) == SIZE:
            yield block
            block = Block(file, block.number + 1)
        block.samples.append(sample)
    yield block
