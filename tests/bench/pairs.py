"""Sentences that differ in one thing, one true of its chunk and one not, before the offline judge.

    python tests/bench/pairs.py [--held]

The rows are in tests/judges/similarity/minimal_pairs.jsonl. Rules are written with the half
`learn` in view; `--held` measures the other half, whose rows are not looked at. Intervals are
Wilson's, 95 %.

    caught    the wrong sentence is judged, and not `full`; it may be undecided
    labelled  its verdict is the one that the row gives: `contradicted` or `none`
    apart     it is caught, and the right one is `full`
    alarms    the right sentence is not `full`; it may be undecided

`trap` rows have a right sentence alone: its figures, negations and names look other than they are.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

# A script finds only the modules beside it: add the root folder of the project.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from judge import Config, Excluded, Sample, SampleResult, Verdict, evaluate
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
    truth: str | None = None
    """The right label of the wrong sentence: `contradicted` or `none`."""


class Outcome(NamedTuple):
    """A row and the labels of its sentences, the worst of a sentence that was split.

    A label is a value of `Support`, `undecided`, or empty if no claim was found to judge.
    """

    pair: Pair
    right: str
    wrong: str | None

    @property
    def caught(self) -> bool:
        return self.wrong not in (None, "", "full")

    @property
    def alarm(self) -> bool:
        return self.right != "full"


def pairs(half: Half) -> list[Pair]:
    """Return the rows of a half."""
    rows = [Pair(**json.loads(line)) for line in TABLE.read_text("utf-8").splitlines()]
    return [row for row in rows if row.half == half]


def measure(rows: Sequence[Pair]) -> list[Outcome]:
    """Judge each sentence alone, as the whole answer, by the judge that needs no model."""
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
    """Return each figure as the rows it holds for, and the rows it is counted over."""
    found = [each for each in outcomes if each.wrong is not None]
    counts = {
        "caught": sum(each.caught for each in found),
        "labelled": sum(each.wrong == each.pair.truth for each in found),
        "apart": sum(each.caught and not each.alarm for each in found),
    }
    alarms = sum(each.alarm for each in outcomes), len(outcomes)
    return {**{name: (hits, len(found)) for name, hits in counts.items()}, "alarms": alarms}


def _cells(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for hits, size in count(outcomes).values():
        if not size:
            yield f"{'–':<23}"
            continue
        low, high = wilson(hits / size, size)
        yield f"{hits:>4}/{size:<3} {hits / size:.2f} [{low:.2f}, {high:.2f}]"


def main(half: Half) -> None:
    """Print a line for each category and language, and the totals."""
    outcomes = measure(pairs(half))
    groups = {each.pair.category: list[Outcome]() for each in outcomes}
    groups |= {name: [] for name in (*QUERIES, "pairs", "all")}
    for each in outcomes:
        kind = "trap" if each.wrong is None else "pairs"
        for name in {each.pair.category, each.pair.lang, kind, "all"}:
            groups[name].append(each)
    print(f"half: {half}\n{'':<12}", *(f"{name:<24}" for name in count(outcomes)))
    for name, rows in groups.items():
        print(f"{name:<12}", *_cells(rows))


if __name__ == "__main__":
    main("held" if "--held" in sys.argv else "learn")
