"""Draws: claims of a finished run for people to label, in sheets or on a page.

Claims fall into strata by support and doubt, because people should see more of the doubtful ones.
The strata share a draw by weight times expected spread, at least five claims each. Within a stratum
a claim's chance is proportional to its weight in the mean over answers, so that its labels all
weigh the same there. The method is sequential Poisson sampling; claims whose chance would exceed 1
are drawn for certain.

Source: E. Ohlsson (1998), Sequential Poisson sampling, J. Off. Stat. 14, 149-162.
"""

import hashlib
import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from judge.backends.hook import uniform
from judge.errors import RunError
from judge.inputs.runs import (
    REVIEW,
    hold,
    made_from,
    origins,
    read_document,
    read_record,
    read_results,
    result_files,
)
from judge.inputs.tables import as_json, replacing
from judge.records import (
    SUPPORT_WEIGHT,
    SUPPORTED,
    Excluded,
    FlagName,
    Outcome,
    SampleResult,
    Support,
    Unscored,
    Verdict,
)
from judge.review.records import Draw, DrawnSentence, Stratum, StratumName
from judge.review.sheet import COLUMNS, row_of, sheets_of, write_sheets
from judge.scores.answer import is_undecided
from judge.signature import Signature

SPREAD: Final[Mapping[StratumName, float]] = {
    StratumName.SUPPORTED: 0.2,
    StratumName.SUPPORTED_DOUBTFUL: 0.45,
    StratumName.PARTIAL: 0.35,
    StratumName.UNSUPPORTED_DOUBTFUL: 0.45,
    StratumName.UNSUPPORTED: 0.3,
    StratumName.UNDECIDED: 0.5,
    StratumName.UNSCORED: 0.45,
}
"""The expected standard deviation of the judge's error: .2 is four errors in a hundred, .45 three
in ten, .5 one in two. It decides how many claims are drawn, and biases nothing."""
NEVER_PARTIAL: Final = frozenset({"similarity", "nli"})
"""Sources of verdicts that never say `partial`; they are compared as full against the rest."""
FLOOR: Final = 5
"""The fewest claims drawn from a stratum; a smaller stratum is merged with its neighbour."""

_STRATA: Final = tuple(StratumName)
_SPREADS: Final = np.array([SPREAD[name] for name in _STRATA])
_NEAR_LOG_ODDS: Final = 1.0
"""The distance from the threshold within which a score is doubtful: .71 to .95 for .87."""
_EDGE: Final = 1e-9
_MAX_SCALE: Final = 1e300
_DIGITS: Final = 12

Claims = npt.NDArray[np.void]
"""Claims in the order of the run, one row each, with the fields of `_COLUMNS`."""

_COLUMNS: Final = np.dtype(
    [
        ("answer", "i4"),  # the position of the answer in the run
        ("sentence", "i4"),
        ("stratum", "i1"),  # the position in StratumName
        ("weight", "f8"),  # in the mean over answers
        ("random", "f8"),  # 0 to 1
        ("counted", "i1"),  # 0 or 1
        ("faithfulness", "f4"),  # 0, .5 or 1
        ("strict", "i1"),
    ]
)


class Claim(NamedTuple):
    """A claim of an answer."""

    sentence: int
    stratum: StratumName
    outcome: Verdict | Unscored


class DrawnClaim(NamedTuple):
    """The position of a claim that was drawn."""

    answer: int
    """The position of its answer in the run."""
    sentence: int
    stratum: int
    """The position of its stratum among the strata of the draw."""
    probability: float


class SheetDraw(NamedTuple):
    """The rows of a draw for people, and its record, which they do not see."""

    rows: list[dict[str, str]]
    """Texts by column name, in the order of the sheet."""
    draw: Draw


class DrawFiles(NamedTuple):
    """A draw and the files it was written to."""

    draw: Draw
    draw_path: Path
    """The file in the run folder that holds the draw; reviewers do not see it."""
    sheets: tuple[Path, ...]
    """A sheet for each reviewer."""


