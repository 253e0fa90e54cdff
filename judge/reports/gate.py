"""Gates on a run's totals, and the exit code they lead to."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Self

from judge.errors import ConfigError
from judge.messages import Messages
from judge.records import (
    CorpusBounds,
    CorpusScore,
    CorrectnessTotals,
    GateResult,
    Interval,
    RelevanceTotals,
    Summary,
)
from judge.records.comparison import Side
from judge.records.summary import FIELDS, OF_CORRECTNESS
from judge.scores.answer import SUPPORTING
from judge.signature import Signature
from judge.text.visible import nearest

FINE: Final = 0
GATE_FAILED: Final = 1
UNTRUSTED: Final = 3
OVER_BUDGET: Final = 4

OPTIONS: Final[Mapping[Side, str]] = {"least": "--fail-under", "most": "--fail-over"}
"""The option that names a gate of each side."""

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
    "relevance_overall": "least",
    "relevance": "least",
}
"""Every score of the summary: bounded below where more is better, above where less is."""

_LESS: Final = frozenset({"waste"})
"""Rank measures, as they are called before the `@`, of which less is better."""

_RELEVANCE: Final = frozenset({"relevance_overall", "relevance"})
"""Scores of how far the questions are answered."""

_FALLBACK: Final = "_with_fallback"
_NOTHING: Final = "nothing to measure"

# The mean of .6, .7 and .8 comes out as .6999…98, and differently in another order.
_ROUNDING: Final = 1e-9


def less_is_better(measure: str) -> bool:
    """Whether of a rank measure, such as `recall@5`, less is better."""
    return measure.partition("@")[0] in _LESS


class Gate(NamedTuple):
    """A score and its bound."""

    name: str
    bound: float
    strict: bool = False
    """Hold the limit of the 95 % interval against it, every failure counted on the bad side."""

    @property
    def side(self) -> Side:
        """Which bound it is."""
        return GATED.get(self.name, "most" if less_is_better(self.name) else "least")

    def __str__(self) -> str:
        return f"{OPTIONS[self.side]} '{self.name}={self.bound:g}'"


def parse_gate(
    text: str, side: Side = "least", *, strict: bool = False, names: Collection[str] = GATED
) -> Gate:
    """Read a gate `NAME=X` with X in [0, 1].

    Raises:
        ConfigError: no such score, one whose bound is of the other side, or X is no number between
            0 and 1.
    """
    name, _, number = text.partition("=")
    asked = f"{OPTIONS[side]} {text!r}"
    if name not in names:
        measure, at, k = name.partition("@")
        if k.isdecimal() and any(each.startswith(measure + at) for each in names):
            raise ConfigError(f"{asked}: {name} is not measured; add {k} to -k")
        if near := nearest(name, names):
            raise ConfigError(f"{asked}: unknown score {name!r}; did you mean {near!r}?")
        other: Side = "most" if side == "least" else "least"
        raise ConfigError(
            f"{asked}: NAME is one of {_listed(names, side)}; "
            f"or, with {OPTIONS[other]}, of {_listed(names, other)}"
        )
    own = Gate(name, 0).side
    if own != side:
        better = "less" if side == "least" else "more"
        raise ConfigError(f"{asked}: of {name} {better} is better; say {OPTIONS[own]} {text}")
    return Gate(name, _bound(asked, number, f"{name}=0.9"), strict)


def _bound(asked: str, number: str, example: str) -> float:
    try:
        bound = float(number)
    except ValueError:
        bound = -1.0
    if not 0 <= bound <= 1:
        raise ConfigError(f"{asked}: X is a number from 0 to 1, as in {example}")
    return bound


def parse_loss(text: str) -> tuple[str, float]:
    """Read `NAME=X` of `--fail-if-worse`; raises `ConfigError` as `parse_gate` does."""
    name, _, number = text.partition("=")
    asked = f"--fail-if-worse {text!r}"
    if name not in GATED:
        near = nearest(name, GATED)
        hint = f"did you mean {near!r}?" if near else f"NAME is one of {', '.join(GATED)}"
        raise ConfigError(f"{asked}: unknown score {name!r}; {hint}")
    return name, _bound(asked, number, f"{name}=0.02")


def hold_loss(name: str, most: float, interval: Interval | None, side: Side) -> GateResult:
    """Hold a difference against the greatest loss that is borne.

    The loss is how much worse the later run is: the difference itself where less is better, else
    its negative. The gate fails where the lower limit of its 95 % interval is above X: the later
    run is worse by more than X, and chance would show that in one of forty comparisons.

    Args:
        name: the score.
        most: X, from 0 to 1.
        interval: of the difference, later less first; None where nothing was measured in both.
        side: of the score: "least" where more is better.
    """
    lower = None
    if interval is not None:
        lower = -interval.high if side == "least" else interval.low
    return GateResult(
        name=name,
        side="most",
        bound=most,
        value=lower,
        what=_NOTHING if lower is None else "lower limit of the loss",
        passed=lower is not None and lower <= most + _ROUNDING,
    )


def measured(summary: Summary) -> dict[str, float | None]:
    """The mean over answers of every score that gates know; None where nothing was measured."""
    scores = ((name, _scored(name, summary)[0]) for name in GATED)
    return {name: score.macro if score else None for name, score in scores}


def _listed(names: Iterable[str], side: Side) -> str:
    """The names of one side; those at a cut-off once."""
    parts = [name.partition("@") for name in names if Gate(name, 0).side == side]
    ks = dict.fromkeys(k for *_, k in parts if k)
    said = ", ".join(dict.fromkeys(measure + (at and "@k") for measure, at, _ in parts))
    return f"{said} with k one of {', '.join(ks)}" if ks else said


class Gates(NamedTuple):
    """All gates of a run."""

    bounds: tuple[Gate, ...] = ()
    """Bounds of scores."""
    judge: str | None = None
    """The expected judge, in a form that `Signature.answers_to` accepts."""

    @classmethod
    def read(
        cls,
        asked: Mapping[Side, Sequence[str]],
        judge: str | None = None,
        *,
        strict: bool = False,
        names: Collection[str] = GATED,
    ) -> Self:
        """Read the gates of both options.

        Raises:
            ConfigError: as of `parse_gate`; or there is nothing that could fail.
        """
        gates = [
            parse_gate(text, side, strict=strict, names=names)
            for side, texts in asked.items()
            for text in texts
        ]
        if strict and not gates:
            example = f"{next(iter(names))}=0.9"
            raise ConfigError(f"--strict-gate without a gate; add --fail-under, as {example}")
        for gate in gates:
            if strict and gate.name.endswith(_FALLBACK):
                raise ConfigError(
                    f"{gate}: no limits with the failures counted are measured of it; leave out "
                    f"--strict-gate, or gate {gate.name.removesuffix(_FALLBACK)}"
                )
        if judge is not None and Signature.parse(judge).served:
            raise ConfigError(
                f"--expect {judge!r}: which model serves is known once it has answered; leave out "
                "the part served:…"
            )
        return cls(tuple(gates), judge)

    def check(self, *, correctness: bool, relevance: bool = False) -> None:
        """Raise `ConfigError` for a gate on what a run is not going to measure."""
        for gate in self.bounds:
            if gate.name in _RELEVANCE and not relevance:
                raise ConfigError(f"{gate}: answer relevance is not measured; add --relevance")
            if gate.name in OF_CORRECTNESS and not correctness:
                raise ConfigError(f"{gate}: correctness is not measured; add --correctness")

    def expect(self, signature: str) -> None:
        """Raise `ConfigError` where this is not the judge's."""
        if self.judge is not None and not Signature.parse(signature).answers_to(self.judge):
            raise ConfigError(
                f"--expect {self.judge!r}: {signature} would judge; name the judge you mean with "
                "--model or --judge, or expect this one"
            )

    def hold(self, summary: Summary) -> Summary:
        """The totals with what the gates say of them."""
        return summary.model_copy(update={"gates": tuple(hold(g, summary) for g in self.bounds)})

    def hold_means(
        self,
        mean: Mapping[str, float | None],
        interval: Mapping[str, Interval | None],
        ceiling: Mapping[str, float] | None = None,
        what: str = "mean over queries",
    ) -> tuple[GateResult, ...]:
        """Compare means in which no failure is hidden with the gates.

        Args:
            mean: means by name.
            interval: their 95 % intervals, for strict gates.
            ceiling: the highest possible means; a mean is then compared as a share of its ceiling.
            what: a name for the means.
        """
        results = []
        for gate in self.bounds:
            value, compared = mean[gate.name], what
            limits = interval[gate.name]
            if value is None or (gate.strict and limits is None):
                value, compared = None, _NOTHING
            elif gate.strict and limits is not None:
                value, compared = _limit(gate, limits)
            if value is not None and (most := (ceiling or {}).get(gate.name)):
                value, compared = min(1.0, value / most), f"{compared}, share of the ceiling"
            results.append(_result(gate, value, compared))
        return tuple(results)


