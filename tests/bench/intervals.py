"""How often the interval of a run's mean holds the mean of the answers it was drawn from.

    python tests/bench/intervals.py [DRAWS]

Made-up populations of scores: shares, scores that vary mildly, means over the sentences of an
answer, and 6 % of failures among answers that are right or nearly so.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

# A script finds only the modules beside it: add the root folder of the project.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from judge.scores.intervals import mean_limits

Scores = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Scores]


def _failures(rest: Draw) -> Draw:
    """6 % of the scores between 0 and .5, the others drawn by `rest`."""

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Scores:
        return np.where(rng.random(shape) < 0.06, rng.random(shape) / 2, rest(rng, shape))

    return draw


POPULATIONS: Final[dict[str, tuple[float, Draw]]] = {
    "share of .9": (0.9, lambda rng, shape: (rng.random(shape) < 0.9).astype(float)),
    "mild, beta(18, 2)": (0.9, lambda rng, shape: rng.beta(18, 2, shape)),
    "0, .5 and 1": (0.8, lambda rng, shape: rng.choice([0, 0.5, 1], shape, p=[0.1, 0.2, 0.7])),
    "8 sentences an answer": (0.95, lambda rng, shape: rng.binomial(8, 0.95, shape) / 8),
    "6 % bad, the rest 1": (0.955, _failures(lambda _, shape: np.ones(shape))),
    "6 % bad, the rest mild": (
        0.06 * 0.25 + 0.94 * 40 / 41,
        _failures(lambda rng, shape: rng.beta(40, 1, shape)),
    ),
}
"""By name: the mean, and how scores are drawn."""


class Coverage(NamedTuple):
    """How often the intervals over a number of answers held the mean."""

    population: str
    answers: int
    both: float
    missed_below: float
    """The lower limit was above the mean."""


def coverage(counts: Sequence[int], repeats: int, seed: int = 1) -> Iterator[Coverage]:
    """One row for each population and number of answers."""
    rng = np.random.default_rng(seed)
    for name, (mean, draw) in POPULATIONS.items():
        for count in counts:
            scores = draw(rng, (repeats, count))
            means, variances = scores.mean(axis=1).tolist(), scores.var(axis=1, ddof=1).tolist()
            pairs = zip(means, variances, strict=True)
            limits = np.array([mean_limits(*pair, count) for pair in pairs])
            below = float((limits[:, 0] > mean + 1e-12).mean())
            above = float((limits[:, 1] < mean - 1e-12).mean())
            yield Coverage(name, count, 1 - below - above, below)


def main(repeats: int) -> None:
    print(f"{'population':24}{'answers':>8}{'held':>8}{'low missed':>12}")
    for held in coverage((5, 10, 30, 60, 200, 1000), repeats):
        print(f"{held.population:24}{held.answers:>8}{held.both:>8.3f}{held.missed_below:>12.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 5_000)