def draw(
    run: str | Path,
    sheet: str | Path = "review.csv",
    *,
    size: int = 60,
    seed: int = 0,
    reviewers: Sequence[str] = ("",),
    overlap: int = 0,
    force: bool = False,
) -> DrawFiles:
    """Draw claims of a finished run for people to label, and write them into sheets.

    The same arguments draw the same claims.

    Args:
        run: folder of the run.
        sheet: a CSV file; for several reviewers `review-1.csv`, `review-2.csv`, ….
        size: the number of claims to draw.
        seed: seed of the draw.
        reviewers: the names to write into the sheets; an empty name is left to the reviewer.
        overlap: the number of claims that all reviewers get; the others are dealt out.
        force: whether existing files are replaced.

    Raises:
        ConfigError: the sheet is no CSV by its name.
        RunError: the run is not finished, has nothing to draw, or its samples have changed; or a
            file exists or cannot be written.
    """
    run = Path(run)
    sheets = sheets_of(Path(sheet), reviewers, made_from(run), force=force)
    made = draw_rows(run, size=size, seed=seed)
    with hold(run):
        path = write_draw(run, made.draw)
    rows = [[row] for row in made.rows]
    write_sheets(sheets, reviewers, rows, overlap, COLUMNS)
    return DrawFiles(made.draw, path, sheets)


def draw_rows(folder: Path, *, size: int = 60, seed: int = 0) -> SheetDraw:
    """Draw claims without writing anything; raise RunError as `draw` does."""
    results = fingerprint(folder)
    strata, drawn = divide(claims_of_run(read_results(folder), seed), size)
    if not drawn:
        raise RunError(f"{folder}: no answer claims anything; there is nothing to review")
    # A spreadsheet takes 12e45678 for a number, so the name begins with a letter.
    name = f"r{digest('draw', results, 'sentence', str(seed), str(size))[:8]}"
    rows, sentences = _rows(folder, name, seed, drawn)
    record = Draw(
        draw=name,
        seed=seed,
        size=size,
        results=results,
        signature=read_record(folder).signature,
        strata=strata,
        sentences=tuple(sentences),
    )
    return SheetDraw(rows, record)


def _rows(
    folder: Path, draw: str, seed: int, drawn: Iterable[DrawnClaim]
) -> tuple[list[dict[str, str]], list[DrawnSentence]]:
    """Return the rows and sentences of a draw: answers in random order, sentences in their own."""
    wanted: defaultdict[int, list[DrawnClaim]] = defaultdict(list)
    for each in drawn:
        wanted[each.answer].append(each)
    answers = []
    for position, (sample, result) in enumerate(origins(folder)):
        if position in wanted:
            answers.append((uniform(seed, "order", result.qid), position, sample, result))
            if len(answers) == len(wanted):
                break
    rows: list[dict[str, str]] = []
    sentences: list[DrawnSentence] = []
    for _, position, sample, result in sorted(answers, key=lambda answer: answer[:2]):
        for sentence in drawn_sentences(draw, result, wanted[position]):
            sentences.append(sentence)
            rows.append(row_of(sentence.review_id, sample, result.sentences[sentence.sentence]))
    return rows, sentences


def drawn_sentences(
    draw: str, result: SampleResult, drawn: Iterable[DrawnClaim]
) -> list[DrawnSentence]:
    """Return the sentences that were drawn from one answer, in their order."""
    found = {claim.sentence: claim for claim in claims(result)}
    return [
        DrawnSentence(
            review_id=review_id(draw, result.qid, each.sentence),
            qid=result.qid,
            sentence=each.sentence,
            text=result.sentences[each.sentence].text,
            stratum=each.stratum,
            probability=each.probability,
            weight=answer_weight(list(found.values())),
            outcome=found[each.sentence].outcome,
            flags=tuple(flag for flag in result.flags if flag.sentence == each.sentence),
        )
        for each in sorted(drawn, key=lambda each: each.sentence)
    ]


def review_id(draw: str, qid: str, sentence: int) -> str:
    """Return the id of a row, which tells nothing about the sentence and is no number."""
    return f"{draw}-{digest(draw, qid, str(sentence), '')}"


def digest(*parts: str) -> str:
    """Return a short hash of all parts."""
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(joined.encode(errors="surrogatepass")).hexdigest()[:_DIGITS]


# Strata


def claims_of_run(results: Iterable[SampleResult], seed: int) -> Claims:
    """Return all claims of a run, each with a random number for a draw."""

    def rows() -> Iterator[tuple[float, ...]]:
        for position, result in enumerate(results):
            found = claims(result)
            weight = answer_weight(found)
            for claim in found:
                yield (
                    position,
                    claim.sentence,
                    _STRATA.index(claim.stratum),
                    weight,
                    uniform(seed, "draw", result.qid, claim.sentence),
                    counts(claim.outcome),
                    support_weight(claim.outcome, strict=False),
                    support_weight(claim.outcome, strict=True),
                )

    return np.fromiter(rows(), _COLUMNS)


