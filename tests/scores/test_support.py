"""TREC RAG's measures of support, worked by hand from the formulas of their publication."""

from collections.abc import Sequence

import pytest

from judge import Config, Evaluator, Sample, summarize
from judge.records import (
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    SampleResult,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)

LABELS = {"f": Support.FULL, "p": Support.PARTIAL, "n": Support.NONE, "-": Support.NO_CLAIM}
LOST = Unscored(reason=UnscoredReason.TIMEOUT)
ORDER = (
    "support_weighted_precision",
    "support_weighted_recall",
)
CHUNKS = [{"chunk_id": each, "text": f"Text {each}."} for each in "abc"]


class Marked:
    """A judge that reads its verdicts in the sentences: `f ab` is full, held by chunks a and b."""

    signature = "llm:marked@here"

    async def judge(self, request: JudgeRequest) -> Judgment:
        outcomes: dict[int, JudgeOutcome] = {}
        for index in request.ask:
            mark, _, holding = (
                request.sentences[index].text.rstrip(".").rpartition(": ")[2].partition(" ")
            )
            if mark == "x":
                outcomes[index] = LOST
                continue
            label = LABELS[mark]
            outcomes[index] = Verdict(
                support=label,
                supporting=tuple(holding),
                cited_support=label if request.cites.get(index) else None,
                source="llm",
                signature=self.signature,
            )
        return Judgment(outcomes=outcomes)


def sample(*sentences: tuple[str, Sequence[int]], qid: str = "q") -> Sample:
    """Return an answer of sentences, each given by its mark and its citations."""
    told = [
        {"text": mark if "!" in mark else f"Says: {mark}.", "citations": cited}
        for mark, cited in sentences
    ]
    return Sample.of({"qid": qid, "sentences": told, "chunks": CHUNKS})


async def scored(*samples: Sample) -> list[SampleResult]:
    async with Evaluator(Config(), judge=Marked()) as evaluator:
        return [result async for result in evaluator.evaluate(samples)]


# The sentences; weighted precision and recall of their first citations.
PAPER: tuple[tuple[str, list[int]], ...] = (("p a", [0]), ("f b", [1]), ("n", []))
HELD: list[tuple[tuple[tuple[str, Sequence[int]], ...], tuple[float, ...]]] = [
    # The example of the paper, 3.4: (.5 + 1) / 2 and (.5 + 1) / 3.
    (PAPER, (0.75, 0.5)),
    # Full; partial; one citation of two that holds, the second; one without a verdict; none:
    # (1 + .5 + 0) / 3 and, the failed sentence left out, / 4.
    ((("f a", [0]), ("p a", [0]), ("f b", [0, 1]), ("x", [0]), ("f c", [])), (0.5, 0.375)),
    # Where every sentence cites, precision is recall (3.4).
    ((("f a", [0]), ("n", [1])), (0.5, 0.5)),
    # Partial of two that both hold is partial of each.
    ((("p ab", [0, 1]),), (0.5, 0.5)),
    # The first citation decides.
    ((("f a", [0, 1, 2]),), (1, 1)),
    # One that names no chunk is no support.
    ((("f a", [9, 0]), ("f b", [])), (0, 0)),
    # Sentences without a verdict leave both measures if they cite, and count in recall if not.
    ((("f a", [0]), ("- a", [0]), ("Thank you!", [0])), (1, 1)),
    ((("f a", [0]), ("Thank you!", [])), (1, 0.5)),
    ((("- a", [0]),), ()),
]


async def test_the_measures_by_hand() -> None:
    for sentences, expected in HELD:
        (result,) = await scored(sample(*sentences))
        assert result.scores.citation_support == pytest.approx(
            dict(zip(ORDER, expected, strict=bool(expected)))
        ), sentences
        assert SampleResult.model_validate_json(result.model_dump_json()) == result


async def test_what_has_no_citation_or_no_verdict() -> None:
    without, empty, lost = await scored(
        sample(("f a", []), qid="1"), sample(qid="2"), sample(("x", [0]), qid="3")
    )
    for result in (without, empty, lost):
        assert result.scores.citation_support == {}
        assert "citation_support" not in result.model_dump_json()
    # A run without citations has no measures of them.
    silent = summarize([without, empty])
    assert "citation_support" not in silent.model_dump_json()
    # Beside answers that cite they are 0, as in TREC, and a failure only widens the bounds.
    (paper,) = await scored(sample(*PAPER))
    summary = summarize([paper, without, empty, lost])
    found = {name: summary.citation_support[name] for name in ORDER}
    assert [(round(s.macro, 6), s.answers) for s in found.values()] == [(0.25, 3), (0.166667, 3)]
    # Pooled: over two sentences that cite, and over the four of all.
    assert [(s.micro, s.items) for s in found.values()] == [(0.75, 2), (0.375, 4)]
    bounds = summary.citation_support_bounds["support_weighted_precision"]
    assert (bounds.low, bounds.high, bounds.answers) == (0.1875, 0.4375, 4)
