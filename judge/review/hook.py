"""Review hooks by name: who is told, while a run goes on, of the answers drawn for people."""

import inspect
import os
import sys
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from judge.backends.hook import described
from judge.config import REVIEW_TOKEN, bearer
from judge.errors import ConfigError, RunError
from judge.protocols import ReviewHook
from judge.records import Sample, SampleResult
from judge.review.draws import digest, review_id
from judge.review.sheet import BLIND, append_rows, read_sheet, row_of
from judge.review.strata import claims


def open_hook(name: str) -> ReviewHook:
    """The review hook of this name.

    An http address is posted to (`judge.backends.webhook`), with the token JUDGE_REVIEW_TOKEN
    where the environment has one. A name that ends in `.csv` is a sheet to which rows are added.
    Any other is `module:object`, imported and called.

    Raises:
        ConfigError: there is no such hook; an address, which may be secret, is not repeated.
        InputError: the sheet is there, and is none of ours.
    """
    if "://" in name or name.lower().startswith(("http:", "https:")):
        from judge.backends.webhook import Webhook  # noqa: PLC0415  loads httpx

        token = os.environ.get(REVIEW_TOKEN, "").strip()
        return Webhook(name, headers=bearer(token, REVIEW_TOKEN))
    if name.lower().endswith(".csv"):
        return AppendedSheet(Path(name))
    return _imported(name)


def _imported(name: str) -> ReviewHook:
    """The object named `package.module:object.attribute`; of a class, one that is made of it.

    It is looked for in the working folder last: a file of that folder takes the place of no
    library. Importing runs code: the name must come from whoever runs the command, not from a file
    they came by.

    Raises:
        ConfigError: nothing of that name takes a sample, a result and a probability, or getting it
            failed.
    """
    module, _, path = name.partition(":")
    if not all((*module.split("."), *path.split("."))):
        raise ConfigError(
            f"review hook {name!r}: name an object of a module, such as hooks:keep, "
            "a file such as review.csv, or an address such as https://host/path"
        )
    # Last, so that a file of the folder takes the place of no library.
    if (place := str(Path.cwd())) not in sys.path:
        sys.path.append(place)
    try:
        hook: Any = reduce(getattr, path.split("."), import_module(module))
        if inspect.isclass(hook):
            hook = hook()
        inspect.signature(hook).bind("sample", "result", 1.0)
    except Exception as error:  # noqa: BLE001  another's code
        raise ConfigError(f"review hook {name!r}: {described(error)}") from None
    return cast(ReviewHook, hook)


class AppendedSheet:
    """A hook that adds the claims of each answer to a CSV, as rows of `judge review draw`.

    The judge's verdicts are not in it. An answer whose rows are there already is left out.
    ConfigError where there is no folder for it, InputError where another file is in its place.
    """

    def __init__(self, path: Path) -> None:
        if not path.absolute().parent.is_dir():
            raise ConfigError(f"review hook {str(path)!r}: there is no such folder; make it first")
        self._path = path
        self._there = set[str]()
        # A sheet that cannot be used is refused before anything is scored. A new sheet is only
        # made with its first rows, because the run may be refused for another reason.
        if path.exists():
            append_rows(path, (), BLIND)
            self._there = {row.cells["review_id"] for row in read_sheet(path)}
        elif not os.access(path.absolute().parent, os.W_OK):
            raise RunError(f"{path}: cannot be written (Permission denied); name another sheet")

    def __call__(self, sample: Sample, result: SampleResult, _probability: float, /) -> None:
        """Add the claims of one answer."""
        chunks = (part for chunk in sample.chunks for part in (chunk.chunk_id, chunk.text))
        shown = digest(sample.query, sample.answer, *chunks)
        rows = [
            row_of(name, sample, result.sentences[claim.sentence])
            for claim in claims(result)
            if (name := review_id("hook", result.qid, claim.sentence, shown)) not in self._there
        ]
        append_rows(self._path, rows, BLIND)
        self._there.update(row["review_id"] for row in rows)
