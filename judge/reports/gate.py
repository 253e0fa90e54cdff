"""Gates on a run's totals, and the exit code they lead to."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from judge.errors import ConfigError
from judge.records import CorpusBounds, CorpusScore, Summary

FINE: Final = 0
GATE_FAILED: Final = 1
UNTRUSTED: Final = 3

_CORRECTNESS: Final = {
    "correctness": "f1",
    "correctness_precision": "precision",
    "correctness_recall": "recall",
}
"""Scores of the comparison with references, and what they are called among its totals."""

GATED: Final = (
    "faithfulness",
    "faithfulness_strict",
    "coverage",
    "citation_validity",
    "citation_recall",
    *_CORRECTNESS,
)
"""Scores a gate may name: those of which more is better."""

# The mean of .6, .7 and .8 comes out as .6999…98, and differently in another order.
_ROUNDING: Final = 1e-9


class Gate(NamedTuple):
    """A score and the least it may be."""

    name: str
    least: float


class GateResult(NamedTuple):
    """A gate and what was held against it; `value` is None where there was nothing to measure."""

    gate: Gate
    value: float | None
    what: str

    @property
    def passed(self) -> bool:
        """Whether there is a value and it is not under the gate, rounding errors aside."""
        return self.value is not None and self.value >= self.gate.least - _ROUNDING


def parse_gate(text: str) -> Gate:
    """Read `NAME=X`, X in [0, 1].

    Raises:
        ConfigError: no such score, or X is no number between 0 and 1.
    """
    name, _, number = text.partition("=")
    if name not in GATED:
        raise ConfigError(f"--fail-under {text!r}: NAME is one of {', '.join(GATED)}")
    try:
        least = float(number)
    except ValueError:
        least = -1.0
    if not 0 <= least <= 1:
        raise ConfigError(f"--fail-under {text!r}: X is a number from 0 to 1, as in {name}=0.9")
    return Gate(name, least)


def check_gates(gates: Sequence[Gate], *, strict: bool, correctness: bool) -> None:
    """Refuse a gate on what a run is not going to measure, and strictness without a gate.

    Raises:
        ConfigError: there is nothing that could fail, or that could be measured.
    """
    if strict and not gates:
        raise ConfigError("--strict-gate without a gate; add --fail-under, as faithfulness=0.9")
    for gate in gates:
        if gate.name in _CORRECTNESS and not correctness:
            asked = f"--fail-under '{gate.name}={gate.least:g}'"
            raise ConfigError(f"{asked}: correctness is not measured; add --correctness")


def hold(gate: Gate, summary: Summary, *, strict: bool = False) -> GateResult:
    """Hold the totals against a gate.

    The macro mean counts; with `strict`, the lower limit of its 95 % interval, and where failures
    could hide in the score, of the one with every failure counted 0.
    """
    name = _CORRECTNESS.get(gate.name, gate.name)
    totals = summary.correctness if gate.name in _CORRECTNESS else summary
    score: CorpusScore | None = getattr(totals, name, None)
    if score is None:
        return GateResult(gate, None, "nothing to measure")
    if not strict:
        return GateResult(gate, score.macro, "mean over answers")
    # Coverage needs no judge: it is the one score in which no failure can hide.
    bounds: CorpusBounds | None = getattr(totals, f"{name}_bounds", None)
    if bounds is not None:
        return GateResult(gate, bounds.low_interval.low, "lower limit, failures counted 0")
    return GateResult(gate, score.interval.low, "lower limit")


def exit_code(summary: Summary, gates: list[GateResult]) -> int:
    """3 for an untrusted run or a gate on nothing, else 1 for a failed gate, or 0."""
    compared = summary.correctness
    untrusted = summary.untrusted or (compared is not None and compared.untrusted)
    if untrusted or any(result.value is None for result in gates):
        return UNTRUSTED
    return FINE if all(result.passed for result in gates) else GATE_FAILED
