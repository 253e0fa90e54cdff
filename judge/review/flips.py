"""A golden set judged again: which verdicts flipped, and whether by more than chance."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

from judge.config import Config
from judge.protocols import Judge
from judge.records import SUPPORT_WEIGHT, Excluded, SampleResult, SentenceResult, Support
from judge.review.agreement import mcnemar
from judge.review.census import NEVER_PARTIAL
from judge.review.folder import as_json, write_whole
from judge.review.golden import Golden, own_support, read_golden
from judge.review.records import Drift, Flip, GoldenLabel, LostSentence
from judge.scores.totals import MIN_UNSCORED
from judge.signature import Signature

_Scale = Literal["labels", "full_or_rest"]
_ORDER: Final = ("worse", "other", "better")


class _Label(NamedTuple):
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
        return None if self.sentence is None else own_support(self.sentence)


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

    answers = read_golden(golden) if isinstance(golden, str | Path) else golden
    return compare(answers, evaluate([each.sample for each in answers], config, judge=judge))


def write_drift(path: Path, found: Drift) -> None:
    """Write what was found, as JSON, whole or not at all; RunError where it cannot be written."""
    write_whole(path, [as_json(found)])


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

    Raises:
        ValueError: there are more or fewer results than answers in the set.
    """
    labels = list(_labels(golden, results))
    scale = _scale(labels)
    pairs = [
        _compared(each.qid, each.label, each.label.judged, each.now, scale)
        for each in labels
        if each.label.judged is not None and each.now is not None
    ]
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
                qid=qid,
                sentence=label.sentence,
                text=label.text,
                kind=None if sentence is None else sentence.kind,
            )
            for qid, label, _, sentence in (each for each in labels if each.lost)
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


def _labels(golden: Iterable[Golden], results: Iterable[SampleResult]) -> Iterator[_Label]:
    for each, result in zip(golden, results, strict=True):
        sentences = {(sentence.start, sentence.end): sentence for sentence in result.sentences}
        for label in each.labels:
            sentence = sentences.get((label.start, label.end))
            yield _Label(result.qid, label, result.signature, sentence)


def _scale(labels: Sequence[_Label]) -> _Scale:
    bare = any(each.label.support is None for each in labels)
    signatures = {s for each in labels for s in (each.label.signature, each.signature)}
    # A signature begins with what its verdicts name as their source.
    sources = {Signature.parse(made).source for made in signatures}
    return "full_or_rest" if bare or sources & NEVER_PARTIAL else "labels"


def _right(label: GoldenLabel | Flip, said: Support, scale: _Scale) -> bool:
    if scale == "labels":
        return said is label.support
    return (said is Support.FULL) == label.supported


def _compared(qid: str, label: GoldenLabel, then: Support, now: Support, scale: _Scale) -> Flip:
    before, after = (_right(label, said, scale) for said in (then, now))
    return Flip(
        qid=qid,
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
