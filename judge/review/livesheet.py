"""A review hook that keeps a sheet for people while a run goes on."""

from pathlib import Path

from judge.errors import ConfigError
from judge.records import Sample, SampleResult
from judge.review.census import claims
from judge.review.drawing import live_name, review_id, shown
from judge.review.row import BLIND, row_of
from judge.review.sheet import append_rows, read_sheet


class LiveSheet:
    """Adds the claims of every answer it is handed to a CSV, which `judge review import` reads.

    The rows are those of a draw of whole answers, each with the same chance; the judge's verdicts
    are not among them. An answer whose rows are there already is left out.

    Args:
        path: of the sheet; a new one, or one that this hook began.
        seed: of the run.

    Raises:
        ConfigError: the folder it is to stand in is not there.
        InputError: it is there, and is no such sheet.
    """

    def __init__(self, path: Path, seed: int) -> None:
        if not path.absolute().parent.is_dir():
            raise ConfigError(f"review hook {str(path)!r}: there is no such folder; make it first")
        self._path = path
        self._seed = seed
        # Also shows, before anything is scored, that the sheet is one of ours and can be written.
        append_rows(path, (), BLIND)
        self._there = {row.cells["review_id"] for row in read_sheet(path)}

    def __call__(self, sample: Sample, result: SampleResult, probability: float, /) -> None:
        """Add an answer."""
        draw = live_name(result.signature, self._seed, probability)
        seen = shown(sample)
        named = [
            (review_id(draw, result.qid, claim.sentence, seen), claim.sentence)
            for claim in claims(result)
        ]
        rows = [
            row_of(name, sample, result.sentences[sentence])
            for name, sentence in named
            if name not in self._there
        ]
        if rows:
            append_rows(self._path, rows, BLIND)
            self._there.update(row["review_id"] for row in rows)
