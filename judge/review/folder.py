"""What people's review leaves in a run folder: draws, their labels, and what came of them."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from judge.errors import RunError
from judge.files.folder import replacing
from judge.files.runs import AGREEMENT, PAGE, REVIEW, parse
from judge.review.records import Agreement, Draw, Label

_LABELS: Final = ".labels.jsonl"
_DRAW_AGAIN: Final = "remove it, and make the same draw again"


def write_draw(run: Path, draw: Draw) -> Path:
    """Keep a draw in the run; returns where.

    Raises:
        RunError: the folder cannot be written.
    """
    return _write(run / REVIEW / f"{draw.draw}.json", _json(draw))


def read_draw(run: Path, name: str) -> Draw | None:
    """A draw of this run; None where it has none of that name.

    Raises:
        RunError: it is damaged.
    """
    path = run / REVIEW / f"{name}.json"
    try:
        draw = parse(path.read_bytes(), Draw, str(path), _DRAW_AGAIN)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RunError(f"{path}: cannot be read ({error.strerror})") from None
    if draw.draw != name:
        raise RunError(f"{path}: is draw {draw.draw!r} by another name; {_DRAW_AGAIN}")
    return draw


def draw_names(run: Path) -> list[str]:
    """The draws of this run, by name."""
    return sorted(path.stem for path in (run / REVIEW).glob("*.json"))


def write_labels(run: Path, draw: str, labels: Iterable[Label]) -> Path:
    """Keep the labels of a draw, in place of those it had.

    Raises:
        RunError: the folder cannot be written.
    """
    lines = "".join(f"{label.model_dump_json()}\n" for label in labels)
    return _write(run / REVIEW / f"{draw}{_LABELS}", lines)


def read_labels(run: Path, draw: str) -> list[Label]:
    """The labels of a draw; none where none were imported.

    Raises:
        RunError: they are damaged.
    """
    path = run / REVIEW / f"{draw}{_LABELS}"
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RunError(f"{path}: cannot be read ({error.strerror})") from None
    step = "import the sheets again with --replace"
    return [parse(line, Label, f"{path}, line {n}", step) for n, line in enumerate(lines, 1)]


def write_agreement(run: Path, agreement: Agreement) -> Path:
    """Keep what the labels say of the judge.

    Raises:
        RunError: the folder cannot be written.
    """
    return _write(run / AGREEMENT, _json(agreement))


def write_page(run: Path, page: str) -> Path:
    """Keep the page that tells it to people.

    Raises:
        RunError: the folder cannot be written.
    """
    return _write(run / PAGE, page)


def discard_findings(run: Path) -> None:
    """Remove what labels said, before they change: it must not outlive them.

    Raises:
        RunError: the folder cannot be written.
    """
    for name in (AGREEMENT, PAGE):
        try:
            (run / name).unlink(missing_ok=True)
        except OSError as error:
            raise RunError(f"{run / name}: cannot be removed ({error.strerror})") from None


def read_agreement(run: Path) -> Agreement:
    """What the labels said when they were imported last.

    Raises:
        RunError: nothing was imported yet, or the file is damaged.
    """
    path = run / AGREEMENT
    try:
        return parse(path.read_bytes(), Agreement, str(path), "import the labels again")
    except OSError:
        message = f"{run}: no labels were imported; judge review import {run} SHEET does that"
        raise RunError(message) from None


def _json(record: BaseModel) -> str:
    return json.dumps(record.model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n"


def _write(path: Path, text: str) -> Path:
    with replacing(path, "mend that first") as part:
        path.parent.mkdir(exist_ok=True)
        part.write_text(text, encoding="utf-8", newline="")
    return path
