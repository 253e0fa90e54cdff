import math

import pytest

from judge.errors import InputError
from judge.records import Sample
from judge.retrieval import measure_retrieval, measure_run
from judge.retrieval.records import RankRules

Qrels = dict[str, dict[str, float]]
Run = dict[str, dict[str, float]]


def sample(qid: str, ranked: int, *at: int, missed: int = 0) -> Sample:
    """Return a ranking of c1 … cN with relevant chunks at ranks `at`, and others not ranked."""
    gold = [f"c{rank}" for rank in at] + [f"x{number}" for number in range(missed)]
    ids = tuple(f"c{rank}" for rank in range(1, ranked + 1))
    return Sample(qid=qid, retrieved=ids, gold_evidence=tuple(gold))


def test_the_highest_means_that_a_ranking_could_give() -> None:
    # Fifty relevant, then one, of which nothing is found, and one that is not ranked at all.
    queries = (sample("a", 50, *range(1, 51)), sample("b", 5, missed=1), sample("c", 0, missed=2))
    found = measure_retrieval(queries, RankRules(ks=(1, 20, 100))).ceiling
    assert found == pytest.approx(
        {
            "recall@1": (1 / 50 + 1 + 1 / 2) / 3,
            "recall@20": (20 / 50 + 1 + 1) / 3,
            "recall@100": 1,
            "precision@1": 1,
            "precision@20": (20 + 1 + 2) / 60,
            "precision@100": (50 + 1 + 2) / 300,
        }
    )


def test_who_is_not_measured_is_counted_and_named() -> None:
    samples = [
        sample("good", 3, 1),
        Sample(qid="不知", retrieved=("a",)),
        Sample(qid="nothing", retrieved=("a",), gold_evidence=()),
        Sample(qid="graded", retrieved=("a",), relevance={"a": 0.0, "b": -1.0}),
        Sample(qid="empty", gold_evidence=("a",)),
    ]
    for no_ranking, averaged, mrr in (("zero", 2, 1 / 2), ("skip", 1, 1)):
        report = measure_retrieval(samples, RankRules.model_validate({"no_ranking": no_ranking}))
        assert report.statuses == {"measured": 1, "no_gold": 1, "no_relevant": 2, "no_ranking": 1}
        assert (report.queries, report.averaged) == (5, averaged)
        assert report.mean["mrr"] == pytest.approx(mrr)
        assert report.mean["ndcg@5"] == pytest.approx(mrr)
        assert report.listed == {
            "no_gold": ("不知",),
            "no_relevant": ("nothing", "graded"),
            "no_ranking": ("empty",),
        }


def test_what_stands_twice_counts_once() -> None:
    ids = ("a", "b", "a", "a", "c")
    report = measure_retrieval([Sample(qid="q", retrieved=ids, gold_evidence=("a", "c"))])
    assert report.repeated == 1
    assert report.mean["precision@3"] == pytest.approx(2 / 3)
    assert report.mean["map"] == pytest.approx((1 + 2 / 3) / 2)
    assert any(each.startswith("1 query whose ranking names") for each in report.warnings)
    # A query without gold is counted, too.
    other = Sample(qid="other", retrieved=ids)
    both = measure_retrieval([Sample(qid="q", retrieved=ids, gold_evidence=("a",)), other])
    assert (both.averaged, both.repeated) == (1, 2)


def test_the_level_is_what_counts_as_relevant() -> None:
    qrels: Qrels = {"q": {"a": 1, "b": 2, "c": 0.5}}
    run: Run = {"q": {"a": 3, "b": 2, "c": 1}}
    for level, mrr, recall in ((None, 1, 1 / 3), (0.5, 1, 1 / 3), (0.75, 1, 1 / 2), (2, 0.5, 0)):
        report = measure_run(qrels, run, RankRules(relevance_level=level))
        assert report.mean["mrr"] == mrr
        assert report.mean["recall@1"] == pytest.approx(recall)
        # nDCG ignores the level: (1 + 2 / log2 3 + .5 / 2) / (2 + ...).
        assert report.mean["ndcg"] == pytest.approx(2.511860 / 2.880930, abs=1e-6)
        assert report.mean["ndcg@3"] == report.mean["ndcg"]


