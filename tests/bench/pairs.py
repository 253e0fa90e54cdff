"""Sentences that differ in one thing, one true of its chunk and one not, before the offline judge.

    python tests/bench/pairs.py [--held] [--missed]

The rows are in tests/judges/similarity/minimal_pairs.jsonl. Rules are written with the half
`learn` in view; `--held` measures the other, whose rows are not looked at: `--missed`, which names
the rows that went wrong, does not go with it. Intervals are Wilson's, 95 %.

    caught    the wrong sentence is judged, and not `full`; it may be undecided
    labelled  its verdict is the one that the row gives: `contradicted` or `none`
    apart     it is caught, and the right one is `full`
    alarms    the right sentence is not `full`; it may be undecided

`trap` rows have a right sentence alone: its figures, negations and names look other than they are.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

# A script finds only the modules beside it: add the root folder of the project.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from judge import Config, Excluded, Sample, SampleResult, Support, Verdict, evaluate
from judge.scores.intervals import wilson

TABLE: Final = Path(__file__).resolve().parents[1] / "judges/similarity/minimal_pairs.jsonl"
QUERIES: Final = {"en": "What do the documents say about this?", "zh": "资料对此是怎么说的？"}
Half = Literal["learn", "held"]
ORDER: Final = ("full", "undecided", "none", "contradicted")
"""The labels of similarity, from the best to the worst."""


class Pair(NamedTuple):
    """A row of the table."""

    id: str
    lang: str
    category: str
    half: Half
    chunk: str
    right: str
    wrong: str | None = None
    """None in a trap."""
    truth: Support | None = None
    """What the wrong sentence is: `contradicted` or `none`."""


class Outcome(NamedTuple):
    """A row and the labels of its sentences, the least of a sentence that was split.

    A label is a value of `Support`, `undecided`, or empty if no claim was found to judge.
    """

    pair: Pair
    right: str
    wrong: str | None

    @property
    def caught(self) -> bool:
        """Whether the wrong sentence is judged, and not `full`."""
        return self.wrong not in (None, "", Support.FULL.value)

    @property
    def labelled(self) -> bool:
        """Whether the wrong sentence has the label that the row gives."""
        return self.pair.truth is not None and self.wrong == self.pair.truth.value

    @property
    def apart(self) -> bool:
        """Whether the wrong sentence is caught and the right one is `full`."""
        return self.caught and not self.alarm

    @property
    def alarm(self) -> bool:
        """Whether the right sentence is not `full`."""
        return self.right != Support.FULL.value


OF_WRONG: Final[dict[str, Callable[[Outcome], bool]]] = {
    "caught": lambda each: each.caught,
    "labelled": lambda each: each.labelled,
    "apart": lambda each: each.apart,
}
OF_RIGHT: Final[dict[str, Callable[[Outcome], bool]]] = {"alarms": lambda each: each.alarm}


def pairs(half: Half | None = None) -> Iterator[Pair]:
    """The rows of a half; all without one."""
    for line in TABLE.read_text("utf-8").splitlines():
        row = json.loads(line)
        if half in (None, row["half"]):
            yield Pair(**{**row, "truth": Support(row["truth"]) if "truth" in row else None})


def measure(rows: Iterable[Pair]) -> list[Outcome]:
    """Each sentence judged alone, as the whole answer, by the judge that needs no model."""
    rows = list(rows)
    samples = [
        Sample.model_validate(
            {
                "qid": f"{pair.id}-{side}",
                "query": QUERIES[pair.lang],
                "answer": answer,
                "chunks": [{"chunk_id": pair.id, "text": pair.chunk}],
            }
        )
        for pair in rows
        for side, answer in (("right", pair.right), ("wrong", pair.wrong))
        if answer is not None
    ]
    found = {each.qid: _label(each) for each in evaluate(samples, Config(judge="similarity"))}
    return [
        Outcome(pair, found[f"{pair.id}-right"], found.get(f"{pair.id}-wrong")) for pair in rows
    ]


def _label(result: SampleResult) -> str:
    labels = [
        each.outcome.support.value if isinstance(each.outcome, Verdict) else each.outcome.reason
        for each in result.sentences
        if not isinstance(each.outcome, Excluded)
    ]
    return max(labels, key=ORDER.index, default="")


def count(outcomes: Sequence[Outcome]) -> dict[str, tuple[int, int]]:
    """How many were caught, labelled, and so on, of how many."""
    pairs_of = [each for each in outcomes if each.wrong is not None]
    return {
        **{name: (sum(map(holds, pairs_of)), len(pairs_of)) for name, holds in OF_WRONG.items()},
        **{name: (sum(map(holds, outcomes)), len(outcomes)) for name, holds in OF_RIGHT.items()},
    }


def _share(found: int, size: int) -> str:
    if not size:
        return f"{'–':>24}"
    low, high = wilson(found / size, size)
    return f"{found:>4}/{size:<3} {found / size:.2f} [{low:.2f}, {high:.2f}]"


def _rows(name: str, outcomes: Sequence[Outcome]) -> None:
    """A line for each language, and one for both."""
    for lang in (*QUERIES, ""):
        found = count([each for each in outcomes if lang in ("", each.pair.lang)])
        print(f"{f'{name} {lang}':<15}", *(_share(*each) for each in found.values()), sep="  ")


def main() -> None:
    """Print a line for each category and language, and the totals."""
    parser = argparse.ArgumentParser(description="One-thing-changed pairs, offline.")
    parser.add_argument("--held", action="store_true", help="the half that rules are not made on")
    parser.add_argument("--missed", action="store_true", help="name the rows that went wrong")
    options = parser.parse_args()
    if options.held and options.missed:
        parser.error("--missed looks at rows, and those of the held half are not looked at")
    half: Half = "held" if options.held else "learn"
    outcomes = measure(pairs(half))
    print(f"half: {half}")
    print(f"{'':<15}", *(f"{name:<24}" for name in (*OF_WRONG, *OF_RIGHT)), sep="  ")
    for category in dict.fromkeys(each.pair.category for each in outcomes):
        _rows(category, [each for each in outcomes if each.pair.category == category])
    _rows("pairs", [each for each in outcomes if each.wrong is not None])
    _rows("all", outcomes)
    if options.missed:
        for each in outcomes:
            if each.wrong is not None and not each.caught:
                print(f"passed  {each.pair.id}: {each.pair.wrong}  <<  {each.pair.chunk}")
            if each.alarm:
                print(f"alarm   {each.pair.id}: {each.pair.right}  <<  {each.pair.chunk}")


if __name__ == "__main__":
    main()
