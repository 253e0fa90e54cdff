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
from tests.compared import compared

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
    rows = to_rows([result(), result()])
    assert len(rows) == 8
    assert len({tuple(row) for row in rows}) == 1
    assert [row["sentence"] for row in rows[:4]] == [0, 1, 2, 3]
    assert {row["qid"] for row in rows} == {"q"}
    assert {row["signature"] for row in rows} == {"whole"}
    assert {row["faithfulness"] for row in rows} == {1.0}
    assert all(isinstance(cell, str | int | float | None) for row in rows for cell in row.values())


def test_a_heading_is_there_and_not_judged() -> None:
    row = to_rows([result()])[0]
    assert (row["kind"], row["judged"], row["citations"], row["flags"]) == (
        "heading",
        False,
        "[1]",
        "",
    )
    assert row["support"] is row["unscored"] is row["quote"] is row["source"] is None


def test_a_verdict() -> None:
    row = to_rows([result()])[1]
    assert (row["text"], row["start"], row["end"]) == ("一", 2, 3)
    assert (row["judged"], row["support"], row["cited_support"]) == (True, "full", "partial")
    assert (row["source"], row["score"], row["unscored"]) == ("llm", None, None)
    assert (row["chunk_id"], row["quote"], row["verified"]) == ("a", "十元", True)
    assert row["citations"] == "[1]=valid 【2】=dangling"
    assert row["flags"] == "conflicting_evidence unverified_quote"


def test_what_the_evidence_lacks_stands_beside_the_flags() -> None:
    flag = Flag(name=FlagName.MISMATCH_NUMBER, sentence=1, detail="9.9 billion")
    made = result()
    row = to_rows([made.model_copy(update={"flags": (*made.flags, flag)})])[1]
    assert row["flags"] == "conflicting_evidence unverified_quote mismatch:number"
    assert row["missing"] == "9.9 billion"
    assert to_rows([made])[1]["missing"] == ""


def test_a_failure_is_no_verdict_and_a_fallback_shows_both() -> None:
    failed, stood_in = to_rows([result()])[2:]
    assert (failed["judged"], failed["support"], failed["score"]) == (True, None, None)
    assert (failed["unscored"], failed["detail"]) == ("timeout", "after 60 s")
    assert (stood_in["support"], stood_in["source"], stood_in["score"]) == (
        "none",
        "similarity",
        0.2,
    )
    assert (stood_in["unscored"], stood_in["verified"]) == ("timeout", None)


def test_correctness_stands_beside_faithfulness_and_support_by_the_reference_by_its_sentence() -> (
    None
):
    """Precision (1 + 0)/2 and recall ½, of what the run's own judge said."""
    rows = to_rows([compared("q", "hfcy?-", "p")])
    assert [row["reference_support"] for row in rows] == [
        None,
        "full",
        "contradicted",
        None,  # by the fallback alone
        None,
        "no_claim",
    ]
    for row in rows:
        found = tuple(row[f"correctness{part}"] for part in ("", "_precision", "_recall"))
        assert found == (0.5, 0.5, 0.5)


def test_the_keys_are_the_same_whether_correctness_was_asked_for_or_not() -> None:
    without, with_it = to_rows([result()]), to_rows([compared("q", "f", "f")])
    assert [*without[0]] == [*with_it[0]]
    names = ("correctness", "correctness_precision", "correctness_recall", "reference_support")
    assert {row[name] for row in without for name in names} == {None}
