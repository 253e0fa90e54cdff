"""A golden set: answers with the labels that people agree on, as samples to be judged again.

Judged again, it tells which verdicts flipped, and whether by more than chance.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from pydantic import JsonValue, ValidationError

from judge.config import Config
from judge.errors import InputError, RunError
from judge.files.documents import jsonl_rows
from judge.files.fields import sample_from
from judge.files.runs import made_from, origins
from judge.files.samples import read_samples
from judge.files.source import MAX_LINE, TextLines, open_source
from judge.protocols import Judge
from judge.records import (
    SUPPORT_WEIGHT,
    Excluded,
    Sample,
    SampleResult,
    SentenceResult,
    Support,
)
from judge.review.agreement import mcnemar
from judge.review.census import NEVER_PARTIAL, own_verdict
from judge.review.folder import check_output, labelled_draws, write_whole
from judge.review.records import Drift, Flip, GoldenLabel, Label, LostSentence
from judge.scores.tally import MIN_UNSCORED
from judge.signature import Signature

KEY: Final = "labels"
"""The key of an answer that holds its labels."""
_ORDER: Final = ("worse", "other", "better")

_Scale = Literal["labels", "full_or_rest"]


class Golden(NamedTuple):
    """An answer, and what people agree on in it."""

    sample: Sample
    labels: tuple[GoldenLabel, ...]


class Disagreed(NamedTuple):
    """A sentence that reviewers called otherwise than each other."""

    review_id: str
    qid: str
    sentence: int


class _Judged(NamedTuple):
    """A golden label, and what has become of its sentence."""

    qid: str
    label: GoldenLabel
    signature: str
    """The signature of the result that its answer has now."""
    sentence: SentenceResult | None
    """None where no sentence begins and ends there any more."""

    @property
    def lost(self) -> bool:
        """Whether the judge is not asked about the sentence any more."""
        return self.sentence is None or isinstance(self.sentence.outcome, Excluded)

    @property
    def now(self) -> Support | None:
        """What the judge says now."""
        return _judged(self.sentence)


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
    """How many labels of an earlier golden set in the input were replaced."""


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
    any_cast = bool(votes)
    for sample, result in origins(run):
        if not votes:
            break
        if cast := votes.pop(sample.qid, None):
            if not cast.keys() <= {sentence.index for sentence in result.sentences}:
                raise _foreign(run, sample.qid)
            _add(found, sample, result, cast, min_reviewers)
    if votes:
        raise _foreign(run, next(iter(votes)))
    if any_cast and not found.golden:
        raise RunError(
            f"{run}: no label is agreed (sentences disagreed on: {len(found.disagreed)}, "
            f"agreed on by under {min_reviewers} reviewers: {found.few}); nothing was written"
        )
    if not found.golden:
        stale = f" of its results ({len(found.stale)} with labels of earlier ones)"
        what = f"no draw{stale if found.stale else ''} has labels"
        raise RunError(f"{run}: {what}; judge review import {run} SHEET brings them")
    write_whole(output, golden_lines(found.golden))
    return found


def drift(
    golden: str | Path | Sequence[Golden],
    config: Config | None = None,
    *,
    judge: Judge | None = None,
) -> Drift:
    """Judge a golden set again, and hold what is said now against what was said then.

    Args:
        golden: the set, or the file that `promote` wrote.
        config: settings of the judge, as for `judge.evaluate`.
        judge: another than the settings make.

    Raises:
        InputError: the file cannot be read, nothing in it is labelled, or a label is damaged.
        JudgeError: as of `judge.evaluate`.
    """
    from judge.evaluator import evaluate  # noqa: PLC0415  loads all that judges

    limit = MAX_LINE if config is None else config.max_line
    answers = read_golden(golden, max_line=limit) if isinstance(golden, str | Path) else golden
    return compare(answers, evaluate([each.sample for each in answers], config, judge=judge))


def read_golden(path: str | Path, *, max_line: float = MAX_LINE) -> list[Golden]:
    """The answers of a golden set that bear labels.

    Raises:
        InputError: the file cannot be read, nothing in it is labelled, or a label is damaged.
    """
    path = Path(path)
    labelled = []
    for sample in read_samples(path, max_line=max_line):
        try:
            labels = labels_of(sample)
        except InputError as error:
            message = f"{error.problem} (answer {sample.qid!r}); promote the run again"
            place = _place(path, sample.qid, max_line)
            raise InputError(message, path=str(path), line=place, field=error.field) from None
        if labels:
            labelled.append(Golden(sample, labels))
    if not labelled:
        message = f"no answer has {KEY!r}; name a file that judge review promote made"
        raise InputError(message, path=str(path))
    return labelled


def golden_lines(golden: Iterable[Golden]) -> Iterator[str]:
    """A golden set as lines of a samples file."""
    for sample, labels in golden:
        # What nobody said is left out: an older version reads no such keys.
        told: list[JsonValue] = [
            label.model_dump(mode="json", exclude_defaults=True) for label in labels
        ]
        yield sample_line(sample, {KEY: told})


def sample_line(sample: Sample, borne: Mapping[str, JsonValue] = MappingProxyType({})) -> str:
    """A sample as a line of a file, with what else it bears."""
    fields: dict[str, JsonValue] = sample.model_dump(mode="json", exclude={"metadata"})
    own = {name: value for name, value in fields.items() if value is not None and value != ""}
    # A key of the input that was read under another name, such as a null `qid`, stays behind.
    others = {key: value for key, value in sample.metadata.items() if key not in own}
    return json.dumps(own | others | dict(borne), ensure_ascii=False) + "\n"


def labels_of(sample: Sample) -> tuple[GoldenLabel, ...]:
    """The labels that an answer of a golden set bears; InputError where one is damaged."""
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


def unjudged(found: Drift) -> float:
    """The share of labels without a verdict now, of those that were asked about."""
    return found.unscored_now / max(1, found.labels - len(found.lost))


def untrusted(found: Drift, max_unscored: float) -> bool:
    """Whether so many labels have no verdict now that nothing can be said of the rest."""
    return found.unscored_now >= MIN_UNSCORED and unjudged(found) > max_unscored


def compare(golden: Sequence[Golden], results: Iterable[SampleResult]) -> Drift:
    """What the judge said when a golden set was made, beside what it says now.

    A sentence is known by where it begins and ends in its answer. Without a verdict of the run's
    own judge, then or now, it is counted and compared with nothing.
    """
    labels = list(_found(golden, results))
    signatures = {s for each in labels for s in (each.label.signature, each.signature)}
    bare = any(each.label.support is None for each in labels)
    # A signature begins with what its verdicts name as their source.
    bare = bare or not NEVER_PARTIAL.isdisjoint(Signature.parse(s).source for s in signatures)
    scale: _Scale = "full_or_rest" if bare else "labels"
    pairs = [pair for each in labels if (pair := _compared(each, scale))]
    changes = Counter(pair.change for pair in pairs)
    worse, better = changes["worse"], changes["better"]
    right = sum(_right(pair, pair.then, scale) for pair in pairs)
    flips = [pair for pair in pairs if pair.then != pair.now]
    return Drift(
        signatures_then=Counter(each.label.signature for each in labels),
        signatures_now=Counter(each.signature for each in labels),
        scale=scale,
        labels=len(labels),
        lost=tuple(
            LostSentence(
                qid=each.qid,
                sentence=each.label.sentence,
                text=each.label.text,
                kind=each.sentence and each.sentence.kind,
            )
            for each in labels
            if each.lost
        ),
        unscored_then=sum(each.label.judged is None for each in labels),
        unscored_now=sum(each.now is None for each in labels if not each.lost),
        compared=len(pairs),
        agreement_then=right / len(pairs) if pairs else None,
        agreement_now=(right + better - worse) / len(pairs) if pairs else None,
        better=better,
        worse=worse,
        p=mcnemar(worse, better),
        flips=tuple(sorted(flips, key=lambda flip: (_ORDER.index(flip.change), _gain(flip)))),
    )


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
    return GoldenLabel(
        sentence=sentence.index,
        start=sentence.start,
        end=sentence.end,
        text=sentence.text,
        support=None if None in said else labels[0].support,
        supported=labels[0].supported,
        reviewers=len({label.reviewer for label in labels}),
        judged=_judged(sentence),
        signature=signature,
    )


def _foreign(folder: Path, qid: str) -> RunError:
    what = f"its labels of {qid!r} are of a sentence it has not; import the sheet again"
    return RunError(f"{folder}: {what}")


def _place(path: Path, qid: str, max_line: float) -> int | None:
    """The line of an answer that was read; None in a CSV, whose cells hold no labels."""
    with open_source(path) as stream:
        for row in jsonl_rows(TextLines(stream, path, max_line=max_line), path):
            if isinstance(row.fields, dict):
                sample = sample_from(row.fields, line=row.line, needs=())
                if sample.qid == qid:
                    return row.line
    return None


def _judged(sentence: SentenceResult | None) -> Support | None:
    """What the run's own judge says of a sentence; None where it gave no verdict."""
    verdict = sentence and own_verdict(sentence.outcome)
    return verdict.support if verdict else None


