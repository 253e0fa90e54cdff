"""Draws: claims of a finished run for people to label, in sheets or on a page.

Each half of correctness is drawn, labelled and corrected like a run of its own: the claims of
answers, with the reference as evidence, and the claims of references, with the answer as evidence.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

from judge.backends.hook import uniform
from judge.errors import RunError
from judge.inputs import runs
from judge.inputs.runs import hold, made_from, origins, read_results, read_summary
from judge.inputs.tables import check_output
from judge.messages import Messages
from judge.records import Chunk, Excluded, Sample, SampleResult, Sentence, SentenceResult, Summary
from judge.records.result import ANSWER, GOLD, ComparedSentence
from judge.review.folder import fingerprint, labelled_draws, write_draw
from judge.review.records import Draw, DrawnSentence, Label, Target
from judge.review.sheet import (
    BLIND,
    COMPARED,
    COMPARED_OPEN,
    OPEN,
    deal,
    row_of,
    sheets_of,
    word_for,
    write_sheets,
)
from judge.review.strata import Picked, answer_weight, claims, claims_of_run, counts, divide
from judge.scores.answer import aggregate
from judge.scores.totals import summarize

For = Literal["faithfulness", "correctness"]
"""The purpose of a draw."""
TARGETS: Final[dict[For, tuple[Target, ...]]] = {
    "faithfulness": ("faithfulness",),
    "correctness": ("correctness_precision", "correctness_recall"),
}
"""The targets of each purpose; each target is drawn separately."""
_DIGITS: Final = 12
_NOTHING: Final[dict[For, str]] = {
    "faithfulness": "no answer claims anything; there is nothing to review",
    "correctness": "no answer was compared with a reference; give gold_answer, and score with "
    "--correctness",
}
_SENTENCE_FIELDS: Final = set(Sentence.model_fields)


class Drawing(NamedTuple):
    """The rows of a draw for people, and its record, which they do not see."""

    rows: list[dict[str, str]]
    """Texts by column name, in the order of the sheet."""
    draw: Draw


class Drawn(NamedTuple):
    """A draw and the files it was written to."""

    draw: Draw
    kept: Path
    """The file in the run folder that holds the draw; reviewers do not see it."""
    sheets: tuple[Path, ...]
    """A sheet for each reviewer."""
    filled: int
    """The number of rows that have a label from an earlier draw."""
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

    The same arguments draw the same claims. A single reviewer's sheet is filled in with earlier
    labels of these results.

    Args:
        run: folder of the run.
        sheet: a CSV file; for several reviewers `review-1.csv`, `review-2.csv`, ….
        size: the number of claims to draw; half for each half of correctness.
        target: what people check.
        seed: seed of the draw.
        reviewers: the names to write into the sheets; an empty name is left to the reviewer.
        overlap: the number of claims that all reviewers get; the others are dealt out.
        verdicts: whether the sheet shows the judge's verdict.
        force: whether existing files are replaced.

    Raises:
        ConfigError: the sheet is no CSV by its name.
        RunError: the run is not finished, has nothing to draw, or its samples have changed; or a
            file exists or cannot be written.
    """
    run = Path(run)
    sheets = sheets_of(Path(sheet), reviewers)
    for path in sheets:
        check_output(path, made_from(run), force=force)
    halves = TARGETS[target]

    def part(count: int, place: int) -> int:
        """Return the share of a count for one of the halves; the first gets the remainder."""
        return (count + len(halves) - 1 - place) // len(halves)

    drawings = [
        take(run, size=max(1, part(size, place)), seed=seed, target=half)
        for place, half in enumerate(halves)
    ]
    with hold(run):
        kept = [write_draw(run, drawing.draw) for drawing in drawings]
    hands: list[list[dict[str, str]]] = [[] for _ in sheets]
    made = []
    for place, drawing in enumerate(drawings):
        known = earlier_labels(run, drawing.draw) if len(sheets) == 1 else {}
        rows = [row | _filled(known.get(row["review_id"])) for row in drawing.rows]
        if target != "faithfulness":
            asked = Messages.of("sheet", "asked")(drawing.draw.target)
            rows = [{**row, "asked": asked} for row in rows]
        for hand, more in zip(hands, deal(rows, len(sheets), part(overlap, place)), strict=True):
            hand.extend(more)
        made.append(Drawn(drawing.draw, kept[place], sheets, len(known)))
    columns = (BLIND, OPEN) if target == "faithfulness" else (COMPARED, COMPARED_OPEN)
    write_sheets(sheets, reviewers, hands, columns[verdicts])
    return made[0]._replace(others=tuple(made[1:]))


