"""The files of a review in a run folder: draws, their labels, and what the labels say."""

import hashlib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Final

from judge.errors import RunError
from judge.inputs import runs
from judge.inputs.runs import (
    AGREEMENT,
    PAGE,
    REVIEW,
    parse,
    read_document,
    read_record,
    read_results,
    result_files,
)
from judge.inputs.tables import as_json, replacing
from judge.records import Sample
from judge.review.records import Agreement, Draw, Label

_LABELS: Final = ".labels.jsonl"


def fingerprint(folder: Path) -> str:
    """Return the SHA-256 of a run's results; raise RunError if the run is not finished."""
    if read_record(folder).finished is None:
        raise RunError(f"{folder}: this run is unfinished; finish it with the same judge score")
    whole, _, files = result_files(folder)
    if not whole:
        raise RunError(f"{folder}: has lost its results; score again with --force")
    digest = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            while data := file.read(1 << 20):
                digest.update(data)
    return digest.hexdigest()


def samples_of(run: Path, qids: Collection[str]) -> dict[str, Sample]:
    """Return samples of a run by qid, without those that are gone."""
    results = (result for result in read_results(run) if result.qid in qids)
    return runs.samples_of(run, results)


def write_draw(run: Path, draw: Draw) -> Path:
    """Write a draw into the run and return its path; raise RunError if it cannot be written."""
    return _write(run / REVIEW / f"{draw.draw}.json", as_json(draw))


def read_draw(run: Path, name: str) -> Draw:
    """Return a draw of this run; raise RunError if it is damaged."""
    step = "remove it, and make the same draw again"
    return read_document(run / REVIEW / f"{name}.json", Draw, step)


def draw_names(run: Path) -> list[str]:
    """Return the names of the draws of this run."""
    return sorted(path.stem for path in (run / REVIEW).glob("*.json"))


def write_labels(run: Path, draw: str, labels: Iterable[Label]) -> None:
    """Replace the labels of a draw; raise RunError if they cannot be written."""
    lines = "".join(f"{label.model_dump_json()}\n" for label in labels)
    _write(run / REVIEW / f"{draw}{_LABELS}", lines)


def read_labels(run: Path, draw: str) -> list[Label]:
    """Return the imported labels of a draw; raise RunError if they are damaged."""
    path = run / REVIEW / f"{draw}{_LABELS}"
    lines = path.read_bytes().splitlines() if path.exists() else []
    step = "import the sheets again with --replace"
    return [parse(line, Label, f"{path}, line {n}", step) for n, line in enumerate(lines, 1)]


def write_findings(run: Path, agreement: Agreement, page: str | None) -> None:
    """Write `agreement.json` and its page; raise RunError if they cannot be written."""
    _write(run / AGREEMENT, as_json(agreement))
    if page is not None:
        _write(run / PAGE, page)


def read_findings(run: Path) -> Agreement | None:
    """Return the agreement of a run, None without labels; raise RunError if it is damaged."""
    path = run / AGREEMENT
    return read_document(path, Agreement, "import the sheets again") if path.exists() else None


def discard_findings(run: Path) -> None:
    """Remove the agreement and its page, before the labels that they rest on change."""
    for name in (AGREEMENT, PAGE):
        (run / name).unlink(missing_ok=True)


def _write(path: Path, text: str) -> Path:
    with replacing(path, "mend that first", follow=False) as part:
        path.parent.mkdir(exist_ok=True)
        part.write_text(text, encoding="utf-8", newline="")
    return path
