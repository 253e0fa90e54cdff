"""Golden sets: samples with the labels that people agree on, for `judge exam --items`."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from pydantic import JsonValue, TypeAdapter, ValidationError

from judge.errors import InputError, RunError
from judge.inputs.runs import made_from, origins
from judge.inputs.samples import read_samples
from judge.inputs.tables import check_output, write_whole
from judge.records import CitationStatus, Record, Sample, SentenceResult, Support
from judge.review.draws import draw_names, fingerprint, own_verdict, read_draw
from judge.review.labels import read_labels
from judge.review.records import Label

KEY: Final = "labels"
"""The key of an answer that holds its labels."""


class GoldenLabel(Record):
    """A sentence whose label people agree on: one entry of the list under `labels`."""

    sentence: int
    """Index of the sentence when it was labelled."""
    start: int
    """Offset of the first character in the answer, by which the sentence is found."""
    end: int
    """One past the last character."""
    text: str
    """The sentence."""
    support: Support | None
    """The label of all reviewers; null if one of them answered a bare yes or no."""
    supported: bool
    """Whether the chunks fully support it."""
    reviewers: int
    """The number of people who gave this label."""
    judged: Support | None
    """The label of the run's own judge; null without a verdict."""
    signature: str
    """The signature of the verdict; empty without a verdict."""
    supporting: tuple[str, ...] | None = None
    """Ids of the chunks that support all or part of the sentence; null if unknown."""
    cited_support: Support | None = None
    """Support given only the cited chunks; null without citations, or if unknown."""
    citations: tuple[CitationStatus, ...] | None = None
    """The right status of each citation, in order; null if unknown."""


_LABELS: Final = TypeAdapter(tuple[GoldenLabel, ...])


class Golden(NamedTuple):
    """An answer with its agreed labels."""

    sample: Sample
    labels: tuple[GoldenLabel, ...]


class Promotion(NamedTuple):
    """The labels of a run that became golden, and those that did not."""

    golden: list[Golden]
    """Answers with at least one agreed label, in run order."""
    disagreed: list[Label]
    """The first label of each sentence on which reviewers disagree, in run order."""


def promote(run: str | Path, output: str | Path, *, force: bool = False) -> Promotion:
    """Write a golden set of the sentences of a run on which all reviewers agree.

    Labels agree if they are equal; if one of them is a bare yes or no, they agree if all say the
    same about full support.

    Args:
        run: folder of a finished run with imported labels.
        output: the golden set, JSONL: samples, each with its labels under `labels`.
        force: whether an existing file is replaced.

    Raises:
        RunError: no label is agreed, the run is not finished or its samples have changed, or the
            file exists or cannot be written.
    """
    run, output = Path(run), Path(output)
    check_output(output, made_from(run), force=force)
    results = fingerprint(run)
    votes: dict[str, dict[int, list[Label]]] = defaultdict(lambda: defaultdict(list))
    for name in draw_names(run):
        labels = read_labels(run, name)
        if labels and read_draw(run, name).results == results:
            for label in labels:
                votes[label.qid][label.sentence].append(label)
    if not votes:
        raise RunError(
            f"{run}: no draw of its results has labels; judge review import {run} SHEET brings them"
        )
    golden: list[Golden] = []
    disagreed: list[Label] = []
    for sample, result in origins(run):
        agreed = []
        for index, labels in sorted(votes.get(sample.qid, {}).items()):
            if found := _golden_label(result.sentences[index], labels, result.signature):
                agreed.append(found)
            else:
                disagreed.append(labels[0])
        if agreed:
            golden.append(Golden(sample, tuple(agreed)))
    if not golden:
        raise RunError(
            f"{run}: no label is agreed (sentences disagreed on: {len(disagreed)}); "
            "nothing was written"
        )
    write_whole(output, golden_lines(golden))
    return Promotion(golden, disagreed)


def read_golden(path: str | Path) -> list[Golden]:
    """Read the labelled answers of a golden set; raise InputError without any, or if damaged."""
    path = Path(path)
    read = read_samples(path, check=labels_of)
    labelled = [Golden(sample, labels) for sample in read if (labels := labels_of(sample))]
    if not labelled:
        message = f"no answer has {KEY!r}; name a file that judge review promote made"
        raise InputError(message, path=str(path))
    return labelled


def golden_lines(golden: Iterable[Golden]) -> Iterator[str]:
    """Yield a golden set as lines of a samples file."""
    for sample, labels in golden:
        # Unknown values are left out, because an older version refuses their keys.
        dumped: list[JsonValue] = [
            label.model_dump(mode="json", exclude_defaults=True) for label in labels
        ]
        yield sample_line(sample, {KEY: dumped})


def sample_line(sample: Sample, more: Mapping[str, JsonValue] = MappingProxyType({})) -> str:
    """Return a sample as a line of a samples file, with extra keys."""
    fields: dict[str, JsonValue] = sample.model_dump(mode="json", exclude={"metadata"})
    own = {name: value for name, value in fields.items() if value is not None and value != ""}
    # A key of the input that was read under another name, such as a null `qid`, is left out.
    others = {key: value for key, value in sample.metadata.items() if key not in own}
    return json.dumps(own | others | dict(more), ensure_ascii=False) + "\n"


def labels_of(sample: Sample) -> tuple[GoldenLabel, ...]:
    """Return the labels of an answer in a golden set; raise InputError if one is damaged."""
    step = f"(answer {sample.qid!r}); promote the run again"
    try:
        labels = _LABELS.validate_json(json.dumps(sample.metadata.get(KEY) or []), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join((KEY, *map(str, first["loc"])))
        raise InputError(f"is damaged: {first['msg']} {step}", field=where) from None
    for number, label in enumerate(labels):
        if (
            label.start < 0
            or sample.answer[label.start : label.end] != label.text
            or not label.text
        ):
            message = f"is of another answer: its text is not there {step}"
            raise InputError(message, field=f"{KEY}.{number}")
    return labels


def _golden_label(
    sentence: SentenceResult, labels: Sequence[Label], signature: str
) -> GoldenLabel | None:
    """Return the label that all reviewers give a sentence; None if they disagree."""
    supports = {label.support for label in labels}
    if len({label.supported for label in labels}) > 1:
        return None
    if len(supports) > 1 and None not in supports:
        return None
    verdict = own_verdict(sentence.outcome)
    return GoldenLabel(
        sentence=sentence.index,
        start=sentence.start,
        end=sentence.end,
        text=sentence.text,
        support=None if None in supports else labels[0].support,
        supported=labels[0].supported,
        reviewers=len({label.reviewer for label in labels}),
        judged=verdict.support if verdict else None,
        signature=signature,
    )