def claims(result: SampleResult) -> list[Claim]:
    """Return the claims of an answer, with and without a verdict."""
    flags: defaultdict[int | None, list[FlagName]] = defaultdict(list)
    for flag in result.flags:
        flags[flag.sentence].append(flag.name)
    return [
        Claim(sentence.index, stratum_of(outcome, flags[sentence.index]), outcome)
        for sentence in result.sentences
        if not isinstance(outcome := sentence.outcome, Excluded)
    ]


def answer_weight(found: Sequence[Claim]) -> float:
    """Return a claim's weight in the mean of its answer: 1 / the claims that count there."""
    return 1 / (sum(counts(claim.outcome) for claim in found) or len(found) or 1)


def stratum_of(outcome: Verdict | Unscored, flags: Collection[FlagName]) -> StratumName:
    """Return the stratum of a claim."""
    if is_undecided(outcome):
        return StratumName.UNDECIDED
    verdict = own_verdict(outcome)
    if verdict is None:
        return StratumName.UNSCORED
    if verdict.support is Support.PARTIAL:
        return StratumName.PARTIAL
    doubtful = bool(flags) or verdict.support is Support.NO_CLAIM or _near_threshold(verdict)
    if verdict.support in SUPPORTED:
        return StratumName.SUPPORTED_DOUBTFUL if doubtful else StratumName.SUPPORTED
    return StratumName.UNSUPPORTED_DOUBTFUL if doubtful else StratumName.UNSUPPORTED


def own_verdict(outcome: Outcome) -> Verdict | None:
    """Return the verdict of the run's own judge; None if it failed."""
    return outcome if isinstance(outcome, Verdict) and outcome.fallback_from is None else None


def counts(outcome: Outcome) -> bool:
    """Return whether the claim is in the mean, which the judge's `no_claim` are not."""
    return not (isinstance(outcome, Verdict) and outcome.support is Support.NO_CLAIM)


def support_weight(outcome: Outcome, *, strict: bool) -> float:
    """Return a verdict's contribution to faithfulness, also a fallback's; 0 without a verdict."""
    if not isinstance(outcome, Verdict):
        return 0.0
    if strict:
        return float(outcome.support is Support.FULL)
    return SUPPORT_WEIGHT.get(outcome.support, 0.0)


def divide(found: Claims, size: int) -> tuple[tuple[Stratum, ...], list[DrawnClaim]]:
    """Return the strata of a draw of `size` claims, and the claims that are drawn."""
    parts = _merge_small([found[found["stratum"] == place] for place in range(len(_STRATA))], size)
    pulls = [float((part["weight"] * _SPREADS[part["stratum"]]).sum()) for part in parts]
    strata: list[Stratum] = []
    drawn: list[DrawnClaim] = []
    shares = allocate(list(map(len, parts)), pulls, size)
    for number, (part, share) in enumerate(zip(parts, shares, strict=True)):
        weights = part["weight"]
        stratum = Stratum(
            names=tuple(_STRATA[place] for place in np.unique(part["stratum"])),
            units=len(part),
            drawn=share,
            weight=float(weights.sum()),
            counted=float((weights * part["counted"]).sum()),
            faithfulness=float((weights * part["faithfulness"]).sum()),
            faithfulness_strict=float((weights * part["strict"]).sum()),
            span=_span(part, "faithfulness"),
            span_strict=_span(part, "strict"),
        )
        strata.append(stratum)
        for row, probability in _sample(part, share):
            drawn.append(DrawnClaim(int(row["answer"]), int(row["sentence"]), number, probability))
    return tuple(strata), drawn


