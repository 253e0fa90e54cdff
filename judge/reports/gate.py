"""Gates on the scores of a run or of a comparison, and the exit code that they lead to."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple, Self

from judge.config import Config
from judge.errors import ConfigError
from judge.messages import Messages
from judge.records import CorpusBounds, CorpusScore, GateResult, Interval, Summary
from judge.records.comparison import ScoreDifference, Side
from judge.records.summary import ADDED_BY, CONTEXT, FIELDS, RELEVANCE, JudgedTotals
from judge.scores.answer import SUPPORTING
from judge.signature import Signature
from judge.text.visible import nearest

FINE: Final = 0
GATE_FAILED: Final = 1
UNTRUSTED: Final = 3
OVER_BUDGET: Final = 4

OPTIONS: Final[Mapping[Side, str]] = {"least": "--fail-under", "most": "--fail-over"}
"""The option for gates of each side."""

GATED: Final[Mapping[str, Side]] = {
    "faithfulness": "least",
    "faithfulness_strict": "least",
    "faithfulness_with_fallback": "least",
    "hallucination_rate": "most",
    "hallucination_rate_strict": "most",
    "contradiction_rate": "most",
    "coverage": "least",
    "citation_validity": "least",
    "citation_recall": "least",
    **dict.fromkeys(SUPPORTING, "least"),
    "abstention_rate": "most",
    "abstention_rate_answerable": "most",
    "abstention_rate_unanswerable": "least",
    "correctness_overall": "least",
    "correctness_recall_overall": "least",
    "correctness": "least",
    "correctness_precision": "least",
    "correctness_recall": "least",
    "correctness_with_fallback": "least",
    **dict.fromkeys((*RELEVANCE, *CONTEXT), "least"),
}
"""The scores of a summary: `least` if more is better, `most` if less is."""

_FALLBACK: Final = "_with_fallback"
_SOME_ANSWERS: Final = re.compile(r"mean over (\d+) of (\d+) answers")
_NOTHING: Final = "nothing to measure"
_ROUNDING: Final = 1e-9


class Gate(NamedTuple):
    """A score and its bound."""

    name: str
    bound: float
    strict: bool = False
    """Compare the worse limit of the 95 % interval, with every failure counted against it."""

    @property
    def side(self) -> Side:
        """Whether the score must be at least or at most the bound."""
        return GATED.get(self.name, "least")

    def __str__(self) -> str:
        return f"{OPTIONS[self.side]} '{self.name}={self.bound:g}'"


def parse_gate(
    text: str, side: Side = "least", *, strict: bool = False, names: Collection[str] = GATED
) -> Gate:
    """Read a gate `NAME=X` with X from 0 to 1; raise ConfigError if the other option takes it."""
    option = f"{OPTIONS[side]} {text!r}"
    gate = Gate(*_name_and_bound(text, option, names), strict)
    if gate.side != side:
        better = "less" if side == "least" else "more"
        other = OPTIONS[gate.side]
        raise ConfigError(f"{option}: of {gate.name} {better} is better; say {other} {text}")
    if strict and gate.name.endswith(_FALLBACK):
        raise ConfigError(
            f"{gate}: no limits with the failures counted are measured of it; leave out "
            f"--strict-gate, or gate {gate.name.removesuffix(_FALLBACK)}"
        )
    return gate


class LossGate(NamedTuple):
    """The largest loss of a score from one run to a later one that passes."""

    name: str
    most: float
    of_mean: bool = False
    """Compare the mean loss, not the lower limit of its 95 % interval."""


def parse_loss(text: str, *, of_mean: bool) -> LossGate:
    """Read `NAME=X` of `--fail-if-worse` or `--fail-if-mean-worse`; it may raise ConfigError."""
    option = "--fail-if-mean-worse" if of_mean else "--fail-if-worse"
    return LossGate(*_name_and_bound(text, f"{option} {text!r}", GATED), of_mean)


def _name_and_bound(text: str, option: str, names: Collection[str]) -> tuple[str, float]:
    name, _, number = text.partition("=")
    if name not in names:
        near = nearest(name, names)
        known = f"did you mean {near!r}?" if near else f"the scores are {', '.join(names)}"
        raise ConfigError(f"{option}: unknown score {name!r}; {known}")
    try:
        bound = float(number)
    except ValueError:
        bound = math.nan
    if not 0 <= bound <= 1:
        raise ConfigError(f"{option}: X is a number from 0 to 1, as in {name}=0.1")
    return name, bound


class Gates(NamedTuple):
    """All gates of a run."""

    bounds: tuple[Gate, ...] = ()
    """Bounds of scores."""
    judge: str | None = None
    """The expected judge, in a form that `Signature.answers_to` accepts."""

    @classmethod
    def read(
        cls,
        texts: Mapping[Side, Sequence[str]],
        judge: str | None = None,
        *,
        strict: bool = False,
        names: Collection[str] = GATED,
    ) -> Self:
        """Read the gates of both options; raise ConfigError if one is wrong or could not fail."""
        gates = [
            parse_gate(text, side, strict=strict, names=names)
            for side, own in texts.items()
            for text in own
        ]
        if strict and not gates:
            example = f"{next(iter(names))}=0.9"
            raise ConfigError(f"--strict-gate without a gate; add --fail-under, as {example}")
        return cls(tuple(gates), judge)

    def check(self, config: Config) -> None:
        """Raise ConfigError for a gate on a score that a run with these settings does not have."""
        for gate in self.bounds:
            setting = ADDED_BY.get(gate.name)
            if setting is not None and not getattr(config, setting):
                raise ConfigError(f"{gate}: {gate.name} is not measured; add --{setting}")

    def expect(self, signature: str) -> None:
        """Raise ConfigError if this is not the signature of the expected judge."""
        if self.judge is not None and not Signature.parse(signature).answers_to(self.judge):
            raise ConfigError(
                f"--expect {self.judge!r}: {signature} would judge; name the judge you mean with "
                "--model or --judge, or expect this one"
            )

    def hold(self, summary: Summary) -> Summary:
        """Return the totals with the results of the gates."""
        return summary.model_copy(update={"gates": tuple(hold(g, summary) for g in self.bounds)})

    def hold_means(
        self,
        mean: Mapping[str, float | None],
        interval: Mapping[str, Interval | None],
        what: str = "mean over queries",
    ) -> tuple[GateResult, ...]:
        """Compare means, called `what`, in which no failure is hidden, with the gates."""
        results = []
        for gate in self.bounds:
            value, limits, compared = mean[gate.name], interval[gate.name], what
            if value is not None and gate.strict and limits is not None:
                value, compared = _limit(gate.side, limits)
            elif value is None or gate.strict:
                value, compared = None, _NOTHING
            results.append(_result(gate.name, gate.side, gate.bound, value, compared))
        return tuple(results)


def hold(gate: Gate, summary: Summary) -> GateResult:
    """Compare the macro mean with a gate; for a strict one, its worse limit, failures counted."""
    score, bounds = _scored(gate.name, summary)
    value: float | None = None
    if score is None:
        what = "nothing fell back" if gate.name.endswith(_FALLBACK) else _NOTHING
    elif not gate.strict:
        value, what = score.macro, "mean over answers"
        if score.answers < summary.answers:  # abstentions, for example, are in no mean
            what = f"mean over {score.answers} of {summary.answers} answers"
    elif bounds is None:  # coverage and abstentions need no judge: no failure can hide in them
        value, what = _limit(gate.side, score.interval)
    elif gate.side == "most":
        value, what = bounds.high_interval.high, "upper limit, failures counted 1"
    else:
        value, what = bounds.low_interval.low, "lower limit, failures counted 0"
    return _result(gate.name, gate.side, gate.bound, value, what)


LOWER_LOSS: Final = "lower limit of the loss"


class Loss(NamedTuple):
    """The mean loss of a score from one run to a later one, and its 95 % interval."""

    mean: float
    low: float
    high: float


def loss_of(found: ScoreDifference | None, side: Side) -> Loss | None:
    """Return the loss in a difference; `side` is `least` if more of the score is better."""
    if found is None:
        return None
    mean, low, high = found.difference, found.interval.low, found.interval.high
    return Loss(-mean, -high, -low) if side == "least" else Loss(mean, low, high)


def hold_loss(gate: LossGate, loss: Loss | None) -> GateResult:
    """Compare the mean loss, or the lower limit of its interval, with a gate."""
    if loss is None:
        return _result(gate.name, "most", gate.most, None, _NOTHING)
    value, what = (loss.mean, "mean loss") if gate.of_mean else (loss.low, LOWER_LOSS)
    return _result(gate.name, "most", gate.most, value, what)


def _result(name: str, side: Side, bound: float, value: float | None, what: str) -> GateResult:
    over = None if value is None else value - bound if side == "most" else bound - value
    passed = over is not None and over <= _ROUNDING
    return GateResult(name=name, side=side, bound=bound, value=value, what=what, passed=passed)


def _limit(side: Side, interval: Interval) -> tuple[float, str]:
    """Return the worse limit of an interval, and its name."""
    return (interval.high, "upper limit") if side == "most" else (interval.low, "lower limit")


def measured(summary: Summary) -> dict[str, CorpusScore | None]:
    """Return every score in `GATED`; None where nothing was measured."""
    return {name: _scored(name, summary)[0] for name in GATED}


def _scored(name: str, summary: Summary) -> tuple[CorpusScore | None, CorpusBounds | None]:
    """Return a score by its name in `GATED`, and its bounds, if it has any."""
    if name in SUPPORTING:
        return summary.citation_support.get(name), summary.citation_support_bounds.get(name)
    setting, field = ADDED_BY.get(name), FIELDS.get(name, name)
    totals = summary if setting is None else summary.added.get(setting)
    return getattr(totals, field, None), getattr(totals, f"{field}_bounds", None)


def doubted(summary: Summary) -> list[JudgedTotals]:
    """Return the totals that have too many failures to be reported."""
    return [each for each in (summary, *summary.added.values()) if each.untrusted]


def exit_code(summary: Summary) -> int:
    """Return the exit code of a run: 3 before 4 before 1."""
    code = UNTRUSTED if doubted(summary) else gates_code(summary.gates)
    return OVER_BUDGET if summary.over_budget and code != UNTRUSTED else code


def gates_code(results: Collection[GateResult]) -> int:
    """Return 3 if a gate found nothing to measure, else 1 if one failed, else 0."""
    if any(result.value is None for result in results):
        return UNTRUSTED
    return FINE if all(result.passed for result in results) else GATE_FAILED


def describe(result: GateResult) -> str:
    """Return a gate in words, with the compared value and whether it passed."""
    texts = Messages.of("looks", "gate")
    verdict = "passed" if result.passed else "failed" if result.value is not None else "unmeasured"
    if found := _SOME_ANSWERS.fullmatch(result.what):
        parts = [texts("mean_over_some", answers=found[1], whole=found[2])]
    else:
        parts = [texts(part.replace(" ", "_")) for part in result.what.split(", ")]
    return texts(
        "line",
        name=result.name,
        bound=f"{'>=' if result.side == 'least' else '<='} {result.bound:g}",
        value="–" if result.value is None else f"{result.value:.3f}",
        what=texts("joint").join(parts),
        verdict=texts(verdict),
    )
