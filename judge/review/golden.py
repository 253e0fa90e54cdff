"""A golden set: answers with the labels that people agree on, as samples to be judged again."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import JsonValue, ValidationError

from judge.errors import InputError, RunError
from judge.files.fields import sample_from
from judge.files.folder import replacing
from judge.files.samples import jsonl_rows, read_samples
from judge.files.source import open_source, text_lines
from judge.records import Sample, SentenceResult, Support, Verdict
from judge.review.records import GoldenLabel

KEY: Final = "labels"
"""What an answer bears its labels under."""


class Golden(NamedTuple):
    """An answer, and what people agree on in it."""

    sample: Sample
    labels: tuple[GoldenLabel, ...]


def read_golden(path: Path) -> list[Golden]:
    """The answers of a golden set that bear labels.

    Raises:
        InputError: the file cannot be read, nothing in it is labelled, or a label is damaged.
    """
    read = [Golden(sample, _labels(sample, path)) for sample in read_samples(path)]
    labelled = [each for each in read if each.labels]
    if not labelled:
        message = f"no answer has {KEY!r}; name a file that judge review promote made"
        raise InputError(message, path=str(path))
    return labelled


def lines(golden: Iterable[Golden]) -> list[str]:
    """A golden set as lines of a samples file."""
    return [json.dumps(_line(each), ensure_ascii=False) + "\n" for each in golden]


def labels_of(sample: Sample) -> tuple[GoldenLabel, ...]:
    """The labels that an answer of a golden set bears; none where it has no such key.

    Raises:
        InputError: one is damaged, or what stands there is no golden set's.
    """
    return _read(sample.metadata.get(KEY), sample.answer)


def own_support(sentence: SentenceResult) -> Support | None:
    """What the run's own judge says of a sentence; None where it gave no verdict."""
    outcome = sentence.outcome
    if not isinstance(outcome, Verdict) or outcome.fallback_from is not None:
        return None
    return outcome.support


def check_output(path: Path, spared: Iterable[Path], *, force: bool) -> None:
    """See that a file may be written before anything is paid for.

    Args:
        path: what is to be written.
        spared: files that must not be written over, and folders that must not be written into,
            whatever is asked.
        force: whether any other file may be replaced.

    Raises:
        RunError: it is or would be one of them, is no file, stands there already, or has no name
            that a file can have.
    """
    try:
        real = path.resolve()
        taken, replaceable = real.exists(), real.is_file()
    except (OSError, RuntimeError) as error:  # a name too long; links that lead to each other
        raise RunError(f"{path}: cannot be written ({error}); name another -o") from None
    if not {real, *real.parents}.isdisjoint(each.resolve() for each in spared):
        raise RunError(f"{path}: is what this is made from, or would lie in it; name another -o")
    if taken and not replaceable:
        raise RunError(f"{path}: is no file that could be replaced; name another -o")
    if taken and not force:
        raise RunError(f"{path}: stands there already; replace it with --force, or name another -o")


def write_whole(path: Path, texts: Iterable[str]) -> None:
    """Write a file whole or not at all, its folder too where there is none.

    Raises:
        RunError: it cannot be written.
    """
    with replacing(path, "name another -o") as part:
        part.parent.mkdir(parents=True, exist_ok=True)
        with part.open("w", encoding="utf-8", newline="") as file:
            file.writelines(texts)


def _line(golden: Golden) -> dict[str, JsonValue]:
    fields: dict[str, JsonValue] = golden.sample.model_dump(mode="json", exclude={"metadata"})
    own = {name: value for name, value in fields.items() if value is not None}
    # A key of the input that was read under another name, such as a null `qid`, stays behind it.
    others = {key: value for key, value in golden.sample.metadata.items() if key not in own}
    return {**own, **others, KEY: [label.model_dump(mode="json") for label in golden.labels]}


def _labels(sample: Sample, path: Path) -> tuple[GoldenLabel, ...]:
    try:
        labels = labels_of(sample)
    except InputError as error:
        message = f"{error.problem} (answer {sample.qid!r}); promote the run again"
        place = _place(path, sample.qid)
        raise InputError(message, path=str(path), line=place, field=error.field) from None
    return labels


def _read(value: JsonValue, answer: str) -> tuple[GoldenLabel, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise InputError("is no list", field=KEY)
    spans: set[tuple[int, int]] = set()
    labels = []
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
        if (label.start, label.end) in spans:
            raise InputError("labels a sentence for the second time", field=field)
        spans.add((label.start, label.end))
        labels.append(label)
    return tuple(labels)


def _place(path: Path, qid: str) -> int | None:
    """The line of an answer that was read; None in a CSV, whose cells hold no labels."""
    with open_source(path) as stream:
        for row in jsonl_rows(text_lines(stream, path), path):
            if isinstance(row.fields, dict):
                sample = sample_from(row.fields, line=row.line, needs=())
                if sample.qid == qid:
                    return row.line
    return None