def take(
    folder: Path, *, size: int = 60, seed: int = 0, target: Target = "faithfulness"
) -> Drawing:
    """Draw claims without writing anything.

    Raises:
        RunError: the run is not finished, has nothing to draw, or its samples have changed.
    """
    results = fingerprint(folder)
    # The halves of correctness are drawn independently of each other.
    key = "draw" if target == "faithfulness" else target
    strata, picked = divide(claims_of_run(results_of(folder, target), seed, key), size)
    if not picked:
        purpose = next(each for each, targets in TARGETS.items() if target in targets)
        raise RunError(f"{folder}: {_NOTHING[purpose]}")
    # A spreadsheet takes 12e45678 for a number, so the name begins with a letter.
    name = f"r{digest(key, results, 'sentence', str(seed), str(size))[:8]}"
    rows, sentences = _rows(folder, name, seed, target, picked)
    made = Draw(
        draw=name,
        target=target,
        seed=seed,
        size=size,
        results=results,
        signature=signature_of(folder, target),
        strata=strata,
        sentences=tuple(sentences),
    )
    return Drawing(rows, made)


def _rows(
    folder: Path, draw: str, seed: int, target: Target, picked: Iterable[Picked]
) -> tuple[list[dict[str, str]], list[DrawnSentence]]:
    """Return the rows and sentences of a draw: answers in random order, sentences in their own."""
    wanted: defaultdict[int, list[Picked]] = defaultdict(list)
    for each in picked:
        wanted[each.answer].append(each)
    answers = []
    for position, (sample, result) in enumerate(origins_of(folder, target)):
        if position in wanted:
            answers.append((uniform(seed, "order", result.qid), position, sample, result))
            if len(answers) == len(wanted):
                break
    rows: list[dict[str, str]] = []
    sentences: list[DrawnSentence] = []
    for _, position, sample, result in sorted(answers, key=lambda answer: answer[:2]):
        for sentence in drawn_sentences(draw, result, wanted[position]):
            sentences.append(sentence)
            claim = result.sentences[sentence.sentence]
            rows.append(row_of(sentence.review_id, sample, claim, target))
    return rows, sentences


def drawn_sentences(
    draw: str, result: SampleResult, picked: Iterable[Picked]
) -> list[DrawnSentence]:
    """Return the sentences that were drawn from one answer."""
    found = claims(result)
    by_sentence = {each.sentence: each for each in picked}
    return [
        DrawnSentence(
            review_id=review_id(draw, result.qid, claim.sentence),
            qid=result.qid,
            sentence=claim.sentence,
            text=result.sentences[claim.sentence].text,
            stratum=item.stratum,
            probability=item.probability,
            weight=answer_weight(found),
            outcome=claim.outcome,
            flags=tuple(flag for flag in result.flags if flag.sentence == claim.sentence),
        )
        for claim in found
        if (item := by_sentence.get(claim.sentence))
    ]


def earlier_labels(run: Path, draw: Draw) -> dict[str, Label]:
    """Return labels by `review_id` for the sentences that all earlier labels agree on."""
    known: defaultdict[tuple[str, int], list[Label]] = defaultdict(list)
    for _, earlier in labelled_draws(run, draw.target)[0]:
        for label in earlier:
            known[label.qid, label.sentence].append(label)
    found = ((each.review_id, known[each.qid, each.sentence]) for each in draw.sentences)
    return {
        name: labels[0]
        for name, labels in found
        if len({(label.support, label.supported) for label in labels}) == 1
    }


