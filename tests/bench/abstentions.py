"""How many abstentions are known for what they are, and how many claims are taken for one.

    python -m tests.bench.abstentions [--errors]

A confusion matrix of each half and language of the table in `tests/answer/abstentions.jsonl`, with
Wilson's intervals. `--errors` names what was misread in the learn half; the held half is never
named, so that it stays unseen by whoever writes rules.
"""

import argparse
from collections.abc import Sequence

from judge.scores.intervals import wilson
from tests.abstentions import (
    ABSTENTION,
    CLAIM,
    HALVES,
    LANGUAGES,
    Reading,
    confusion,
    matrix,
    of,
    read,
    rows,
)


def share(hits: int, among: int) -> str:
    """A share with its 95 % interval."""
    low, high = wilson(hits / among, among)
    return f"{hits / among:.3f} [{low:.3f}, {high:.3f}]  {hits} of {among}"


def figures(readings: Sequence[Reading]) -> str:
    """What a half and language comes to, a line each."""
    counts = confusion(readings)
    abstentions = sum(n for (label, _), n in counts.items() if label == ABSTENTION)
    claims = sum(n for (label, _), n in counts.items() if label == CLAIM)
    shares = {
        "abstentions known": (counts[ABSTENTION, ABSTENTION], abstentions),
        "claims taken for abstentions": (counts[CLAIM, ABSTENTION], claims),
        "claims taken for anything else": (claims - counts[CLAIM, CLAIM], claims),
        "answers known to abstain": (
            sum(one.abstained for one in readings if one.row.abstained),
            sum(one.row.abstained for one in readings),
        ),
        "other answers taken to abstain": (
            sum(one.abstained for one in readings if not one.row.abstained),
            sum(not one.row.abstained for one in readings),
        ),
        "rows read without a mistake": (sum(one.right for one in readings), len(readings)),
    }
    return "\n".join(f"{name:32}{share(*each)}" for name, each in shares.items())


def main() -> None:
    """Print the matrices and the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--errors", action="store_true", help="name what was misread, learn half")
    errors = parser.parse_args().errors
    readings = read(rows())
    for half in HALVES:
        halved = [one for one in readings if one.row.half == half]
        for lang in LANGUAGES:
            found = of(halved, lang)
            print(f"\n== {half}, {lang}: {len(found)} texts\n{matrix(confusion(found))}")
            print(figures(found))
        if errors and half == "learn":
            print()
            for one in halved:
                if not one.right:
                    print(f"{one.row.id}: {' '.join(one.found)}, not {' '.join(one.row.kinds)}")


if __name__ == "__main__":
    main()
