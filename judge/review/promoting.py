"""From the labels of a run's draws to a golden set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from judge.errors import InputError, RunError
from judge.files.runs import origins
from judge.records import Sample, SampleResult, SentenceResult
from judge.review.drawing import fingerprint
from judge.review.folder import draw_names, read_draw, read_labels
from judge.review.golden import KEY, Golden, labels_of, own_support
from judge.review.records import GoldenLabel, Label

_Votes = dict[str, dict[int, list[Label]]]
"""By qid and index of the sentence."""


class Disagreed(NamedTuple):
    """A sentence that reviewers called otherwise than each other."""

    review_id: str
    """Of its first label."""
    qid: str
    sentence: int
    """Its index."""


@dataclass(slots=True)
class Promotion:
    """What of a run's labels is golden, and what is not."""

    golden: list[Golden] = field(default_factory=list)
    """Answers with at least one agreed label, in run order."""
    disagreed: list[Disagreed] = field(default_factory=list)
    """In run order."""
    few: int = 0
    """Sentences on which too few reviewers agree."""
    stale: list[str] = field(default_factory=list)
    """Draws, with labels, of results that this folder held earlier: they are left out."""
    replaced: int = 0
    """Labels of an earlier golden set that its answers bore: these take their place."""


def promote(folder: Path, *, reviewers: int = 1) -> Promotion:
    """The labels of a run's draws that people agree on.

    A sentence's labels agree where all are equal; where one of them is a bare yes or no, where all
    say the same of full support.

    Args:
        folder: of a finished run.
        reviewers: how many must have labelled a sentence.

    Raises:
        RunError: nothing is agreed, the run is unfinished or its samples have changed, or an answer
            has a key `labels` that is no golden set's.
    """
    found = Promotion()
    votes = _votes(folder, found)
    any_cast = bool(votes)
    for sample, result in origins(folder):
        if not votes:
            break
        if cast := votes.pop(sample.qid, None):
            _add(found, sample, _sentences(folder, result, cast), reviewers)
    if votes:
        raise _foreign(folder, next(iter(votes)))
    if not found.golden:
        raise _nothing(folder, found, reviewers, any_cast=any_cast)
    return found


def _votes(folder: Path, found: Promotion) -> _Votes:
    results = fingerprint(folder)
    votes: _Votes = {}
    for name in draw_names(folder):
        draw, labels = read_draw(folder, name), read_labels(folder, name)
        if draw is not None and draw.results == results:
            for label in labels:
                votes.setdefault(label.qid, {}).setdefault(label.sentence, []).append(label)
        elif labels:
            found.stale.append(name)
    return votes


def _sentences(
    folder: Path, result: SampleResult, cast: Mapping[int, Sequence[Label]]
) -> list[tuple[GoldenLabel | None, Sequence[Label]]]:
    """What people agree on, sentence by sentence, and what they said."""
    sentences = {sentence.index: sentence for sentence in result.sentences}
    if not cast.keys() <= sentences.keys():
        raise _foreign(folder, result.qid)
    return [
        (_agreed(sentences[index], labels, result.signature), labels)
        for index, labels in sorted(cast.items())
    ]


def _add(
    found: Promotion,
    sample: Sample,
    sentences: Sequence[tuple[GoldenLabel | None, Sequence[Label]]],
    reviewers: int,
) -> None:
    golden = []
    for label, cast in sentences:
        if label is None:
            found.disagreed.append(Disagreed(cast[0].review_id, sample.qid, cast[0].sentence))
        elif label.reviewers < reviewers:
            found.few += 1
        else:
            golden.append(label)
    if not golden:
        return
    try:
        found.replaced += len(labels_of(sample))
    except InputError as error:
        what = f"bears a key {KEY!r} in the input that is no golden set's ({error})"
        raise RunError(f"{sample.qid!r} {what}; rename it, and score again") from None
    found.golden.append(Golden(sample, tuple(golden)))


def _agreed(
    sentence: SentenceResult, labels: Sequence[Label], signature: str
) -> GoldenLabel | None:
    said = {label.support for label in labels}
    if len({label.supported for label in labels}) > 1 or (len(said) > 1 and None not in said):
        return None
    return GoldenLabel(
        sentence=sentence.index,
        start=sentence.start,
        end=sentence.end,
        text=sentence.text,
        support=None if None in said else labels[0].support,
        supported=labels[0].supported,
        reviewers=len({label.reviewer for label in labels}),
        judged=own_support(sentence),
        signature=signature,
    )


def _foreign(folder: Path, qid: str) -> RunError:
    message = (
        f"{folder}: its labels of {qid!r} are of a sentence it has not; import the sheet again"
    )
    return RunError(message)


def _nothing(folder: Path, found: Promotion, reviewers: int, *, any_cast: bool) -> RunError:
    if any_cast:
        why = (
            f"sentences disagreed on: {len(found.disagreed)}, "
            f"agreed on by under {reviewers} reviewers: {found.few}"
        )
        return RunError(f"{folder}: no label is agreed ({why}); nothing was written")
    stale = f" of its results ({len(found.stale)} with labels of earlier ones)"
    what = f"no draw{stale if found.stale else ''} has labels"
    return RunError(f"{folder}: {what}; judge review import {folder} SHEET brings them")
