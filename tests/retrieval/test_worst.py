import pytest

from judge.records import Chunk, Sample
from judge.retrieval import measure_retrieval
from judge.retrieval.records import RankRules, WorstQuery

IDS = tuple("abcdefgh")


def sample(qid: str, *gold: str) -> Sample:
    return Sample(qid=qid, query="问", retrieved=IDS, gold_evidence=gold)


def test_the_worst_have_the_lowest_average_precision() -> None:
    samples = (sample("1", "a"), sample("2", "h"), sample("3", "b"), sample("4", "b", "z"))
    found = measure_retrieval(samples, RankRules(ks=(1, 3)), most=3)
    assert [ranks.qid for ranks in found.worst] == ["2", "4", "3"]
    assert found.worst[0].measures["ap"] == 1 / 8
    assert (found.worst[0].query, found.worst[0].relevant, found.worst[0].found) == ("问", 1, 1)
    assert (found.missed_total, found.relevant_total) == (2, 5)


def worst(*samples: Sample, k: int = 1) -> WorstQuery:
    return measure_retrieval(samples, RankRules(ks=(k,), gold_match="exact")).worst[0]


def asking(query: str, *texts: str, gold: str = "2", ranked: str = "", qid: str = "q") -> Sample:
    """A query with chunks c1, c2, … in that order; gold and ranking as digits."""
    chunks = [Chunk(chunk_id=f"c{n}", text=text) for n, text in enumerate(texts, start=1)]
    names = None if not ranked else tuple(f"c{digit}" for digit in ranked)
    evidence = tuple(f"c{digit}" for digit in gold)
    return Sample(qid=qid, query=query, chunks=chunks, retrieved=names, gold_evidence=evidence)


ALLOWANCE = "Staff on the road may claim up to eighty euros a night for accommodation."
GUESSES = [
    (("What is the hotel allowance?", "A hotel allowance for pets.", ALLOWANCE), "no_shared_words"),
    (
        ("差旅住宿标准怎么规定？", "差旅报销须在三十天内提交。", "一线城市每晚600元。"),
        "no_shared_words",
    ),
    (
        (
            "Which hotel allowance do employees get abroad?",
            "Employees with pets get a hotel abroad without an allowance.",
            "Abroad the company pays up to eighty euros a night.",
        ),
        "other_words",
    ),
    # It has as many of the words as the chunk on top, so there is no reason.
    (("The hotel allowance", "The hotel allowance is old.", "The hotel allowance is 80."), None),
    # An empty question or text gives no hint.
    (("", "Pets.", ALLOWANCE), None),
    (("What is the hotel allowance?", "Pets.", ""), None),
]


@pytest.mark.parametrize(("texts", "guess"), GUESSES)
def test_a_guess_from_words(texts: tuple[str, ...], guess: str | None) -> None:
    assert worst(asking(*texts)).guess == guess


def test_what_was_on_top_and_what_was_missed() -> None:
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


UNRANKED = asking("hotel?", "Pets.", "Hotels.", ranked="1")
NOWHERE = asking("hotel?", "Pets.", gold="2")
ELSEWHERE = asking("pets?", "Pets.", "Hotels.", gold="1", ranked="12", qid="other")
CLASH = asking("a?", "Pets.", "Dogs.", gold="1", qid="clash")


def numbered(qid: str, gold: str, *texts: str) -> Sample:
    chunks = tuple(Chunk(chunk_id=str(n), text=text) for n, text in enumerate(texts, 1))
    return Sample(qid=qid, chunks=chunks, gold_evidence=(gold,))


@pytest.mark.parametrize(
    ("samples", "text"),
    [
        # In the sample itself; in that of another query; in none; under an id of two texts.
        ([UNRANKED], "Hotels."),
        ([NOWHERE, ELSEWHERE], "Hotels."),
        ([NOWHERE], ""),
        ([NOWHERE, ELSEWHERE, CLASH], ""),
        # Numbers are positions in one query, and say nothing of another's.
        ([numbered("q", "2", "Pets."), numbered("r", "1", "Hotels.", "Hotels.")], ""),
    ],
)
def test_texts_that_were_not_ranked(samples: list[Sample], text: str) -> None:
    report = measure_retrieval(samples, RankRules(ks=(1,), gold_match="exact"))
    missed = next(each.missed for each in report.worst if each.qid == "q")
    assert missed is not None
    assert (missed.rank, missed.text) == (None, text)
