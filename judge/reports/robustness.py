"""Answers of one run set side by side by variant of their context, paired by question."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from judge.counterfactual import says
from judge.errors import InputError
from judge.perturbation import CHANGED, QID_OF, VARIANT, VARIANTS
from judge.records import (
    Correctness,
    CorrectnessStatus,
    Interval,
    Record,
    Rules,
    SampleResult,
    SentenceKind,
    Status,
)
from judge.scores.differences import paired
from judge.scores.intervals import StreamedMeans
from judge.scores.quadrants import is_correct

ORIGINAL: Final = "original"
Way = Literal["context", "memory", "other", "abstained"]
"""What an answer to a counterfactual does: it agrees with the changed reference; it does not, and
says what stood there before; neither; it abstains."""
WAYS: Final[tuple[Way, ...]] = ("context", "memory", "other", "abstained")
LeftOut = Literal["no_reference", "unanswerable", "unscored", "no_change"]
"""Why an answer is in no figure: its sample has no reference; that claims nothing; failures leave
it open whether it is correct; nothing says what was changed."""


class Share(Record):
    """A mean of values from 0 to 1."""

    value: float
    """The mean."""
    answers: int
    """Over how many answers."""
    interval: Interval
    """95 %; sampling error only, not the judge's."""


class PairedShare(Record):
    """How a variant differs from the original context, question by question."""

    pairs: int
    """Questions whose answers are known in both."""
    original: float
    """The mean over their answers to the original."""
    difference: float
    """That of the variant, less that."""
    interval: Interval | None
    """95 %, of the paired t test; null where fewer than six pairs differ."""
    p: float
    """Of that test."""
    better: int
    """Pairs in which the variant's answer is better."""
    worse: int
    """Likewise worse."""


class VariantScores(Record):
    """The answers to one variant."""

    variant: str
    """Which."""
    answers: int
    """All of them."""
    abstained: Share
    """Share that abstained: on `gold_removed`, negative rejection. Needs no judge."""
    accuracy: Share | None
    """Share that is correct, as `judge score` calls correct; who abstains is not."""
    correctness: Share | None
    """Mean F1 with the reference, over the same answers; who abstains has 0."""
    accuracy_difference: PairedShare | None
    """Against the original; null for the original itself, and without pairs."""
    correctness_difference: PairedShare | None
    """Likewise."""
    left_out: dict[LeftOut, int]
    """Answers in neither accuracy nor correctness, by reason."""
    unpaired: int
    """Answers in these, and in no difference, for the original's is not known."""


class Robustness(Record):
    """How one run's answers bear what was done to their contexts."""

    run: str
    """Its folder."""
    correct_from: float
    """The least recall of the reference that counts as correct."""
    variants: tuple[VariantScores, ...]
    """In the order of `judge perturb`."""
    changed: Share | None
    """Order sensitivity: share of questions of which the original or the reordered context's answer
    is correct, and the other is not."""
    counterfactual: dict[Way, Share] | None
    """Shares of the answers to counterfactuals, which add up to 1; null where there are none."""
    both: int
    """How many of those that follow the context say what stood there before, too."""
    counterfactual_left_out: dict[LeftOut, int]
    """Answers to counterfactuals in none of these shares."""
    without_variant: int
    """Answers that are to no variant, and in nothing here."""
    signatures: dict[str, int]
    """Of the comparison with references. More than one: these are not comparable."""


class RobustnessReport(Record):
    """What `judge compare --by variant --json` prints."""

    runs: tuple[Robustness, ...]
    """As they were named."""


class _Answer(NamedTuple):
    """What is kept of an answer."""

    accuracy: float
    correctness: float


def robustness(run: str, results: Iterable[SampleResult], rules: Rules) -> Robustness:
    """Read one run's answers to the variants of `judge perturb`.

    What is kept of each answer is its qid and two figures.

    Raises:
        InputError: none is to a variant, two are to the same one of a question, or none was
            compared with its reference.
    """
    answers: defaultdict[str, dict[str, _Answer | LeftOut]] = defaultdict(dict)
    abstained: defaultdict[str, StreamedMeans] = defaultdict(lambda: StreamedMeans(["share"]))
    told, without = _Told(), 0
    signatures: Counter[str] = Counter()
    for result in results:
        if (place := _place(result)) is None:
            without += 1
            continue
        variant, original = place
        if original in answers[variant]:
            message = f"{variant} of {original!r} is answered twice; score one answer a variant "
            raise InputError(message + "and question")
        abstains = result.status is Status.ABSTAINED
        abstained[variant].add({"share": float(abstains)})
        if result.correctness is not None:
            signatures[result.correctness.signature] += 1
        found = answers[variant][original] = _measured(result, rules)
        if variant == "counterfactual":
            told.add(result, found, abstains=abstains)
    if not abstained:
        message = "no answer is to a variant: `variant` and `qid_of` are missing; make the samples "
        raise InputError(message + "with judge perturb, and keep their keys")
    if not signatures:
        message = "no answer was compared with its gold answer; score the samples again with "
        raise InputError(message + "judge score --correctness --force")
    order = sorted(abstained, key=_rank)
    known = {
        variant: {qid: each for qid, each in own.items() if isinstance(each, _Answer)}
        for variant, own in answers.items()
    }
    first = known.get(ORIGINAL, {})
    return Robustness(
        run=run,
        correct_from=rules.correct_from,
        variants=tuple(
            _scores(
                name,
                abstained[name],
                known[name],
                first,
                Counter(each for each in answers[name].values() if not isinstance(each, _Answer)),
            )
            for name in order
        ),
        changed=_flipped(known.get("reordered", {}), first),
        counterfactual=told.shares(),
        both=told.both,
        counterfactual_left_out=dict(told.left_out),
        without_variant=without,
        signatures=dict(signatures),
    )


