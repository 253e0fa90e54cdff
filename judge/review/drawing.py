"""A draw: claims of a finished run for people to label, more of the doubtful."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from judge.backends.hook import chosen, uniform
from judge.errors import RunError
from judge.files.runs import RESULTS, origins, read_record, read_results
from judge.records import Sample, SampleResult
from judge.review.census import By, Census, claims, part_of
from judge.review.picking import Picked, divide, stratum
from judge.review.records import Draw, DrawnSentence
from judge.review.sheet import row_of
from judge.signature import Signature

_DIGITS: Final = 12


class Drawing(NamedTuple):
    """What people see, and what they do not."""

    rows: list[dict[str, str]]
    """Cells by column, in the sheet's order."""
    draw: Draw


class _Plan(NamedTuple):
    """What is drawn, before anybody has read the texts again."""

    draw: Draw
    """Without sentences."""
    picked: Mapping[int, Sequence[Picked]]
    """By the answer's position in the run."""
    live: bool = False
    """Whether a hook made it, which knows no run."""


def take(folder: Path, *, by: By = "sentence", size: int = 60, seed: int = 0) -> Drawing:
    """Draw from a finished run; the same arguments draw the same.

    Args:
        folder: of the run.
        by: "sentence", or "answer" for all claims of the answers drawn.
        size: sentences or answers to draw; all, where there are fewer.
        seed: of the draw.

    Raises:
        RunError: no finished run, nothing to draw, or the run's samples have changed.
    """
    results = fingerprint(folder)
    strata, picked = divide(counted(folder, by, seed, size), size)
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
    return _told(folder, _Plan(draw, picked))


def take_live(folder: Path) -> Drawing:
    """The answers that a review hook was handed while a run was made.

    Raises:
        RunError: as of `take`.
    """
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
    return _told(folder, _Plan(draw, dict.fromkeys(positions, one), live=True))


def live_name(signature: str, seed: int, rate: float) -> str:
    """Of the draw that a hook makes, known before the run is."""
    return _name("live", str(Signature.parse(signature).requested()), str(seed), repr(rate))


def review_id(draw: str, qid: str, sentence: int, seen: str = "") -> str:
    """Of a row; it tells nothing of the sentence, and no spreadsheet takes it for a number.

    Args:
        draw: its name.
        qid: of the answer.
        sentence: its index.
        seen: what `shown` makes of the sample, where the draw's name does not tell whose texts
            these are.
    """
    return f"{draw}-{_digest(draw, qid, str(sentence), seen)}"


def shown(sample: Sample) -> str:
    """A hash of what a person is shown of a sample."""
    chunks = (part for chunk in sample.chunks for part in (chunk.chunk_id, chunk.text))
    return _digest(sample.query, sample.answer, *chunks)


def counted(folder: Path, by: By, seed: int = 0, size: int = 0) -> Census:
    """All claims of a run."""
    census = Census(by, seed, size)
    for result in read_results(folder):
        census.add(result)
    return census


def fingerprint(folder: Path) -> str:
    """SHA-256 of the results of a finished run.

    Raises:
        RunError: there is no run, or it is not whole.
    """
    if read_record(folder).finished is None:
        raise RunError(f"{folder}: this run is unfinished; finish it with the same judge score")
    try:
        with (folder / RESULTS).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise RunError(f"{folder / RESULTS}: {error.strerror}; score again with --force") from None


def _told(folder: Path, plan: _Plan) -> Drawing:
    """Read the texts of what was picked, answers in random order, sentences in their own."""
    if not plan.picked:
        raise RunError(f"{folder}: no answer claims anything; there is nothing to review")
    answers = []
    for position, (sample, result) in enumerate(origins(folder)):
        if position in plan.picked:
            place = uniform(plan.draw.seed, "order", result.qid)
            answers.append((place, position, sample, result))
            if len(answers) == len(plan.picked):
                break
    rows: list[dict[str, str]] = []
    sentences: list[DrawnSentence] = []
    for _, position, sample, result in sorted(answers, key=lambda answer: answer[:2]):
        seen = shown(sample) if plan.live else ""
        for sentence in drawn_sentences(plan.draw.draw, result, plan.picked[position], seen):
            sentences.append(sentence)
            rows.append(row_of(sentence.review_id, sample, result.sentences[sentence.sentence]))
    return Drawing(rows, plan.draw.model_copy(update={"sentences": tuple(sentences)}))


def drawn_sentences(
    draw: str, result: SampleResult, picked: Sequence[Picked], seen: str = ""
) -> list[DrawnSentence]:
    """What was drawn of an answer, under the ids of this draw."""
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


def _name(*parts: str) -> str:
    # Begun by a letter: a spreadsheet takes 12e45678 for a number.
    return f"r{_digest(*parts)[:8]}"


def _digest(*parts: str) -> str:
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(joined.encode(errors="surrogatepass")).hexdigest()[:_DIGITS]
