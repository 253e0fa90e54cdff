"""How often the gates of `judge compare` fail a build that lost as much, or nothing.

    python tests/bench/loss_gates.py [--repeats N]

Made-up runs: an answer has two to six claims, each supported with probability .9 before and .9 less
the loss after. The differences of two answers to one question have a standard deviation of .25.
"""

import argparse
import sys
from pathlib import Path
from typing import Final

import numpy as np

# A script finds only the modules beside it: add the root folder of the project.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from judge.reports.gate import Loss, LossGate, hold_loss
from judge.scores.differences import share_limits

BEFORE: Final = 0.9
LOSSES: Final = (0.0, 0.02, 0.05, 0.1)
QUESTIONS: Final = (60, 100, 300)
GATES: Final = (
    LossGate("faithfulness", 0.02),
    LossGate("faithfulness", 0.0),
    LossGate("faithfulness", 0.02, of_mean=True),
    LossGate("faithfulness", 0.03, of_mean=True),
    LossGate("faithfulness", 0.05, of_mean=True),
)


def failed(loss: float, questions: int, repeats: int, seed: int) -> list[float]:
    """Return the share of builds that each gate fails."""
    rng = np.random.default_rng(seed)
    counts = [0] * len(GATES)
    for _ in range(repeats):
        claims = rng.integers(2, 7, questions)
        before = rng.binomial(claims, BEFORE) / claims
        after = rng.binomial(claims, BEFORE - loss) / claims
        lost = before - after
        limits = share_limits(list(lost))
        assert limits is not None
        found = Loss(float(lost.mean()), *limits)
        for place, gate in enumerate(GATES):
            counts[place] += not hold_loss(gate, found).passed
    return [count / repeats for count in counts]


def main() -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=2_000)
    repeats = parser.parse_args().repeats
    heads = [f"{'mean' if gate.of_mean else 'limit'} {gate.most:g}" for gate in GATES]
    print(f"| true loss | questions | {' | '.join(heads)} |")
    print("|---" * (2 + len(GATES)) + "|")
    for loss in LOSSES:
        for questions in QUESTIONS:
            shares = failed(loss, questions, repeats, seed=1)
            cells = " | ".join(f"{share:.2f}".lstrip("0") or "0" for share in shares)
            print(f"| {loss:g} | {questions} | {cells} |")


if __name__ == "__main__":
    main()