def _rank(variant: str) -> tuple[int, str]:
    names: Sequence[str] = VARIANTS
    return (names.index(variant) if variant in names else len(names), variant)


def _place(result: SampleResult) -> tuple[str, str] | None:
    """The variant that an answer is to, and the qid of the original: else as its own qid says."""
    variant, original = (result.metadata.get(key) for key in (VARIANT, QID_OF))
    if isinstance(variant, str) and isinstance(original, str):
        return variant, original
    own, _, name = result.qid.rpartition("~")
    return (name, own) if own and name in VARIANTS else None


def _measured(result: SampleResult, rules: Rules) -> _Answer | LeftOut:
    compared = result.correctness
    if compared is None or compared.status is CorrectnessStatus.NO_REFERENCE:
        return "no_reference"
    if not _claims(compared):
        return "unanswerable"
    if compared.status is CorrectnessStatus.ABSTAINED:
        return _Answer(0.0, 0.0)
    correct = is_correct(result, rules)
    if correct is None or compared.f1 is None:
        return "unscored"
    return _Answer(float(correct), compared.f1)


def _claims(compared: Correctness) -> bool:
    return any(sentence.kind is SentenceKind.CLAIM for sentence in compared.reference)


def _share(values: Iterable[float]) -> Share | None:
    means = StreamedMeans(["share"])
    means.add_rows([value] for value in values)
    return _mean(means)


def _mean(means: StreamedMeans) -> Share | None:
    value, interval = means.mean("share"), means.interval("share")
    if value is None or interval is None:
        return None
    return Share(value=value, answers=means.count("share"), interval=interval)


def _scores(
    variant: str,
    abstained: StreamedMeans,
    known: Mapping[str, _Answer],
    first: Mapping[str, _Answer],
    left_out: Mapping[LeftOut, int],
) -> VariantScores:
    pairs = (
        [] if variant == ORIGINAL else [(known[qid], first[qid]) for qid in known if qid in first]
    )
    share = _mean(abstained)
    if share is None:
        raise ValueError("a variant has one answer at least")
    return VariantScores(
        variant=variant,
        answers=share.answers,
        abstained=share,
        accuracy=_share(each.accuracy for each in known.values()),
        correctness=_share(each.correctness for each in known.values()),
        accuracy_difference=_paired((own.accuracy, other.accuracy) for own, other in pairs),
        correctness_difference=_paired(
            (own.correctness, other.correctness) for own, other in pairs
        ),
        left_out=dict(left_out),
        unpaired=0 if variant == ORIGINAL else len(known) - len(pairs),
    )


def _paired(pairs: Iterable[tuple[float, float]]) -> PairedShare | None:
    values = list(pairs)
    found = paired([own - original for own, original in values])
    if found is None:
        return None
    limits = found.limits
    return PairedShare(
        pairs=found.pairs,
        original=sum(original for _, original in values) / found.pairs,
        difference=found.mean,
        interval=limits and Interval(low=limits[0], high=limits[1], method="t"),
        p=found.p,
        better=found.higher,
        worse=found.lower,
    )


def _flipped(reordered: Mapping[str, _Answer], first: Mapping[str, _Answer]) -> Share | None:
    both = (qid for qid in reordered if qid in first)
    return _share(float(reordered[qid].accuracy != first[qid].accuracy) for qid in both)


class _Told:
    """What the answers to counterfactuals go by."""

    def __init__(self) -> None:
        self.both = 0
        self.left_out: Counter[LeftOut] = Counter()
        self._ways: Counter[Way] = Counter()

    def add(self, result: SampleResult, found: _Answer | LeftOut, *, abstains: bool) -> None:
        change = result.metadata.get(CHANGED)
        if not isinstance(found, _Answer):
            self.left_out[found] += 1
        elif not isinstance(change, dict):
            self.left_out["no_change"] += 1
        elif abstains:
            self._ways["abstained"] += 1
        else:
            text = "\n".join(sentence.text for sentence in result.sentences)
            before, after = (says(text, change, side) for side in ("before", "after"))
            if found.accuracy:
                self._ways["context"] += 1
                self.both += before
            else:
                self._ways["memory" if before and not after else "other"] += 1

    def shares(self) -> dict[Way, Share] | None:
        if not self._ways:
            return None
        return dict(self._each())

    def _each(self) -> Iterator[tuple[Way, Share]]:
        for way in WAYS:
            share = _share(float(each == way) for each in self._ways.elements())
            if share is not None:
                yield way, share