def _merge_small(parts: Iterable[Claims], total: int) -> list[Claims]:
    """Merge the smallest part with its smaller neighbour until each has `FLOOR` claims.

    Empty parts are left out. `total`, the size of the draw, bounds the number of parts.
    """
    merged = [part for part in parts if len(part)]
    most = max(1, total // FLOOR)
    while len(merged) > 1 and (len(merged) > most or min(map(len, merged)) < FLOOR):
        least = min(range(len(merged)), key=lambda k: len(merged[k]))
        beside = [k for k in (least - 1, least + 1) if 0 <= k < len(merged)]
        first, second = sorted((least, min(beside, key=lambda k: len(merged[k]))))
        merged[first : second + 1] = [np.concatenate(merged[first : second + 1])]
    return merged


def allocate(units: Sequence[int], pulls: Sequence[float], total: int) -> list[int]:
    """Return the number of claims to draw from each stratum, proportional to its pull.

    A stratum's pull is its weight times its spread, and `units` are its claims. Each gives at least
    `FLOOR` claims if it has them and `total` allows; what a stratum that is drawn whole cannot give
    is shared by the others. The numbers add up to `total`, or to all claims if there are fewer.

    Source: J. Neyman (1934), J. R. Stat. Soc. 97, 558-606.

    >>> allocate([900, 100], [180.0, 40.0], 55)
    [45, 10]
    """
    total = min(total, sum(units))
    floors = [min(FLOOR, count, total // len(units)) for count in units]
    if not any(pulls):
        pulls = units

    def shares(scale: float) -> list[float]:
        bounds = zip(units, floors, pulls, strict=True)
        return [min(most, max(least, scale * pull)) for most, least, pull in bounds]

    low, high = 0.0, 1.0
    while sum(shares(high)) < total and high < _MAX_SCALE:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(shares(middle)) < total else (low, middle)
    found = shares(high)
    # The largest remainders are rounded up first.
    drawn = [math.floor(share + 1e-9) for share in found]
    order = sorted(range(len(units)), key=lambda k: drawn[k] - found[k])
    while sum(drawn) < total:
        for k in order:
            if sum(drawn) < total and drawn[k] < units[k]:
                drawn[k] += 1
    return drawn


def _sample(part: Claims, share: int) -> list[tuple[np.void, float]]:
    """Draw `share` rows of a stratum; each comes with its inclusion probability."""
    weights = part["weight"]
    certain = np.zeros(len(part), bool)
    left, rest = share, float(weights.sum())
    for weight in np.unique(weights)[::-1]:
        if left * weight < rest * (1 - 1e-12):
            break
        heavy = weights == weight
        certain |= heavy
        left -= int(heavy.sum())
        rest -= float(weights[heavy].sum())
    scale = left / rest if rest > 0 else 0.0
    probabilities = np.where(certain, 1.0, np.minimum(1.0, weights * scale))
    keys = np.where(certain, -1.0, part["random"] / weights)
    chosen = np.argsort(keys, kind="stable")[:share]
    return [(part[row], float(probabilities[row])) for row in chosen]


def _span(part: Claims, name: str) -> tuple[float, float]:
    """Return the least and the most by which people's weights can differ from the judge's."""
    judged, counted = part[name], part["counted"] > 0
    low, high = np.where(counted, -judged, -1.0), np.where(counted, 1 - judged, 1.0)
    return float(low.min()), float(high.max())


def _near_threshold(verdict: Verdict) -> bool:
    threshold = Signature.parse(verdict.signature).threshold
    # The t of a language model is its temperature.
    if verdict.score is None or threshold is None or verdict.source == "llm":
        return False
    return abs(_log_odds(verdict.score) - _log_odds(threshold)) <= _NEAR_LOG_ODDS


def _log_odds(probability: float) -> float:
    inside = min(1 - _EDGE, max(_EDGE, probability))
    return math.log(inside / (1 - inside))


# Files in the run folder


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


def draw_names(run: Path) -> list[str]:
    """Return the names of the draws of this run."""
    return sorted(path.stem for path in (run / REVIEW).glob("*.json"))


def read_draw(run: Path, name: str) -> Draw:
    """Return a draw of this run; raise RunError if it is damaged."""
    step = "remove it, and make the same draw again"
    return read_document(run / REVIEW / f"{name}.json", Draw, step)


def write_draw(run: Path, draw: Draw) -> Path:
    """Write a draw into the run and return its path; raise RunError if it cannot be written."""
    path = run / REVIEW / f"{draw.draw}.json"
    write_text(path, as_json(draw))
    return path


def write_text(path: Path, text: str) -> None:
    """Write a file of a review; raise RunError if it cannot be written."""
    with replacing(path, "mend that first", follow=False) as part:
        path.parent.mkdir(exist_ok=True)
        part.write_text(text, encoding="utf-8", newline="")