def hold(gate: Gate, summary: Summary) -> GateResult:
    """Hold the totals against a gate.

    The macro mean counts; where the gate is strict, the limit of its 95 % interval on the bad side,
    and where failures could hide in the score, of the one with every failure counted there.
    """
    return _result(gate, *_held(gate, summary))


def _result(gate: Gate, value: float | None, what: str) -> GateResult:
    over = (
        None if value is None else value - gate.bound if gate.side == "most" else gate.bound - value
    )
    return GateResult(
        name=gate.name,
        side=gate.side,
        bound=gate.bound,
        value=value,
        what=what,
        passed=over is not None and over <= _ROUNDING,
    )


def _held(gate: Gate, summary: Summary) -> tuple[float | None, str]:
    """Return the value that a gate compares with its bound, and a name for it."""
    score, bounds = _scored(gate.name, summary)
    if score is None:
        fallback = gate.name.endswith(_FALLBACK)
        return None, "nothing fell back" if fallback else _NOTHING
    if not gate.strict:
        return score.macro, "mean over answers"
    above = gate.side == "most"
    if bounds is None:  # Coverage and abstentions need no judge: no failure can hide in them.
        return _limit(gate, score.interval)
    interval = bounds.high_interval if above else bounds.low_interval
    if interval is None:
        return None, _NOTHING
    worst, limit = _limit(gate, interval)
    return worst, f"{limit}, failures counted {int(above)}"


