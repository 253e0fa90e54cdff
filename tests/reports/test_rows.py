from judge.records import (
    Citation,
    CitationStatus,
    Evidence,
    Flag,
    FlagName,
    Sample,
    SampleResult,
    Support,
)
from judge.reports.rows import to_rows
from judge.scores.answer import aggregate
from tests.comparisons import compared, outcome, outcomes, sentences


def result() -> SampleResult:
    """Return an answer of a heading and three claims: judged, failed, judged by a fallback."""
    quote = Evidence(chunk_id="a", quote="十元", start=0, end=2, verified=True)
    full = outcome("f").model_copy(
        update={"evidence": (quote,), "cited_support": Support.PARTIAL, "source": "llm"}
    )
    citations = [
        Citation(sentence=i, marker=marker, start=0, end=3, chunk_id="a", status=status)
        for i, marker, status in (
            (0, "[1]", None),
            (1, "[1]", CitationStatus.VALID),
            (1, "【2】", CitationStatus.DANGLING),
        )
    ]
    flags = [
        Flag(name=FlagName.INJECTION_SUSPECTED),
        Flag(name=FlagName.CONFLICTING_EVIDENCE, sentence=1),
        Flag(name=FlagName.UNVERIFIED_QUOTE, sentence=1),
    ]
    found = outcomes("hf?N") | {1: full}
    claims = sentences("hf?N")
    return aggregate(Sample(qid="q"), claims, found, citations, flags=flags, signature="whole")


def test_a_row_a_sentence_with_the_same_keys_throughout() -> None:
    without, with_it = to_rows([result(), result()]), to_rows([compared("q", "f", "f")])
    assert len(without) == 8
    assert len({tuple(row) for row in (*without, *with_it)}) == 1
    whole = {(row["qid"], row["signature"], row["faithfulness"]) for row in without}
    assert whole == {("q", "whole", 1.0)}
    names = ("correctness", "correctness_precision", "correctness_recall", "reference_support")
    assert {row[name] for row in without for name in names} == {None}


# A heading, a verdict, a failure, and what stood in for one.
CELLS: list[dict[str, object]] = [
    {"kind": "heading", "judged": False, "citations": "[1]", "flags": "", "support": None}
    | {"unscored": None, "quote": None, "source": None},
    {"text": "x", "start": 1, "end": 2, "judged": True, "support": "full"}
    | {"cited_support": "partial", "source": "llm", "score": None, "unscored": None}
    | {"chunk_id": "a", "quote": "十元", "verified": True}
    | {"citations": "[1]=valid 【2】=dangling", "flags": "conflicting_evidence unverified_quote"},
    {"judged": True, "support": None, "unscored": "timeout", "detail": ""},
    {"support": "none", "source": "similarity", "unscored": "timeout", "verified": None},
]


def test_what_stands_in_a_row() -> None:
    for row, cells in zip(to_rows([result()]), CELLS, strict=True):
        assert {name: row[name] for name in cells} == cells


def test_correctness_and_support_by_the_reference_stand_in_a_row() -> None:
    """Precision (1 + 0)/2 and recall ½, of what the run's own judge said, not of the fallback."""
    rows = to_rows([compared("q", "hfcy?-", "p")])
    supports = [row["reference_support"] for row in rows]
    assert supports == [None, "full", "contradicted", None, None, "no_claim"]
    for row in rows:
        found = tuple(row[f"correctness{part}"] for part in ("", "_precision", "_recall"))
        assert found == (0.5, 0.5, 0.5)