def test_gold_of_another_naming_is_refused_and_can_be_insisted_on() -> None:
    strange = Sample(qid="q", retrieved=("docA#1", "docB#2"), gold_evidence=("docA",))
    with pytest.raises(InputError, match=r"--gold-match prefix.*--gold-match exact"):
        measure_retrieval([strange])
    exact = measure_retrieval([strange], RankRules(gold_match="exact"))
    assert exact.mean["hit@1"] == 0
    assert any("not one relevant chunk is ranked" in each for each in exact.warnings)
    prefix = measure_retrieval([strange], RankRules(gold_match="prefix"))
    assert prefix.mean["hit@1"] == 1
    assert any("flatters recall" in each for each in prefix.warnings)


REFUSED: list[tuple[list[Sample], str]] = [
    ([], "holds no sample"),
    ([Sample(qid="q", retrieved=("a",))], r"says what is relevant \(1 query\)"),
    ([Sample(qid="q", retrieved=("a",), gold_evidence=())], r"nothing is relevant \(1 query"),
    ([Sample(qid="q", gold_evidence=("a",))], r"nothing is ranked \(1 query with gold\)"),
]


def test_nothing_to_measure_by_is_refused() -> None:
    for samples, says in REFUSED:
        with pytest.raises(InputError, match=says) as caught:
            measure_retrieval(samples)
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="must bear the names that the qrels give them"):
        measure_run({"q1": {"a": 1.0}}, {"q2": {"a": 1.0}})
    with pytest.raises(InputError, match="a score of query '问' is no number"):
        measure_run({"问": {"a": 1.0}}, {"问": {"a": math.nan, "b": 1}})
    with pytest.raises(InputError, match="--relevance-level"):
        measure_retrieval([sample("q", 3, 1)], RankRules(relevance_level=3))


def test_relevance_without_measure_breaks_nothing() -> None:
    run: Run = {"q": dict.fromkeys("abc", 1)}
    for grade, gain in ((1e100, "linear"), (5e-324, "linear"), (5e-324, "exp2"), (300, "exp2")):
        rules = RankRules.model_validate({"gain": gain})
        assert measure_run({"q": dict.fromkeys("abc", grade)}, run, rules).mean["mrr"] == 1
    for grade, gain in ((1e308, "linear"), (1000, "exp2")):
        rules = RankRules.model_validate({"gain": gain})
        with pytest.raises(InputError, match=r"for query 'q' is .*too much for gain") as caught:
            measure_run({"q": dict.fromkeys("abc", grade)}, run, rules)
        assert caught.value.field == "relevance"


def test_evidence_and_grades_that_name_different_chunks_have_measures_of_their_own() -> None:
    # By evidence c alone, at rank 3: RR and AP 1/3. By grades a (3) and c (1): DCG 3 + 1/log2 4 of
    # 3 + 1/log2 3.
    ids, grades = ("a", "b", "c"), {"a": 3.0, "c": 1.0}
    odd = Sample(qid="odd", retrieved=ids, gold_evidence=("c",), relevance=grades)
    even = Sample(qid="even", retrieved=ids, gold_evidence=("c", "a"), relevance=grades)
    report = measure_retrieval([odd], RankRules(ks=(1, 3)))
    found = {
        "mrr": 1 / 3,
        "map": 1 / 3,
        "hit@1": 0,
        "recall@3": 1,
        "precision@3": 1 / 3,
        "ndcg@3": 3.5 / 3.63093,
        "ndcg": 3.5 / 3.63093,
    }
    assert {name: report.mean[name] for name in found} == pytest.approx(found, abs=1e-5)
    assert (report.conflicts, report.conflicting, report.relevant_total) == (1, ("odd",), 1)
    assert "|gold:exact|graded:relevance|" in report.signature
    several = (odd.model_copy(update={"qid": f"q{number}"}) for number in range(7))
    (warning,) = measure_retrieval([*several, even]).warnings
    assert warning == (
        "gold_evidence and relevance name different chunks in 7 queries (q0, q1, q2, q3, q4 and 2 "
        "more): nDCG goes by relevance there, all other measures by gold_evidence"
    )
    # Where they name the same, one is enough.
    alone = measure_retrieval([even])
    assert alone.mean == measure_retrieval([Sample(qid="", retrieved=ids, relevance=grades)]).mean
    assert (alone.conflicts, alone.warnings, alone.mean["mrr"]) == (0, (), 1)
