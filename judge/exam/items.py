"""The items of an exam: the shipped set, pinned by its hash, and the user's own golden sets."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final, NamedTuple

from pydantic import BaseModel, StringConstraints, ValidationError

from judge.errors import InputError, PromptMismatch
from judge.messages import Lang, language_of
from judge.prompt import SUMS, checked, pins
from judge.records import Sample, Support
from judge.review.golden import Golden, GoldenLabel, golden_lines, read_golden

SHIPPED: Final = "exam"
"""The name of the shipped items among sources."""
EDITION: Final = "v1"
"""The version of the shipped items; it changes when any item changes."""
OWN: Final = "own"
"""The category of an item without a category."""

SHIPPED_IN: Final = Path(__file__).parents[1] / "data" / "exam"
"""The folder of the shipped items and their hash."""

_FILE: Final = "items.jsonl"
_HASH_DIGITS: Final = 8


class ExamItem(NamedTuple):
    """An answer with the right labels of its sentences: one line of a golden set."""

    sample: Sample
    labels: tuple[GoldenLabel, ...]
    category: str
    """The difficulty that it tests."""
    language: Lang
    """The language of the answer."""
    demanded: Support | None = None
    """The label that an order hidden in it asks for; None without an order."""

    @property
    def digest(self) -> str:
        """The first digits of the hash of the item."""
        return _digest([Golden(self.sample, self.labels)])


class ExamItems(NamedTuple):
    """The items of one exam."""

    version: str
    """The name and hash of the items; of a part also its size. Equal versions are comparable."""
    items: tuple[ExamItem, ...]


def read_items(*sources: str | Path) -> ExamItems:
    """Read the items of files; `exam`, the default, names the shipped set.

    It raises InputError if a file has no labels, its metadata are invalid, or two items have one
    qid; and PromptMismatch if the shipped set is not as it was released.
    """
    read = [
        pinned_items() if str(source) == SHIPPED else _own(Path(source))
        for source in sources or (SHIPPED,)
    ]
    items = tuple(item for each in read for item in each.items)
    counts = Counter(item.sample.qid for item in items)
    for qid in (qid for qid, count in counts.items() if count > 1):
        raise InputError(f"two items are called {qid!r}; rename one", field="qid")
    return ExamItems("+".join(each.version for each in read), items)


def first_items(items: ExamItems, limit: int) -> ExamItems:
    """Return the first items of each category and language, at most `limit` of each."""
    seen = Counter[tuple[str, Lang]]()
    kept = []
    for item in items.items:
        seen[item.category, item.language] += 1
        if seen[item.category, item.language] <= limit:
            kept.append(item)
    part = f" {len(kept)}/{len(items.items)}" if len(kept) < len(items.items) else ""
    return ExamItems(f"{items.version}{part}", tuple(kept))


def pinned_items(folder: Path = SHIPPED_IN) -> ExamItems:
    """Return the shipped items; raise PromptMismatch if they are not as they were released."""
    pinned = pins(folder)
    if _FILE not in pinned:
        raise PromptMismatch(f"{folder / SUMS}: does not pin {_FILE}; install judge again")
    checked(folder, _FILE, pinned[_FILE])
    path = folder / _FILE
    return ExamItems(
        f"exam-{EDITION}@{pinned[_FILE][:_HASH_DIGITS]}", _items(read_golden(path), path)
    )


def _own(path: Path) -> ExamItems:
    golden = read_golden(path)
    return ExamItems(f"{path.name}@{_digest(golden)}", _items(golden, path))


def _digest(golden: Iterable[Golden]) -> str:
    return hashlib.sha256("".join(golden_lines(golden)).encode()).hexdigest()[:_HASH_DIGITS]


class _ItemMetadata(BaseModel):
    category: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)] = OWN
    language: Lang | None = None
    demanded: Support | None = None


def _items(golden: Iterable[Golden], path: Path) -> tuple[ExamItem, ...]:
    """Return the lines of a file as items; raise InputError if their metadata are invalid."""
    items = []
    for sample, labels in golden:
        try:
            found = _ItemMetadata.model_validate(sample.metadata)
        except ValidationError as error:
            first = error.errors()[0]
            message = f"answer {sample.qid!r} has {first['input']!r}: {first['msg']}"
            raise InputError(message, path=str(path), field=str(first["loc"][0])) from None
        language = found.language or language_of(sample.answer)
        items.append(ExamItem(sample, labels, found.category, language, found.demanded))
    return tuple(items)
