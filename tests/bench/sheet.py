"""The figures of a run: printed as they come, beside their targets, and kept as JSON."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.bench.figures import Estimate


@dataclass(frozen=True, slots=True)
class Target:
    """What a figure should be: at least, or at most."""

    least: float | None = None
    most: float | None = None
    whole_interval: bool = False
    """True where the interval's lower limit, not the figure, has to be above `least`."""

    def met(self, value: float, low: float | None) -> bool:
        """Whether it is; a figure that is not defined meets nothing."""
        if self.whole_interval:
            return low is not None and self.least is not None and low > self.least
        above = self.least is None or value >= self.least
        return above and (self.most is None or value <= self.most)

    def __str__(self) -> str:
        if self.whole_interval:
            return f"interval > {self.least:g}"
        return f">= {self.least:g}" if self.least is not None else f"<= {self.most:g}"


@dataclass(frozen=True, slots=True)
class Figure:
    """One number, with all that is said of it."""

    set: str
    name: str
    value: float
    low: float | None
    high: float | None
    n: int
    """How many sentences or answers it is over."""
    not_above_zero: float | None
    """Of a gain, the share of resamples in which it is 0 or less."""
    note: str
    target: str | None
    met: bool | None


class Sheet:
    """Takes figures and prints them.

    Args:
        targets: by set and name of the figure.
    """

    def __init__(self, targets: Mapping[tuple[str, str], Target]) -> None:
        self._targets = targets
        self._set = ""
        self.figures: list[Figure] = []
        self.tables: dict[str, list[dict[str, Any]]] = {}

    def begin(self, name: str, about: str) -> None:
        """The figures that follow are of this set."""
        self._set = name
        print(f"\n{name}: {about}", flush=True)

    def add(self, name: str, found: Estimate, n: int, note: str = "") -> None:
        """A figure with its interval."""
        low, high = found.interval
        gain = found.not_above_zero if name.startswith("gain") else None
        self.put(name, found.value, (low, high), n=n, note=note, chance=gain)

    def put(
        self,
        name: str,
        value: float,
        interval: tuple[float, float] | None = None,
        *,
        n: int,
        note: str = "",
        chance: float | None = None,
    ) -> None:
        """A figure whose interval, if any, was found elsewhere."""
        low, high = interval or (None, None)
        target = self._targets.get((self._set, name))
        met = target.met(value, low) if target else None
        shown = str(target) if target else None
        self.figures.append(Figure(self._set, name, value, low, high, n, chance, note, shown, met))
        print(_line(self.figures[-1]), flush=True)

    def table(self, title: str, lines: list[dict[str, Any]]) -> None:
        """A small table; every line has the same keys."""
        self.tables[f"{self._set}: {title}"] = lines
        print(f"  {title}\n    " + "".join(f"{key:>16}" for key in lines[0]))
        for line in lines:
            print("    " + "".join(f"{_cell(value):>16}" for value in line.values()))

    def verdict(self) -> None:
        """How many targets are met, and which are not."""
        aimed = [figure for figure in self.figures if figure.target]
        print(f"\ntargets met: {sum(bool(figure.met) for figure in aimed)} of {len(aimed)}")
        for figure in aimed:
            if not figure.met:
                print(
                    f"  missed: {figure.set}, {figure.name}: {figure.value:.4f} ({figure.target})"
                )

    def write(self, path: Path, about: Mapping[str, str]) -> None:
        """All of it as JSON; what is not defined is null."""
        figures = [
            {key: None if _undefined(value) else value for key, value in asdict(figure).items()}
            for figure in self.figures
        ]
        text = json.dumps({**about, "figures": figures, "tables": self.tables}, indent=1)
        path.write_text(text + "\n", encoding="utf-8")


def _undefined(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _line(figure: Figure) -> str:
    size = f"{figure.value:10.4f}" if abs(figure.value) < 1000 else f"{figure.value:10,.0f}"
    signed = f"{figure.value:+10.4f}" if figure.name.startswith("gain") else size
    limits = "" if figure.low is None else f"[{figure.low:.3f}, {figure.high:.3f}]"
    parts = [f"  {figure.name:52}{signed}  {limits:17} n {figure.n:<6}"]
    if figure.not_above_zero is not None:
        parts.append(f"P(gain <= 0) {figure.not_above_zero:.3f}")
    if figure.note:
        parts.append(figure.note)
    if figure.target:
        parts.append(f"target {figure.target}: {'met' if figure.met else 'MISSED'}")
    return "  ".join(parts).rstrip()
