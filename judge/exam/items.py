"""The items of an exam: the shipped set, pinned by its hash, and the user's own golden sets."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import JsonValue

from judge.errors import InputError, PromptMismatch
from judge.inputs.files import MAX_LINE
from judge.messages import LANGS, Lang, language_of
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
_SHOWN: Final = 8


class Item(NamedTuple):
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


class Items(NamedTuple):
    """The items of one exam."""

    version: str
    """The name of the items and the first digits of their hash; for a part also its size and the
    size of the whole. Exams with equal versions are comparable."""
    items: tuple[Item, ...]


def read_items(*sources: str | Path, max_line: float = MAX_LINE) -> Items:
    """Read the items of files; `exam`, the default, names the shipped set.

    Raises:
        InputError: a file cannot be read or has no labels; a label, category, language or demanded
            label is invalid; or two items have the same qid.
        PromptMismatch: the shipped set is not as it was released.
    """
    read = [
        pinned_items() if str(source) == SHIPPED else _own(Path(source), max_line)
        for source in sources or (SHIPPED,)
    ]
    items = tuple(item for each in read for item in each.items)
    counts = Counter(item.sample.qid for item in items)
    for qid in (qid for qid, count in counts.items() if count > 1):
        raise InputError(f"two items are called {qid!r}; rename one", field="qid")
    return Items("+".join(each.version for each in read), items)


def first_items(items: Items, limit: int) -> Items:
    """Return the first items of each category and language, at most `limit` of each."""
    seen = Counter[tuple[str, Lang]]()
    kept = []
    for item in items.items:
        seen[item.category, item.language] += 1
        if seen[item.category, item.language] <= limit:
            kept.append(item)
    part = f" {len(kept)}/{len(items.items)}" if len(kept) < len(items.items) else ""
    return Items(f"{items.version}{part}", tuple(kept))


def pinned_items(folder: Path = SHIPPED_IN) -> Items:
    """Return the shipped items; raise PromptMismatch if they are not as they were released."""
    pinned = pins(folder)
    if _FILE not in pinned:
        raise PromptMismatch(f"{folder / SUMS}: does not pin {_FILE}; install judge again")
    checked(folder, _FILE, pinned[_FILE])
    path = folder / _FILE
    return Items(f"exam-{EDITION}@{pinned[_FILE][:_SHOWN]}", _items(read_golden(path), path))


def _own(path: Path, max_line: float) -> Items:
    golden = read_golden(path, max_line=max_line)
    return Items(f"{path.name}@{_digest(golden)}", _items(golden, path))


def _digest(golden: Iterable[Golden]) -> str:
    return hashlib.sha256("".join(golden_lines(golden)).encode()).hexdigest()[:_SHOWN]


def _items(golden: Iterable[Golden], path: Path) -> tuple[Item, ...]:
    return tuple(_item(each, path) for each in golden)


def _item(golden: Golden, path: Path) -> Item:
    """Return a line of a file as an item; raise InputError if its metadata are invalid."""
    given = golden.sample.metadata
    language, demanded = given.get("language"), given.get("demanded")
    category = given.get("category", OWN)
    if not isinstance(category, str) or not category.strip():
        raise _wrong(golden, path, "category", category, "a name")
    if demanded is not None and demanded not in list(Support):
        raise _wrong(golden, path, "demanded", demanded, f"one of {', '.join(Support)}")
    if language is not None and language not in LANGS:
        raise _wrong(golden, path, "language", language, f"one of {', '.join(LANGS)}")
    return Item(
        golden.sample,
        golden.labels,
        category,
        next((each for each in LANGS if each == language), language_of(golden.sample.answer)),
        Support(str(demanded)) if demanded is not None else None,
    )


def _wrong(golden: Golden, path: Path, field: str, value: JsonValue, needed: str) -> InputError:
    what = f"answer {golden.sample.qid!r} has {value!r}; give {needed}"
    return InputError(what, path=str(path), field=field)
