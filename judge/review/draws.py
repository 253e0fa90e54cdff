"""A draw: claims of a finished run for people to label, more of the doubtful, as sheets."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from judge.backends.hook import chosen, uniform
from judge.errors import ConfigError, RunError
from judge.files.folder import hold
from judge.files.runs import made_from, origins, read_record, read_results
from judge.messages import Lang
from judge.records import Sample, SampleResult
from judge.review.census import By, Census, Picked, census_of, claims, divide, part_of, stratum
from judge.review.folder import check_output, fingerprint, labelled_draws, write_draw
from judge.review.records import Draw, DrawnSentence, Label
from judge.review.sheet import BLIND, OPEN, row_of, write_sheet
from judge.review.words import word_for
from judge.signature import Signature

_DIGITS: Final = 12
_KINDS: Final = (".csv", ".xlsx")
_Row = TypeVar("_Row")


class Drawing(NamedTuple):
    """What a draw took from a run: the rows for people, and the record that they do not see."""

    rows: list[dict[str, str]]
    """Texts by column name, in the order of the sheet."""
    draw: Draw


class Drawn(NamedTuple):
    """A draw and the files it was written to."""

    draw: Draw
    kept: Path
    """The file in the run folder that holds the draw; reviewers do not see it."""
    sheets: tuple[Path, ...]
    """One for each reviewer."""
    filled: int
    """Rows that are filled in, because an earlier draw has their labels."""


def draw(  # noqa: PLR0913  each is a choice of who draws
    run: str | Path,
    sheet: str | Path = "review.csv",
    *,
    size: int = 60,
    by: By = "sentence",
    seed: int = 0,
    reviewers: Sequence[str] = ("",),
    overlap: int = 0,
    verdicts: bool = False,
    lang: Lang = "en",
    force: bool = False,
) -> Drawn:
    """Draw claims of a finished run for people to label, and write them into sheets.

    The same arguments draw the same. One reviewer's sheet comes filled in with labels that earlier
    draws of these results have; several reviewers judge on their own.

    Args:
        run: folder of the run.
        sheet: CSV, or XLSX by its name; of several reviewers `review-1.csv`, `review-2.csv`, ….
        size: sentences or answers to draw; all, where there are fewer.
        by: "sentence", or "answer" for all claims of the answers drawn.
        seed: of the draw.
        reviewers: their names, which stand in their sheets; an empty one is filled in by them.
        overlap: how many of the sentences or answers all reviewers get; the rest is dealt out.
        verdicts: whether the sheet shows what the judge said.
        lang: of headers and drop-down.
        force: whether files that are there are replaced.

    Raises:
        ConfigError: the sheet is neither CSV nor XLSX, or openpyxl is not installed.
        RunError: no finished run, nothing to draw, the run's samples have changed, or a file is
            there already or cannot be written.
    """
    run, sheet = Path(run), Path(sheet)
    if sheet.suffix.lower() not in _KINDS:
        raise ConfigError(f"-o {str(sheet)!r}: name a .csv or .xlsx file")
    names = [sheet.with_stem(f"{sheet.stem}-{number}") for number, _ in enumerate(reviewers, 1)]
    sheets = names if len(reviewers) > 1 else [sheet]
    for path in sheets:
        check_output(path, made_from(run), force=force)
    drawing = take(run, by=by, size=size, seed=seed)
    with hold(run):
        kept = write_draw(run, drawing.draw)
    rows = carried(run, drawing, lang) if len(sheets) == 1 else drawing.rows
    units = {s.review_id: s.qid if by == "answer" else s.review_id for s in drawing.draw.sentences}
    hands = deal(rows, len(sheets), overlap, lambda row: units[row["review_id"]])
    for path, name, hand in zip(sheets, reviewers, hands, strict=True):
        named = ({**row, "reviewer": row.get("reviewer") or name} for row in hand)
        write_sheet(path, named, OPEN if verdicts else BLIND, lang)
    filled = sum("human_support" in row for row in rows)
    return Drawn(drawing.draw, kept, tuple(sheets), filled)


def take(folder: Path, *, by: By = "sentence", size: int = 60, seed: int = 0) -> Drawing:
    """Draw as `draw` does, and write nothing; the errors are the same."""
    results = fingerprint(folder)
    strata, picked = divide(census_of(folder, by, seed, size), size)
    draw = Draw(
        draw=_name("draw", results, by, str(seed), str(size)),
        by=by,
        seed=seed,
        size=size,
        results=results,
        signature=read_record(folder).signature,
        strata=strata,
        sentences=(),
    )
    return _filled(folder, draw, picked)


def take_live(folder: Path) -> Drawing:
    """The draw of the answers that a review hook got during the run; RunError as of `take`."""
    record = read_record(folder)
    seed, rate = int(str(record.config["seed"])), float(str(record.config["review_rate"]))
    census = Census("answer", seed, 0)
    positions = []
    for position, result in enumerate(read_results(folder)):
        census.add(result)
        if chosen(result.qid, seed, rate) and claims(result):
            positions.append(position)
    tallies = {name: tally for name, tally in census.tallies.items() if tally.units}
    draw = Draw(
        draw=live_name(record.signature, seed, rate),
        by="answer",
        seed=seed,
        size=len(positions),
        results=fingerprint(folder),
        signature=record.signature,
        strata=(stratum(tuple(tallies), list(tallies.values()), len(positions)),)
        if tallies
        else (),
        sentences=(),
    )
    # How many were chosen is chance; given that, each had the same.
    answers = sum(tally.units for tally in tallies.values())
    one = [Picked(0, None, len(positions) / max(1, answers))]
    return _filled(folder, draw, dict.fromkeys(positions, one), live=True)


def live_name(signature: str, seed: int, rate: float) -> str:
    """The name of the draw that a hook makes; it is known before the run begins."""
    return _name("live", str(Signature.parse(signature).requested()), str(seed), repr(rate))


def review_id(draw: str, qid: str, sentence: int, seen: str = "") -> str:
    """The id of a row. It says nothing of the sentence, and no spreadsheet reads it as a number.

    Where the draw's name does not tell whose texts these are, `seen` is their hash by `shown`.
    """
    return f"{draw}-{_digest(draw, qid, str(sentence), seen)}"


def shown(sample: Sample) -> str:
    """A hash of what the sheet shows of a sample."""
    chunks = (part for chunk in sample.chunks for part in (chunk.chunk_id, chunk.text))
    return _digest(sample.query, sample.answer, *chunks)


def drawn_sentences(
    draw: str, result: SampleResult, picked: Sequence[Picked], seen: str = ""
) -> list[DrawnSentence]:
    """The sentences that were drawn of one answer, with the ids of this draw."""
    found = claims(result)
    taken = {item.sentence: item for item in picked}
    whole = taken.get(None)
    return [
        DrawnSentence(
            review_id=review_id(draw, result.qid, claim.sentence, seen),
            qid=result.qid,
            sentence=claim.sentence,
            text=result.sentences[claim.sentence].text,
            stratum=item.stratum,
            probability=item.probability,
            weight=part_of(found),
            outcome=claim.outcome,
            flags=tuple(flag for flag in result.flags if flag.sentence == claim.sentence),
        )
        for claim in found
        if (item := whole or taken.get(claim.sentence))
    ]


def deal(
    rows: Sequence[_Row], hands: int, overlap: int, together: Callable[[_Row], str]
) -> list[list[_Row]]:
    """Deal rows to reviewers: all get the first `overlap` units, and each other unit goes to one.

    Rows come in random order, those that have `together` in common next to each other: a unit.

    >>> deal(["a", "b", "c", "d"], 2, 1, str)
    [['a', 'b', 'd'], ['a', 'c']]
    """
    units = [list(group) for _, group in groupby(rows, key=together)]
    dealt: list[list[_Row]] = [[] for _ in range(hands)]
    for number, unit in enumerate(units):
        for taker in dealt if number < overlap else [dealt[(number - overlap) % hands]]:
            taker.extend(unit)
    return dealt


def carried(run: Path, drawing: Drawing, lang: Lang) -> list[dict[str, str]]:
    """The rows of a draw, filled in where earlier draws have the same label of a sentence only."""
    known: defaultdict[tuple[str, int], list[Label]] = defaultdict(list)
    for _, rows in labelled_draws(run):
        for labels in rows.values():
            known[labels[0].qid, labels[0].sentence].extend(labels)
    filled = []
    for row, sentence in zip(drawing.rows, drawing.draw.sentences, strict=True):
        labels = known[sentence.qid, sentence.sentence]
        if len({(label.support, label.supported) for label in labels}) == 1:
            first, word = labels[0], word_for(labels[0].support, lang)
            said = {"human_support": word, "human_note": first.note, "reviewer": first.reviewer}
            filled.append(row | said)
        else:
            filled.append(row)
    return filled


def _filled(
    folder: Path, draw: Draw, picked: Mapping[int, Sequence[Picked]], *, live: bool = False
) -> Drawing:
    """A draw with its sentences, and its rows: answers in random order, sentences in their own.

    `picked` is by the answer's position in the run; a hook, which makes a `live` draw, knows no
    run.
    """
    if not picked:
        raise RunError(f"{folder}: no answer claims anything; there is nothing to review")
    answers = []
    for position, (sample, result) in enumerate(origins(folder)):
        if position in picked:
            place = uniform(draw.seed, "order", result.qid)
            answers.append((place, position, sample, result))
            if len(answers) == len(picked):
                break
    rows: list[dict[str, str]] = []
    sentences: list[DrawnSentence] = []
    for _, position, sample, result in sorted(answers, key=lambda answer: answer[:2]):
        seen = shown(sample) if live else ""
        for sentence in drawn_sentences(draw.draw, result, picked[position], seen):
            sentences.append(sentence)
            rows.append(row_of(sentence.review_id, sample, result.sentences[sentence.sentence]))
    return Drawing(rows, draw.model_copy(update={"sentences": tuple(sentences)}))


def _name(*parts: str) -> str:
    # Begun by a letter: a spreadsheet takes 12e45678 for a number.
    return f"r{_digest(*parts)[:8]}"


def _digest(*parts: str) -> str:
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(joined.encode(errors="surrogatepass")).hexdigest()[:_DIGITS]
