"""A golden set: answers with the labels that people agree on, as samples to be judged again."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from pydantic import JsonValue, ValidationError

from judge.errors import InputError, RunError
from judge.inputs.files import MAX_LINE
from judge.inputs.runs import made_from, origins
from judge.inputs.samples import read_samples
from judge.inputs.tables import check_output, write_whole
from judge.records import (
    Sample,
    SampleResult,
    SentenceResult,
    Support,
)
from judge.review.folder import labelled_draws
from judge.review.records import GoldenLabel, Label
from judge.review.strata import own_verdict

KEY: Final = "labels"
"""The key of an answer that holds its labels."""


class Golden(NamedTuple):
    """An answer, and what people agree on in it."""

    sample: Sample
    labels: tuple[GoldenLabel, ...]


class Disagreed(NamedTuple):
    """A sentence that reviewers called otherwise than each other."""

    review_id: str
    qid: str
    sentence: int


@dataclass(slots=True)
class Promotion:
    """The labels of a run that became golden, and a count of the others."""

    golden: list[Golden] = field(default_factory=list)
    """Answers with at least one agreed label, in run order."""
    disagreed: list[Disagreed] = field(default_factory=list)
    """Sentences on which reviewers disagree, each by the row of its first label, in run order."""
    few: int = 0
    """Sentences on which too few reviewers agree."""
    stale: list[str] = field(default_factory=list)
    """Draws whose labels belong to earlier results of this folder, and are left out."""
    replaced: int = 0
    """The number of replaced labels of an earlier golden set in the input."""


def promote(
    run: str | Path, output: str | Path, *, min_reviewers: int = 1, force: bool = False
) -> Promotion:
    """Write a golden set of the sentences of a run on which all reviewers agree.

    Labels agree where all are equal; where one of them is a bare yes or no, where all say the same
    of full support.

    Args:
        run: folder of a finished run with imported labels.
        output: the golden set, JSONL: samples, each with its labels under `labels`.
        min_reviewers: how many must have labelled a sentence.
        force: whether a file that is there is replaced.

    Raises:
        RunError: nothing is agreed, the run is unfinished or its samples have changed, an answer
            has a key `labels` that is no golden set's, or the file is there already or cannot be
            written.
    """
    run, output = Path(run), Path(output)
    check_output(output, made_from(run), force=force)
    found = Promotion()
    draws, found.stale = labelled_draws(run)
    votes: dict[str, dict[int, list[Label]]] = defaultdict(lambda: defaultdict(list))
    for label in (label for _, labels in draws for label in labels):
        votes[label.qid][label.sentence].append(label)
    if not votes:
        stale = f" of its results ({len(found.stale)} with labels of earlier ones)"
        what = f"no draw{stale if found.stale else ''} has labels"
        raise RunError(f"{run}: {what}; judge review import {run} SHEET brings them")
    for sample, result in origins(run):
        if sample.qid in votes:
            _add(found, sample, result, votes[sample.qid], min_reviewers)
    if not found.golden:
        raise RunError(
            f"{run}: no label is agreed (sentences disagreed on: {len(found.disagreed)}, "
            f"agreed on by under {min_reviewers} reviewers: {found.few}); nothing was written"
        )
    write_whole(output, golden_lines(found.golden))
    return found


def read_golden(path: str | Path, *, max_line: float = MAX_LINE) -> list[Golden]:
    """Read the labelled answers of a golden set.

    Raises:
        InputError: the file cannot be read, nothing in it is labelled, or a label is damaged.
    """
    path = Path(path)
    read = read_samples(path, max_line=max_line, check=_check)
    labelled = [Golden(sample, labels) for sample in read if (labels := labels_of(sample))]
    if not labelled:
        message = f"no answer has {KEY!r}; name a file that judge review promote made"
        raise InputError(message, path=str(path))
    return labelled


def golden_lines(golden: Iterable[Golden]) -> Iterator[str]:
    """A golden set as lines of a samples file."""
    for sample, labels in golden:
        # Unknown values are left out, because an older version refuses their keys.
        told: list[JsonValue] = [
            label.model_dump(mode="json", exclude_defaults=True) for label in labels
        ]
        yield sample_line(sample, {KEY: told})


def sample_line(sample: Sample, borne: Mapping[str, JsonValue] = MappingProxyType({})) -> str:
    """Return a sample as a line of a samples file, with extra keys."""
    fields: dict[str, JsonValue] = sample.model_dump(mode="json", exclude={"metadata"})
    own = {name: value for name, value in fields.items() if value is not None and value != ""}
    # A key of the input that was read under another name, such as a null `qid`, stays behind.
    others = {key: value for key, value in sample.metadata.items() if key not in own}
    return json.dumps(own | others | dict(borne), ensure_ascii=False) + "\n"


def labels_of(sample: Sample) -> tuple[GoldenLabel, ...]:
    """Return the labels of an answer in a golden set. InputError: a label is damaged."""
    value, answer = sample.metadata.get(KEY), sample.answer
    if value is None:
        return ()
    if not isinstance(value, list):
        raise InputError("is no list", field=KEY)
    labels: dict[tuple[int, int], GoldenLabel] = {}
    for number, item in enumerate(value):
        field = f"{KEY}[{number}]"
        try:
            label = GoldenLabel.model_validate_json(json.dumps(item), strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join((field, *map(str, first["loc"])))
            raise InputError(f"is damaged ({first['msg']})", field=where) from None
        if label.start < 0 or answer[label.start : label.end] != label.text or not label.text:
            raise InputError("is of another answer: its text does not stand there", field=field)
        if label.support is not None and label.supported != (label.support is Support.FULL):
            raise InputError("says both supported and not", field=field)
        if labels.setdefault((label.start, label.end), label) is not label:
            raise InputError("labels a sentence for the second time", field=field)
    return tuple(labels.values())


def _add(
    found: Promotion,
    sample: Sample,
    result: SampleResult,
    cast: Mapping[int, Sequence[Label]],
    reviewers: int,
) -> None:
    sentences = {sentence.index: sentence for sentence in result.sentences}
    golden = []
    for index, labels in sorted(cast.items()):
        label = agreed(sentences[index], labels, result.signature)
        if label is None:
            found.disagreed.append(Disagreed(labels[0].review_id, sample.qid, index))
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


def agreed(sentence: SentenceResult, labels: Sequence[Label], signature: str) -> GoldenLabel | None:
    """What all reviewers say of a sentence; None where they disagree."""
    said = {label.support for label in labels}
    if len({label.supported for label in labels}) > 1 or (len(said) > 1 and None not in said):
        return None
    verdict = own_verdict(sentence.outcome)
    return GoldenLabel(
        sentence=sentence.index,
        start=sentence.start,
        end=sentence.end,
        text=sentence.text,
        support=None if None in said else labels[0].support,
        supported=labels[0].supported,
        reviewers=len({label.reviewer for label in labels}),
        judged=verdict.support if verdict else None,
        signature=signature,
    )


def _check(sample: Sample) -> None:
    try:
        labels_of(sample)
    except InputError as error:
        message = f"{error.problem} (answer {sample.qid!r}); promote the run again"
        raise InputError(message, field=error.field) from None
