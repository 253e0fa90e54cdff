"""A golden set judged again: which verdicts flipped, and whether by more than chance."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

from judge.config import Config
from judge.files.source import MAX_LINE
from judge.protocols import Judge
from judge.records import (
    SUPPORT_WEIGHT,
    Document,
    Excluded,
    Record,
    SampleResult,
    SentenceKind,
    SentenceResult,
    Support,
)
from judge.review.agreement import mcnemar
from judge.review.census import NEVER_PARTIAL
from judge.review.golden import Golden, own_support, read_golden
from judge.review.records import GoldenLabel
from judge.scores.tally import MIN_UNSCORED
from judge.signature import Signature

_ORDER: Final = ("worse", "other", "better")
_Scale = Literal["labels", "full_or_rest"]


class _GoldenSentence(Record):
    """A labelled sentence of a golden set."""

    qid: str
    """The answer that the sentence is part of."""
    sentence: int
    """Index of the sentence when it was labelled."""
    text: str
    """The sentence."""


class LostSentence(_GoldenSentence):
    """A labelled sentence that the judge is not asked about any more."""

    kind: SentenceKind | None
    """What it is taken for now; null where no sentence begins and ends there."""


class Flip(_GoldenSentence):
    """A labelled sentence of which the judge says something else now."""

    change: Literal["worse", "other", "better"]
    """From right to wrong, neither, or from wrong to right."""
    then: Support
    """What the judge said when the set was made."""
    now: Support
    """What the judge says now."""
    support: Support | None
    """What people say; null where one of them answered yes or no only."""
    supported: bool
    """Whether they say that the chunks fully support it."""


class Drift(Document):
    """A golden set judged again: what flipped since it was made, and whether by more than chance.

    The agreements are on the golden set, and of no run: it holds only what people agree on, and
    what was drawn for them holds more of the doubtful.
    """

    signatures_then: dict[str, int]
    """Labels by how the judge's verdicts were made when the set was."""
    signatures_now: dict[str, int]
    """Labels by how they are made now."""
    scale: Literal["labels", "full_or_rest"]
    """What right is: the people's label; or `full` where they say so and no `full` elsewhere.

    `full_or_rest` where any label is a bare yes or no, or a judge then or now is one that never
    says `partial` (similarity, NLI).
    """
    labels: int
    """Sentences in the golden set."""
    lost: tuple[LostSentence, ...]
    """Those that are no sentences of their own any more, or no claims."""
    unscored_then: int
    """Labels without a verdict of the run's own judge when the set was made."""
    unscored_now: int
    """Labels without one now, fallen back or not, those lost left out."""
    compared: int
    """Labels with a verdict both times: what all that follows is over."""
    agreement_then: float | None
    """Share of them that the judge had right; null where nothing was compared."""
    agreement_now: float | None
    """Share that it has right now."""
    better: int
    """Wrong then, right now."""
    worse: int
    """Right then, wrong now."""
    p: float
    """McNemar's exact two-sided p of `worse` against `better`, sentences taken as independent."""
    flips: tuple[Flip, ...]
    """Every other verdict than then, worst first."""


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
        return own_support(self.sentence)


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