def _filled(label: Label | None) -> dict[str, str]:
    if label is None:
        return {}
    word = word_for(label.support)
    return {"human_support": word, "human_note": label.note, "reviewer": label.reviewer}


def review_id(draw: str, qid: str, sentence: int) -> str:
    """Return the id of a row, which tells nothing about the sentence and is no number."""
    return f"{draw}-{digest(draw, qid, str(sentence), '')}"


def digest(*parts: str) -> str:
    """Return a short hash of all parts."""
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(joined.encode(errors="surrogatepass")).hexdigest()[:_DIGITS]


# A run as a target sees it


def results_of(folder: Path, target: Target) -> Iterator[SampleResult]:
    """Yield the results of a run as the target sees them; errors as in `read_results`."""
    return (_seen(result, target) for result in read_results(folder))


def origins_of(folder: Path, target: Target) -> Iterator[tuple[Sample, SampleResult]]:
    """Yield samples and results as the target sees them; errors as in `origins`."""
    for sample, result in origins(folder):
        yield _seen_sample(sample, target), _seen(result, target)


def samples_of(folder: Path, target: Target, qids: Collection[str]) -> dict[str, Sample]:
    """Return samples by qid as the target sees them, without those that are gone."""
    wanted = frozenset(qids)
    results = (result for result in read_results(folder) if result.qid in wanted)
    found = runs.samples_of(folder, results)
    return {qid: _seen_sample(sample, target) for qid, sample in found.items()}


def summary_of(folder: Path, target: Target) -> Summary:
    """Return the totals of a run for the target, with its score as `faithfulness`."""
    summary = read_summary(folder)
    if target == "faithfulness" or summary.correctness is None:
        return summary
    totals = summary.correctness
    raw = totals.precision if target == "correctness_precision" else totals.recall
    return summarize(results_of(folder, target)).model_copy(
        update={"faithfulness": raw, "gates": summary.gates}
    )


def signature_of(folder: Path, target: Target) -> str:
    """Return the signature of the verdicts that the target checks."""
    compared = None if target == "faithfulness" else read_summary(folder).correctness
    return next(iter(compared.signatures if compared else ()), runs.read_record(folder).signature)


def _seen_sample(sample: Sample, target: Target) -> Sample:
    """Return the sample with the checked text as its answer and the other text as its chunk."""
    gold = sample.gold_answer or ""
    if target == "correctness_precision":
        return sample.model_copy(update={"chunks": (Chunk(chunk_id=GOLD, text=gold),)})
    if target == "correctness_recall":
        other = Chunk(chunk_id=ANSWER, text=sample.answer)
        return sample.model_copy(update={"answer": gold, "chunks": (other,)})
    return sample


def _seen(result: SampleResult, target: Target) -> SampleResult:
    """Return the result with the claims of the target; no claims if either text has none."""
    if target == "faithfulness":
        return result
    compared = result.correctness
    if compared is None or not (_any_counts(compared.answer) and _any_counts(compared.reference)):
        signature = result.signature if compared is None else compared.signature
        return aggregate(Sample(qid=result.qid), (), {}, (), signature=signature)
    precise = target == "correctness_precision"
    claims = compared.answer if precise else compared.reference
    sentences = result.sentences if precise else compared.reference
    return aggregate(
        Sample(qid=result.qid),
        [Sentence.model_validate(each.model_dump(include=_SENTENCE_FIELDS)) for each in sentences],
        {each.index: each.outcome for each in claims if not isinstance(each.outcome, Excluded)},
        (),
        flags=compared.answer_flags if precise else compared.reference_flags,
        signature=compared.signature,
    )


def _any_counts(claims: Iterable[ComparedSentence | SentenceResult]) -> bool:
    outcomes = (claim.outcome for claim in claims)
    return any(not isinstance(each, Excluded) and counts(each) for each in outcomes)
