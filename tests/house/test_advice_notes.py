"""What is worth knowing besides, by the data."""

import json

from judge.advice.recommend.advising import advise, needs
from judge.advice.recommend.profile import HELD
from judge.advice.records import Profile, Wishes
from tests.advised import counted


def noted(found: Profile, **wishes: object) -> str:
    return json.dumps(advise(found, Wishes.model_validate(wishes)).notes)


def test_notes() -> None:
    assert "Some queries have degrees of relevance: nDCG weighs them" in noted(
        counted(9, 90, graded=True)
    )
    assert "No query has two degrees" in noted(counted(9, 90))
    assert "SQuAD" in noted(counted(9, 90), task="qa")
    assert "MS MARCO" in noted(counted(9, 90), task="passage")
    assert "ndcg@10 is the measure they report" in noted(counted(30, 60))
    assert "BEIR" not in noted(counted(9, 90))
    assert "may be cut" in noted(counted(9, 90, counted="ranking"))
    assert "retrieve 100 " in noted(counted(9, 90, longest=20))
    assert "retrieve" not in noted(counted(9, 90, longest=100))
    assert "Chunks to search: only 40;" in noted(counted(9, 31), corpus_size=40)
    assert "something relevant: only 49; differences" in noted(counted(9, 90, queries=49))
    assert "something relevant: only" not in noted(counted(9, 90, queries=50))
    assert "--corpus-size N" in noted(counted(9, None))
    nothing = dict.fromkeys(HELD, 0.0)
    assert "Nothing says what is relevant" in noted(counted(None, None, share=nothing))
    assert "There is no ranking" in noted(counted(None, None, share=nothing))
    assert "Gold says of every query" in noted(counted(None, None))


def test_few_queries_are_told_of_one_as_of_many() -> None:
    assert "something relevant: only 1; differences" in noted(counted(9, 90, queries=1))
    assert "may be chance" in noted(counted(9, 90, queries=1))


def test_no_more_is_to_be_retrieved_than_there_is() -> None:
    # A cut-off of 100 and 15 chunks in all, of which 12 are ranked.
    found = noted(counted(4, 11, longest=12), corpus_size=15, missed_cost="high")
    assert "retrieve 15 to measure" in found
    assert "retrieve 100" not in found
    assert "Chunks to search: only 15;" in found
    # All there is stands in the ranking.
    found = noted(counted(4, 11, longest=15), corpus_size=15, missed_cost="high")
    assert "retrieve" not in found
    assert "Chunks to search: only 15;" in found
    assert "Chunks to search" not in noted(counted(4, 96), corpus_size=100, missed_cost="high")


def test_correctness_is_explained_where_there_are_gold_answers() -> None:
    def referenced(count: int) -> Profile:
        return counted(9, 90, fitting=dict.fromkeys(needs(), 0) | {"correctness": count})

    assert "correctness" not in noted(referenced(0))
    for count in (1, 49, 50, 99):
        found = noted(referenced(count))
        assert "read correctness_recall there" in found
        assert "Take a language model as the judge of correctness: it sees meaning." in found
        few = f"Samples with an answer and a gold answer: only {count}; differences"
        assert (few in found) == (count < 50)
    assert "long answers want correctness and faithfulness" in noted(counted(9, 90), task="qa")


def test_correctness_says_what_it_does_not_tell() -> None:
    found = counted(1, 9, fitting=dict.fromkeys(needs(), 0) | {"correctness": 60})
    for lang, said in (("en", "not whether the chunks support it"), ("zh", "不看片段是否支持")):
        families = advise(found, Wishes(), "zh" if lang == "zh" else "en").families
        told = next(each for each in families if each.family == "correctness")
        assert (told.fits, told.samples) == (True, 60)
        assert told.command == "judge score --correctness"
        assert told.measures == ("correctness", "correctness_precision", "correctness_recall")
        assert said in told.why
