import pytest

from judge.records import Chunk, Sample
from judge.retrieval import measure_retrieval
from judge.retrieval.records import RankingReport, RankRules, WorstQuery

RULES = RankRules(ks=(1, 3))
IDS = tuple("abcdefgh")


def report(*samples: Sample, most: int = 5, rules: RankRules = RULES) -> RankingReport:
    return measure_retrieval(samples, rules, most=most)


def sample(qid: str, *gold: str) -> Sample:
    return Sample(qid=qid, query="问", retrieved=IDS, gold_evidence=gold)


def test_the_worst_have_the_lowest_average_precision() -> None:
    found = report(sample("1", "a"), sample("2", "h"), sample("3", "b"), sample("4", "b"), most=3)
    assert [ranks.qid for ranks in found.worst] == ["2", "3", "4"]
    assert found.worst[0].measures["ap"] == 1 / 8
    assert (found.worst[0].query, found.worst[0].relevant, found.worst[0].found) == ("问", 1, 1)


def test_gold_that_is_missed_and_where_it_stands() -> None:
    grades = {"a": 1.0, "e": 1.0, "h": 1.0, "x": 1.0, "g": 2.0, "y": 0.0}
    first = Sample(qid="q", retrieved=IDS, relevance=grades)
    found = report(first, sample("r", "c", "d", "z"))
    assert [(gold.qid, gold.chunk_id, gold.relevance, gold.rank) for gold in found.missed] == [
        ("q", "g", 2, 7),
        ("q", "x", 1, None),
        ("r", "z", 1, None),
        ("q", "h", 1, 8),
        ("q", "e", 1, 5),
    ]
    assert (found.missed_total, found.relevant_total) == (6, 8)


def test_what_is_irrelevant_and_on_top() -> None:
    found = report(sample("1", "a"), sample("2", "c"), sample("3", "h"), sample("4", "b", "x"))
    assert [(top.qid, top.first_relevant, top.chunk_ids) for top in found.topped] == [
        ("3", 8, ("a", "b", "c")),
        ("2", 3, ("a", "b")),
        ("4", 2, ("a",)),
    ]
    assert found.topped_total == 3


def test_lists_show_texts_that_this_or_another_sample_has() -> None:
    own = [Chunk(chunk_id=name, text=f"The text of {name}.") for name in ("a", "7")]
    asked = Sample(qid="q", retrieved=(*"abcd", "7"), chunks=own, gold_evidence=("z", "7"))
    other = Sample(qid="r", chunks=(Chunk(chunk_id="z", text="Only r has this."),))
    found = report(asked, other)
    assert {gold.chunk_id: gold.text for gold in found.missed} == {
        "z": "Only r has this.",
        "7": "The text of 7.",
    }
    assert [top.text for top in found.topped] == ["The text of a."]


def test_queries_that_are_not_measured_are_in_no_list() -> None:
    nothing = Sample(qid="nothing", retrieved=IDS, gold_evidence=())
    empty = Sample(qid="empty", gold_evidence=("a",))
    rules = RankRules(ks=(3,), no_relevant="zero")
    found = report(sample("1", "a"), Sample(qid="bare", retrieved=IDS), nothing, empty, rules=rules)
    assert [ranks.qid for ranks in found.worst] == ["empty", "1"]
    assert [gold.qid for gold in found.missed] == ["empty"]
    assert (found.topped, found.topped_total) == ((), 0)
    assert (found.missed_total, found.relevant_total) == (1, 2)
    skipped = report(sample("1", "a"), empty, nothing, rules=RankRules(ks=(3,), no_ranking="skip"))
    assert (skipped.missed, skipped.topped) == ((), ())
    assert (skipped.missed_total, skipped.relevant_total, skipped.topped_total) == (0, 1, 0)


ALLOWANCE = "Staff on the road may claim up to eighty euros a night for accommodation."


def worst(*samples: Sample, k: int = 1) -> WorstQuery:
    return measure_retrieval(samples, RankRules(ks=(k,))).worst[0]


def asking(query: str, *texts: str, gold: str = "2", ranked: str = "") -> Sample:
    """A query with chunks 1, 2, … in that order; gold and ranking as digits."""
    chunks = [Chunk(chunk_id=f"c{n}", text=text) for n, text in enumerate(texts, start=1)]
    names = None if not ranked else tuple(f"c{digit}" for digit in ranked)
    evidence = tuple(f"c{digit}" for digit in gold)
    return Sample(qid="q", query=query, chunks=chunks, retrieved=names, gold_evidence=evidence)


GUESSES: list[tuple[Sample, str | None, str]] = [
    (
        asking("What is the hotel allowance?", "A hotel allowance for pets.", ALLOWANCE),
        "no_shared_words",
        "",
    ),
    (
        asking("差旅住宿标准怎么规定？", "差旅报销须在三十天内提交。", "一线城市每晚600元。"),
        "no_shared_words",
        "",
    ),
    (
        asking(
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
        asking(
            "Which hotel allowance do employees get abroad?",
            "Employees with pets get a hotel abroad without an allowance.",
            "Abroad the company pays up to eighty euros a night.",
        ),
        "other_words",
        "",
    ),
    # It has as many of the words as the chunk on top, so there is no reason.
    (
        asking("The hotel allowance", "The hotel allowance is old.", "The hotel allowance is 80."),
        None,
        "",
    ),
    # Neither an empty question nor an empty text tells anything.
    (asking("", "Pets.", ALLOWANCE), None, ""),
    (asking("What is the hotel allowance?", "Pets.", ""), None, ""),
]


@pytest.mark.parametrize(("asked", "guess", "beside"), GUESSES)
def test_a_guess_from_words(asked: Sample, guess: str | None, beside: str) -> None:
    found = worst(asked)
    assert (found.guess, found.beside) == (guess, beside)


def test_what_stood_on_top_and_what_was_missed() -> None:
    asked = asking("hotel?", "Pets.", "Cats.", "Hotels.", "Inns.", gold="134", ranked="1243")
    found = worst(asked, k=3)
    # The relevant first is not to blame; c3 is beyond the first three, and c4 is not.
    assert found.top is not None
    assert (found.top.chunk_id, found.top.rank, found.top.text) == ("c2", 2, "Cats.")
    assert found.missed is not None
    assert (found.missed.chunk_id, found.missed.rank, found.missed.text) == ("c3", 4, "Hotels.")
    # Among the first k, the last relevant chunk below an irrelevant one is shown.
    late = worst(asked, k=4)
    assert late.missed is not None
    assert late.missed.chunk_id == "c3"
    # Nothing to look at in a ranking that could be no better.
    good = worst(asking("hotel?", "Hotels.", "Pets.", gold="1"))
    assert (good.top, good.missed, good.guess) == (None, None, None)


def test_texts_that_were_not_ranked() -> None:
    unranked = asking("hotel?", "Pets.", "Hotels.", ranked="1")
    other = asking("pets?", "Pets.", "Hotels.", gold="1", ranked="12")
    nowhere = asking("hotel?", "Pets.", gold="2")
    elsewhere = other.model_copy(update={"qid": "other"})
    clash = asking("a?", "Pets.", "Dogs.", gold="1").model_copy(update={"qid": "clash"})
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
