from judge.records import (
    Citation,
    CitationStatus,
    Evidence,
    Flag,
    FlagName,
    JudgeOutcome,
    Sample,
    SampleResult,
    Sentence,
    SentenceKind,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.reports.rows import to_rows
from judge.scores.answer import aggregate
from tests.comparisons import compared

TIMEOUT = Unscored(reason=UnscoredReason.TIMEOUT, detail="after 60 s")


def result() -> SampleResult:
    kinds = ("heading", "claim", "claim", "claim")
    sentences = [
        Sentence(index=i, start=2 * i, end=2 * i + 1, text=text, kind=SentenceKind(kind))
        for i, (text, kind) in enumerate(zip("题一二三", kinds, strict=True))
    ]
    found = Evidence(chunk_id="a", quote="十元", start=0, end=2, verified=True)
    full = Verdict(
        support=Support.FULL,
        cited_support=Support.PARTIAL,
        evidence=(found,),
        source="llm",
        signature="llm:m",
    )
    stood_in = Verdict(
        support=Support.NONE, source="similarity", signature="sim", score=0.2, fallback_from=TIMEOUT
    )
    outcomes: dict[int, JudgeOutcome] = {1: full, 2: TIMEOUT, 3: stood_in}
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
    return aggregate(
        Sample(qid="q"), sentences, outcomes, citations, flags=flags, signature="whole"
    )


def test_a_row_a_sentence_with_the_same_keys_throughout() -> None:
    without, with_it = to_rows([result(), result()]), to_rows([compared("q", "f", "f")])
    assert len(without) == 8
    assert len({tuple(row) for row in (*without, *with_it)}) == 1
    assert [row["sentence"] for row in without[:4]] == [0, 1, 2, 3]
    whole = {(row["qid"], row["signature"], row["faithfulness"]) for row in without}
    assert whole == {("q", "whole", 1.0)}
    assert all(isinstance(x, str | int | float | None) for row in without for x in row.values())
    names = ("correctness", "correctness_precision", "correctness_recall", "reference_support")
    assert {row[name] for row in without for name in names} == {None}


# A heading, a verdict, a failure, and what stood in for one.
CELLS: list[dict[str, object]] = [
    {"kind": "heading", "judged": False, "citations": "[1]", "flags": "", "support": None}
    | {"unscored": None, "quote": None, "source": None},
    {"text": "一", "start": 2, "end": 3, "judged": True, "support": "full"}
    | {"cited_support": "partial", "source": "llm", "score": None, "unscored": None}
    | {"chunk_id": "a", "quote": "十元", "verified": True}
    | {"citations": "[1]=valid 【2】=dangling", "flags": "conflicting_evidence unverified_quote"},
    {"judged": True, "support": None, "unscored": "timeout", "detail": "after 60 s"},
    {"support": "none", "source": "similarity", "score": 0.2, "unscored": "timeout"}
    | {"verified": None},
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
