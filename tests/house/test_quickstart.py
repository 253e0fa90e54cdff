"""A person's labels of the quickstart give the scores that were computed by hand."""

import json
from pathlib import Path
from typing import Any

from judge import Sample, evaluate, read_samples
from judge.backends.fake import FakeJudge
from judge.pipeline import evaluate_sample
from judge.records import Rules, SampleResult, Status, Support, Verdict

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
SAMPLES = {sample.qid: sample for sample in read_samples(FIXTURES / "quickstart.jsonl")}
EXPECTED: dict[str, dict[str, Any]] = {
    entry["qid"]: entry
    for entry in map(
        json.loads, (FIXTURES / "expected" / "quickstart.jsonl").read_text("utf-8").splitlines()
    )
}


async def by_hand(sample: Sample) -> SampleResult:
    """Run the whole path with a judge that returns the person's labels."""
    outcomes = {
        sentence["text"]: Verdict(
            support=Support(sentence["support"]),
            supporting=tuple(sentence["supporting"]),
            source="llm",
            signature="person",
        )
        for sentence in EXPECTED[sample.qid]["sentences"]
        if sentence["support"] is not None
    }
    return await evaluate_sample(sample, FakeJudge(outcomes), Rules())


async def test_sentences_citations_and_status() -> None:
    assert list(SAMPLES) == list(EXPECTED)
    for qid, sample in SAMPLES.items():
        result, expected = await by_hand(sample), EXPECTED[qid]
        assert [(s.text, s.kind.value) for s in result.sentences] == [
            (s["text"], s["kind"]) for s in expected["sentences"]
        ]
        assert [
            (c.sentence, c.marker, c.chunk_id, c.status and c.status.value, c.chunk_id is not None)
            for c in result.citations
        ] == [
            (c["sentence"], c["marker"], c["chunk_id"], c["status"], c["resolves"])
            for c in expected["citations"]
        ]
        assert result.status is Status(expected["status"])


def test_similarity_agrees_with_a_person() -> None:
    read = evaluate(SAMPLES.values())
    apart = {
        sentence["text"][:30]
        for result in read
        for sentence, judged in zip(
            EXPECTED[result.qid]["sentences"], result.sentences, strict=True
        )
        if isinstance(judged.outcome, Verdict)
        and (judged.outcome.support is Support.FULL) != (sentence["support"] == "full")
    }
    # Wine is denied as a kind of alcohol, in other words; twelve claims are undecided.
    assert apart == {"Wine with dinner is reimbursed"}
