"""A draw: claims of a finished run for people to label, more of the doubtful, as sheets."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from judge.backends.hook import uniform
from judge.errors import ConfigError, RunError
from judge.inputs.runs import hold, made_from
from judge.inputs.tables import check_output
from judge.messages import Messages
from judge.records import SampleResult
from judge.review.folder import fingerprint, labelled_draws, write_draw
from judge.review.records import Draw, DrawnSentence, Label, Stratum, Target
from judge.review.sheet import BLIND, COMPARED, COMPARED_OPEN, OPEN, row_of, word_for, write_sheet
from judge.review.strata import Census, Tally, allocate, claims, drawn, merge, part_of
from judge.review.targets import TARGETS, For, census_of, nothing, origins_of, signature_of

_DIGITS: Final = 12
_Row = TypeVar("_Row")


class Picked(NamedTuple):
    """A claim that was drawn."""

    stratum: int
    sentence: int
    probability: float


class Drawing(NamedTuple):
    """The result of a draw: the rows for people, and the record that stays hidden from them."""

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
    others: "tuple[Drawn, ...]" = ()
    """The other half of correctness, in the same sheets."""


def draw(
    run: str | Path,
    sheet: str | Path = "review.csv",
    *,
    size: int = 60,
    target: For = "faithfulness",
    seed: int = 0,
    reviewers: Sequence[str] = ("",),
    overlap: int = 0,
    verdicts: bool = False,
    force: bool = False,
) -> Drawn:
    """Draw claims of a finished run for people to label, and write them into sheets.

    The same arguments draw the same. One reviewer's sheet comes filled in with labels that earlier
    draws of these results have; several reviewers judge on their own.

    Args:
        run: folder of the run.
        sheet: a CSV; of several reviewers `review-1.csv`, `review-2.csv`, ….
        size: sentences to draw; all, where there are fewer.
        target: what to check; of correctness half of the size are claims of answers, held against
            references, and half are claims of references, held against answers.
        seed: of the draw.
        reviewers: their names, which stand in their sheets; an empty one is filled in by them.
        overlap: how many of the sentences all reviewers get; the rest is dealt out.
        verdicts: whether the sheet shows what the judge said.
        force: whether files that are there are replaced.

    Raises:
        ConfigError: the sheet is no CSV by its name.
        RunError: no finished run, nothing to draw, the run's samples have changed, or a file is
            there already or cannot be written.
    """
    run = Path(run)
    sheets = sheets_of(Path(sheet), reviewers)
    for path in sheets:
        check_output(path, made_from(run), force=force)
    halves = TARGETS[target]
    drawings = [
        take(run, size=max(1, _part(size, place, halves)), seed=seed, target=half)
        for place, half in enumerate(halves)
    ]
    with hold(run):
        kept = [write_draw(run, drawing.draw) for drawing in drawings]
    hands: list[list[dict[str, str]]] = [[] for _ in sheets]
    made = []
    for place, drawing in enumerate(drawings):
        rows = carried(run, drawing) if len(sheets) == 1 else drawing.rows
        filled = sum("human_support" in row for row in rows)
        if target != "faithfulness":
            asked = Messages.of("sheet", "asked")(drawing.draw.target)
            rows = [{**row, "asked": asked} for row in rows]
        several = deal(rows, len(sheets), _part(overlap, place, halves))
        hands = [hand + more for hand, more in zip(hands, several, strict=True)]
        made.append(Drawn(drawing.draw, kept[place], sheets, filled))
    columns = (BLIND, OPEN) if target == "faithfulness" else (COMPARED, COMPARED_OPEN)
    hand_out(sheets, reviewers, hands, columns[verdicts])
    return made[0]._replace(others=tuple(made[1:]))


def _part(count: int, place: int, halves: Sequence[Target]) -> int:
    """Return the share of a count for one of the halves; the first half gets the remainder."""
    return (count + len(halves) - 1 - place) // len(halves)


def sheets_of(sheet: Path, reviewers: Sequence[str]) -> tuple[Path, ...]:
    """A file for each reviewer; ConfigError where it is no CSV by its name."""
    if sheet.suffix.lower() != ".csv":
        raise ConfigError(f"-o {str(sheet)!r}: name a .csv file")
    if len(reviewers) == 1:
        return (sheet,)
    return tuple(sheet.with_stem(f"{sheet.stem}-{n}") for n, _ in enumerate(reviewers, 1))


def hand_out(
    sheets: Sequence[Path],
    reviewers: Sequence[str],
    hands: Sequence[Sequence[dict[str, str]]],
    columns: Sequence[str],
) -> None:
    """Write each reviewer's rows, under the reviewer's name where a row has none."""
    for path, name, hand in zip(sheets, reviewers, hands, strict=True):
        named = ({**row, "reviewer": row.get("reviewer") or name} for row in hand)
        write_sheet(path, named, columns)


def take(
    folder: Path,
    *,
    size: int = 60,
    seed: int = 0,
    target: Target = "faithfulness",
) -> Drawing:
    """Draw as `draw` does, and write nothing; the errors are the same."""
    results = fingerprint(folder)
    strata, picked = divide(census_of(folder, seed, size, target), size)
    key = "draw" if target == "faithfulness" else target
    draw = Draw(
        # Begun by a letter: a spreadsheet takes 12e45678 for a number.
        draw=f"r{digest(key, results, 'sentence', str(seed), str(size))[:8]}",
        target=target,
        seed=seed,
        size=size,
        results=results,
        signature=signature_of(folder, target),
        strata=strata,
        sentences=(),
    )
    return _drawing_of(folder, draw, picked)


def divide(census: Census, size: int) -> tuple[tuple[Stratum, ...], dict[int, list[Picked]]]:
    """The strata of a draw, and the drawn units by the position of their answer in the run."""
    groups = merge(census.sizes(), size)
    strata: list[Stratum] = []
    picked: dict[int, list[Picked]] = defaultdict(list)
    for group, share in zip(groups, allocate([g.size for g in groups], size), strict=True):
        tally = Tally.joined([census.tallies[name] for name in group.names])
        for candidate, probability in drawn(tally, share):
            item = Picked(len(strata), candidate.sentence, probability)
            picked[candidate.position].append(item)
        strata.append(tally.stratum(group.names, share))
    return tuple(strata), dict(picked)


def _drawing_of(folder: Path, draw: Draw, picked: Mapping[int, Sequence[Picked]]) -> Drawing:
    """A draw with its sentences, and its rows: answers in random order, sentences in their own.

    `picked` is by the answer's position in the run. RunError where nothing was picked.
    """
    if not picked:
        raise RunError(f"{folder}: {nothing(draw.target)}")
    answers = []
    for position, (sample, result) in enumerate(origins_of(folder, draw.target)):
        if position in picked:
            place = uniform(draw.seed, "order", result.qid)
            answers.append((place, position, sample, result))
            if len(answers) == len(picked):
                break
    rows: list[dict[str, str]] = []
    sentences: list[DrawnSentence] = []
    for _, position, sample, result in sorted(answers, key=lambda answer: answer[:2]):
        for sentence in drawn_sentences(draw.draw, result, picked[position]):
            sentences.append(sentence)
            claim = result.sentences[sentence.sentence]
            rows.append(row_of(sentence.review_id, sample, claim, draw.target))
    return Drawing(rows, draw.model_copy(update={"sentences": tuple(sentences)}))


def drawn_sentences(
    draw: str, result: SampleResult, picked: Sequence[Picked]
) -> list[DrawnSentence]:
    """The sentences that were drawn of one answer, with the ids of this draw."""
    found = claims(result)
    taken = {item.sentence: item for item in picked}
    return [
        DrawnSentence(
            review_id=review_id(draw, result.qid, claim.sentence),
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
        if (item := taken.get(claim.sentence))
    ]


def deal(rows: Sequence[_Row], hands: int, overlap: int) -> list[list[_Row]]:
    """Deal rows to reviewers: all get the first `overlap` rows, and each other row goes to one.

    >>> deal(["a", "b", "c", "d"], 2, 1)
    [['a', 'b', 'd'], ['a', 'c']]
    """
    return [
        [row for n, row in enumerate(rows) if n < overlap or (n - overlap) % hands == taker]
        for taker in range(hands)
    ]


def carried(run: Path, drawing: Drawing) -> list[dict[str, str]]:
    """The rows of a draw, filled in where earlier draws have the same label of a sentence only."""
    known: defaultdict[tuple[str, int], list[Label]] = defaultdict(list)
    for _, earlier in labelled_draws(run, drawing.draw.target)[0]:
        for label in earlier:
            known[label.qid, label.sentence].append(label)
    filled = []
    for row, sentence in zip(drawing.rows, drawing.draw.sentences, strict=True):
        labels = known[sentence.qid, sentence.sentence]
        said = {}
        if len({(label.support, label.supported) for label in labels}) == 1:
            first, word = labels[0], word_for(labels[0].support)
            said = {"human_support": word, "human_note": first.note, "reviewer": first.reviewer}
        filled.append(row | said)
    return filled


def review_id(draw: str, qid: str, sentence: int) -> str:
    """Return the id of a row, which says nothing of the sentence.

    No spreadsheet reads it as a number.
    """
    return f"{draw}-{digest(draw, qid, str(sentence), '')}"


def digest(*parts: str) -> str:
    """A short hash of all parts."""
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(joined.encode(errors="surrogatepass")).hexdigest()[:_DIGITS]