def _found(golden: Iterable[Golden], results: Iterable[SampleResult]) -> Iterator[_Judged]:
    for each, result in zip(golden, results, strict=True):
        sentences = {(sentence.start, sentence.end): sentence for sentence in result.sentences}
        for label in each.labels:
            sentence = sentences.get((label.start, label.end))
            yield _Judged(result.qid, label, result.signature, sentence)


def _right(label: GoldenLabel | Flip, said: Support, scale: _Scale) -> bool:
    if scale == "labels":
        return said is label.support
    return (said is Support.FULL) == label.supported


def _compared(found: _Judged, scale: _Scale) -> Flip | None:
    """What was said then beside what is said now; None without a verdict both times."""
    label, then, now = found.label, found.label.judged, found.now
    if then is None or now is None:
        return None
    before, after = (_right(label, said, scale) for said in (then, now))
    return Flip(
        qid=found.qid,
        sentence=label.sentence,
        text=label.text,
        change="other" if before == after else "better" if after else "worse",
        then=then,
        now=now,
        support=label.support,
        supported=label.supported,
    )


def _gain(flip: Flip) -> float:
    """How much nearer to what people say its weight is now, -1 to 1."""
    people = flip.support or (Support.FULL if flip.supported else Support.NONE)
    then, now, wanted = (SUPPORT_WEIGHT.get(s, 0.0) for s in (flip.then, flip.now, people))
    return abs(then - wanted) - abs(now - wanted)
