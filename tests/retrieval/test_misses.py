"""Why a relevant chunk was missed, as the report on a file guesses it."""

import json

import pytest

from judge.records import Chunk, Sample
from judge.retrieval import measure_retrieval
from judge.retrieval.records import RankingReport, RankRules, WorstQuery

LEAVE = "Employees of the company get {} days of annual leave in every calendar year, and they may "
LEAVE += "carry over at most five of these days into the first quarter of the year that follows."
ALLOWANCE = "Staff on the road may claim up to eighty euros a night for accommodation."


def worst(*samples: Sample, k: int = 1) -> WorstQuery:
    return measure_retrieval(samples, RankRules(ks=(k,))).worst[0]


def sample(query: str, *texts: str, gold: str = "2", ranked: str = "") -> Sample:
    """A query with chunks 1, 2, … in that order; gold and ranking as digits."""
    chunks = [Chunk(chunk_id=f"c{n}", text=text) for n, text in enumerate(texts, start=1)]
    names = None if not ranked else tuple(f"c{digit}" for digit in ranked)
    evidence = tuple(f"c{digit}" for digit in gold)
    return Sample(qid="q", query=query, chunks=chunks, retrieved=names, gold_evidence=evidence)


GUESSES: list[tuple[Sample, str | None, str]] = [
    # One word of thirty is another: the chunk above is a near-copy.
    (
        sample("How many days of leave?", LEAVE.format("ten"), LEAVE.format("twelve")),
        "near_copy",
        "c1",
    ),
    (
        sample("What is the hotel allowance?", "A hotel allowance for pets.", ALLOWANCE),
        "no_shared_words",
        "",
    ),
    (
        sample("差旅住宿标准怎么规定？", "差旅报销须在三十天内提交。", "一线城市每晚600元。"),
        "no_shared_words",
        "",
    ),
    (
        sample(
            "Who approves travel requests, and which receipts must be kept?",
            "Office hours are nine to five.",
            "Travel requests are approved by the head of department.",
            "Receipts must be kept for ten years.",
            gold="23",
        ),
        "split",
        "c2",
    ),
    (
        sample(
            "Which hotel allowance do employees get abroad?",
            "Employees with pets get a hotel abroad without an allowance.",
            "Abroad the company pays up to eighty euros a night.",
        ),
        "other_words",
        "",
    ),
    # It shares its words as well as what stands on top: no reason shows.
    (
        sample("The hotel allowance", "The hotel allowance is old.", "The hotel allowance is 80."),
        None,
        "",
    ),
    # Neither an empty question nor an empty text tells anything.
    (sample("", "Pets.", ALLOWANCE), None, ""),
    (sample("What is the hotel allowance?", "Pets.", ""), None, ""),
]


@pytest.mark.parametrize(("asked", "guess", "beside"), GUESSES)
def test_a_guess_from_words(asked: Sample, guess: str | None, beside: str) -> None:
    found = worst(asked)
    assert (found.guess, found.beside) == (guess, beside)


def test_what_stood_on_top_and_what_was_missed() -> None:
    asked = sample("hotel?", "Pets.", "Cats.", "Hotels.", "Inns.", gold="134", ranked="1243")
    found = worst(asked, k=3)
    # The relevant first is not to blame; c3 is beyond the first three, and c4 is not.
    assert found.top is not None
    assert (found.top.chunk_id, found.top.rank, found.top.text) == ("c2", 2, "Cats.")
    assert found.missed is not None
    assert (found.missed.chunk_id, found.missed.rank, found.missed.text) == ("c3", 4, "Hotels.")
    # What is among the first k, and behind something irrelevant, came late.
    late = worst(asked, k=4)
    assert late.missed is not None
    assert late.missed.chunk_id == "c3"
    # Nothing to look at in a ranking that could be no better.
    good = worst(sample("hotel?", "Hotels.", "Pets.", gold="1"))
    assert (good.top, good.missed, good.guess) == (None, None, None)


def test_texts_that_were_not_ranked() -> None:
    unranked = sample("hotel?", "Pets.", "Hotels.", ranked="1")
    other = sample("pets?", "Pets.", "Hotels.", gold="1", ranked="12")
    nowhere = sample("hotel?", "Pets.", gold="2")
    elsewhere = other.model_copy(update={"qid": "other"})
    clash = sample("a?", "Pets.", "Dogs.", gold="1").model_copy(update={"qid": "clash"})
    numbered = [
        Sample(qid="q", chunks=(Chunk(chunk_id="1", text="Pets."),), gold_evidence=("2",)),
        Sample(
            qid="other",
            chunks=tuple(Chunk(chunk_id=str(n), text="Hotels.") for n in (1, 2)),
            gold_evidence=("1",),
        ),
    ]
    table = [
        # In the sample itself; in that of another query; in none; under an id of two texts.
        ([unranked], "Hotels."),
        ([nowhere, elsewhere], "Hotels."),
        ([nowhere], ""),
        ([nowhere, elsewhere, clash], ""),
        # Numbers count the chunks of one query, and say nothing of another's.
        (numbered, ""),
    ]
    for samples, text in table:
        report = measure_retrieval(samples, RankRules(ks=(1,), gold_match="exact"))
        missed = next(each.missed for each in report.worst if each.qid == "q")
        assert missed is not None
        assert (missed.rank, missed.text) == (None, text)


def test_older_reports_are_read() -> None:
    report = measure_retrieval([sample("hotel?", "Pets.", "Hotels.")], RankRules(ks=(1,)))
    fields = json.loads(report.model_dump_json())
    for each in fields["worst"]:
        for name in ("top", "missed", "guess", "beside"):
            del each[name]
    assert RankingReport.model_validate_json(json.dumps(fields)).worst[0].missed is None
