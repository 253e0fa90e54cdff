"""Review hooks by name: who is told, while a run goes on, of the answers drawn for people."""

import os
from pathlib import Path

from judge.backends.hook import chosen
from judge.config import Config
from judge.errors import ConfigError
from judge.files.runs import read_record, read_results
from judge.protocols import ReviewHook
from judge.records import Sample, SampleResult
from judge.review.census import Census, Tally, claims
from judge.review.draws import Drawing, Picked, drawing_of, name_of, review_id, shown
from judge.review.folder import fingerprint
from judge.review.records import Draw
from judge.review.sheet import BLIND, append_rows, read_sheet, row_of
from judge.settings import REVIEW_TOKEN
from judge.signature import Signature


def open_hook(name: str, config: Config) -> ReviewHook:
    """The review hook of this name.

    An http address is posted to (`judge.backends.webhook`), with the token JUDGE_REVIEW_TOKEN
    where the environment has one. A name that ends in `.csv` is a sheet that grows (`LiveSheet`).
    Any other is `module:object`, imported and called.

    Raises:
        ConfigError: there is no such hook; an address, which may be secret, is not repeated.
        InputError: the sheet is there, and is none of ours.
    """
    if "://" in name or name.lower().startswith(("http:", "https:")):
        from judge.backends.webhook import Webhook  # noqa: PLC0415  loads httpx

        token = os.environ.get(REVIEW_TOKEN, "").strip()
        if not (token.isascii() and token.isprintable()):
            raise ConfigError(f"{REVIEW_TOKEN} holds what no token does; set it to the bare token")
        return Webhook(name, headers={"Authorization": f"Bearer {token}"} if token else {})
    if name.lower().endswith(".csv"):
        return LiveSheet(Path(name), config.seed)
    from judge.backends.hook import load_hook  # noqa: PLC0415  runs the code of others

    return load_hook(name)


class LiveSheet:
    """A hook that adds the claims of every answer it is handed to a CSV for people.

    `judge review import` reads that sheet as a draw of whole answers, each with the same chance.
    The judge's verdicts are not in it. An answer whose rows are there already is left out.
    ConfigError where there is no folder for it, InputError where another file is in its place.
    """

    def __init__(self, path: Path, seed: int) -> None:
        if not path.absolute().parent.is_dir():
            raise ConfigError(f"review hook {str(path)!r}: there is no such folder; make it first")
        self._path = path
        self._seed = seed
        # Before anything is scored: whether the sheet is one of ours, and can be written.
        append_rows(path, (), BLIND)
        self._there = {row.cells["review_id"] for row in read_sheet(path)}

    def __call__(self, sample: Sample, result: SampleResult, probability: float, /) -> None:
        """Add the claims of one answer."""
        draw = live_name(result.signature, self._seed, probability)
        seen = shown(sample)
        named = {review_id(draw, result.qid, c.sentence, seen): c.sentence for c in claims(result)}
        rows = [
            row_of(name, sample, result.sentences[sentence])
            for name, sentence in named.items()
            if name not in self._there
        ]
        if rows:
            append_rows(self._path, rows, BLIND)
            self._there.update(row["review_id"] for row in rows)


def take_live(folder: Path) -> Drawing:
    """The draw of the answers that a review hook got during the run; RunError as of `draw`."""
    record = read_record(folder)
    seed, rate = int(str(record.config["seed"])), float(str(record.config["review_rate"]))
    census = Census("answer", seed, 0)
    positions = []
    for position, result in enumerate(read_results(folder)):
        census.add(result)
        if chosen(result.qid, seed, rate) and claims(result):
            positions.append(position)
    every = Tally.joined(list(census.tallies.values()))
    names = tuple(name for name, tally in census.tallies.items() if tally.units)
    draw = Draw(
        draw=live_name(record.signature, seed, rate),
        by="answer",
        seed=seed,
        size=len(positions),
        results=fingerprint(folder),
        signature=record.signature,
        strata=(every.stratum(names, len(positions)),) if positions else (),
        sentences=(),
    )
    # How many were chosen is chance; given that, each had the same.
    one = [Picked(0, None, len(positions) / max(1, every.units))]
    return drawing_of(folder, draw, dict.fromkeys(positions, one), live=True)


def live_name(signature: str, seed: int, rate: float) -> str:
    """The name of the draw that a hook makes; it is known before the run begins."""
    return name_of("live", str(Signature.parse(signature).requested()), str(seed), repr(rate))
