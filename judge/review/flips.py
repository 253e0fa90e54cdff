"""A golden set judged again: which verdicts flipped, and whether by more than chance."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

from judge.config import Config
from judge.protocols import Judge
from judge.records import SUPPORT_WEIGHT, Excluded, SampleResult, SentenceResult, Support
from judge.review.agreement import mcnemar
from judge.review.census import NEVER_PARTIAL
from judge.review.folder import write_whole
from judge.review.golden import Golden, own_support, read_golden
from judge.review.records import Drift, Flip, GoldenLabel, LostSentence
from judge.scores.totals import MIN_UNSCORED
from judge.signature import Signature

_Scale = Literal["labels", "full_or_rest"]
_Change = Literal["worse", "other", "better"]

_ORDER: Final[Sequence[_Change]] = ("worse", "other", "better")


class _Labelled(NamedTuple):
    """A golden label, and what has become of its sentence."""

    qid: str
    label: GoldenLabel
    signature: str
    """How its answer is judged now."""
    sentence: SentenceResult | None
    """None where no sentence begins and ends there any more."""


class _Pair(NamedTuple):
    """A golden label with a verdict both times."""

    qid: str
    label: GoldenLabel
    then: Support
    now: Support


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

    answers = read_golden(Path(golden)) if isinstance(golden, str | Path) else golden
    return compare(answers, evaluate([each.sample for each in answers], config, judge=judge))


def write_drift(path: Path, found: Drift) -> None:
    """Write what was found, as JSON, whole or not at all.

    Raises:
        RunError: it cannot be written.
    """
    text = json.dumps(found.model_dump(mode="json"), ensure_ascii=False, indent=2)
    write_whole(path, [f"{text}\n"])


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

    Args:
        golden: the set.
        results: one for each of its answers, in its order.

    Raises:
        ValueError: there are more or fewer results.
    """
    labelled = list(_labelled(golden, results))
    there = [each for each in labelled if _asked(each.sentence)]
    scale = _scale(labelled)
    pairs = list(_pairs(there))
    changes = [_change(pair, scale) for pair in pairs]
    worse, better = changes.count("worse"), changes.count("better")
    right = [_right(pair.label, pair.then, scale) for pair in pairs]
    flipped = [(c, pair) for c, pair in zip(changes, pairs, strict=True) if pair.then != pair.now]
    flipped.sort(key=lambda flip: (_ORDER.index(flip[0]), _gain(flip[1])))
    return Drift(
        signatures_then=Counter(each.label.signature for each in labelled),
        signatures_now=Counter(each.signature for each in labelled),
        scale=scale,
        labels=len(labelled),
        lost=tuple(_lost(each) for each in labelled if not _asked(each.sentence)),
        unscored_then=sum(each.label.judged is None for each in labelled),
        unscored_now=sum(_now(each) is None for each in there),
        compared=len(pairs),
        agreement_then=sum(right) / len(pairs) if pairs else None,
        agreement_now=(sum(right) + better - worse) / len(pairs) if pairs else None,
        better=better,
        worse=worse,
        p=mcnemar(worse, better),
        flips=tuple(_flip(change, pair) for change, pair in flipped),
    )


def _labelled(golden: Iterable[Golden], results: Iterable[SampleResult]) -> Iterator[_Labelled]:
    for each, result in zip(golden, results, strict=True):
        sentences = {(sentence.start, sentence.end): sentence for sentence in result.sentences}
        for label in each.labels:
            sentence = sentences.get((label.start, label.end))
            yield _Labelled(result.qid, label, result.signature, sentence)


def _asked(sentence: SentenceResult | None) -> bool:
    return sentence is not None and not isinstance(sentence.outcome, Excluded)


def _now(labelled: _Labelled) -> Support | None:
    return None if labelled.sentence is None else own_support(labelled.sentence)


def _pairs(labelled: Iterable[_Labelled]) -> Iterator[_Pair]:
    for each in labelled:
        now = _now(each)
        if each.label.judged is not None and now is not None:
            yield _Pair(each.qid, each.label, each.label.judged, now)


def _scale(labelled: Sequence[_Labelled]) -> _Scale:
    bare = any(each.label.support is None for each in labelled)
    signatures = (s for each in labelled for s in (each.label.signature, each.signature))
    # A signature begins with what its verdicts name as their source.
    sources = {Signature.parse(made).source for made in signatures}
    return "full_or_rest" if bare or sources & NEVER_PARTIAL else "labels"


def _right(label: GoldenLabel, support: Support, scale: _Scale) -> bool:
    if scale == "labels":
        return support is label.support
    return (support is Support.FULL) == label.supported


def _change(pair: _Pair, scale: _Scale) -> _Change:
    before, after = (_right(pair.label, said, scale) for said in (pair.then, pair.now))
    if before == after:
        return "other"
    return "better" if after else "worse"


def _gain(pair: _Pair) -> float:
    """How much nearer to what people say its weight is now, -1 to 1."""
    people = _weight(pair.label.support) if pair.label.support else float(pair.label.supported)
    return abs(_weight(pair.then) - people) - abs(_weight(pair.now) - people)


def _weight(support: Support) -> float:
    return SUPPORT_WEIGHT.get(support, 0.0)


def _lost(each: _Labelled) -> LostSentence:
    kind = None if each.sentence is None else each.sentence.kind
    label = each.label
    return LostSentence(qid=each.qid, sentence=label.sentence, text=label.text, kind=kind)


def _flip(change: _Change, pair: _Pair) -> Flip:
    label = pair.label
    return Flip(
        qid=pair.qid,
        sentence=label.sentence,
        text=label.text,
        change=change,
        then=pair.then,
        now=pair.now,
        support=label.support,
        supported=label.supported,
    )