def _scored(name: str, summary: Summary) -> tuple[CorpusScore | None, CorpusBounds | None]:
    """A score by the name that gates have, and its bounds, if it has any."""
    if name in SUPPORTING:
        return summary.citation_support.get(name), summary.citation_support_bounds.get(name)
    totals = summary.correctness if name in OF_CORRECTNESS else summary
    whole = summary.answer_relevance if name in _RELEVANCE else totals
    field = FIELDS.get(name, name)
    return getattr(whole, field, None), getattr(whole, f"{field}_bounds", None)


def _limit(gate: Gate, interval: Interval) -> tuple[float, str]:
    """The end of an interval that is on the bad side of a gate, and what it is."""
    most = gate.side == "most"
    return (interval.high, "upper limit") if most else (interval.low, "lower limit")


def doubted(summary: Summary) -> list[Summary | CorrectnessTotals | RelevanceTotals]:
    """The totals of which so much failed that they are not to be reported."""
    every = (summary, summary.correctness, summary.answer_relevance)
    return [each for each in every if each is not None and each.untrusted]


def exit_code(summary: Summary) -> int:
    """3: untrusted, or a gate on nothing; 4: a spent budget; 1: a failed gate; else 0."""
    code = UNTRUSTED if doubted(summary) else gates_code(summary.gates)
    return OVER_BUDGET if summary.over_budget and code != UNTRUSTED else code


def told(result: GateResult) -> str:
    """A gate in words, what was held against it, and whether it passed."""
    texts = Messages.of("looks", "gate")
    verdict = "passed" if result.passed else "failed" if result.value is not None else "unmeasured"
    keys = {part: part.replace(" ", "_") for part in result.what.split(", ")}
    # An older run may say something else.
    what = [texts(key) if key in texts else part for part, key in keys.items()]
    return texts(
        "line",
        name=result.name,
        bound=f"{'>=' if result.side == 'least' else '<='} {result.bound:g}",
        value="–" if result.value is None else f"{result.value:.3f}",
        what=texts("joint").join(what),
        verdict=texts(verdict),
    )


def gates_code(results: Collection[GateResult]) -> int:
    """3 for a gate on nothing, else 1 for a failed gate, or 0."""
    if any(result.value is None for result in results):
        return UNTRUSTED
    return FINE if all(result.passed for result in results) else GATE_FAILED
