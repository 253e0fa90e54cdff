import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.advice.diagnosis import diagnose
from judge.advice.records import Diagnoses, Diagnosis
from judge.retrieval.records import RankingReport
from tests.advice.diagnosis.answered import answered
from tests.advice.diagnosis.reports import report

BURIED = {"recall@20": 0.9, "mrr@5": 0.3}


def names(found: Diagnoses) -> list[str]:
    return [each.name for each in found.found]


def only(found: Diagnoses) -> Diagnosis:
    (one,) = found.found
    return one


def test_found_but_not_on_top_points_to_reranking() -> None:
    found = only(diagnose(report(BURIED, 0.05)))
    assert found.name == "reranking"
    recall, mrr = found.grounds
    assert (recall.figure.measure, recall.figure.value, recall.op, recall.than) == (
        ("recall@20", 0.9, "at_least", 0.8)
    )
    assert (mrr.figure.measure, mrr.figure.value, mrr.op, mrr.than) == ("mrr@5", 0.3, "under", 0.5)
    assert found.sure is True
    assert "rerank" in found.advice[0].en
    assert "重排序" in found.advice[0].zh


@pytest.mark.parametrize(
    ("recall", "mrr", "wanted"),
    [
        (0.8, 0.499, ["reranking"]),
        (0.8, 0.5, []),
        (0.799, 0.3, []),
        (0.7, 0.3, []),
        (0.699, 0.3, ["low_recall"]),
        (0.5, 0.9, ["low_recall"]),
    ],
)
def test_where_high_and_low_begin(recall: float, mrr: float, wanted: list[str]) -> None:
    assert names(diagnose(report({"recall@20": recall, "mrr@5": mrr}))) == wanted


def test_low_recall_points_to_what_stands_before_the_ranking() -> None:
    found = only(diagnose(report({"recall@20": 0.4, "mrr@5": 0.3})))
    said = " ".join(advice.en for advice in found.advice)
    for word in ("embedding", "chunking", "filters", "hybrid"):
        assert word in said
    said = " ".join(advice.zh for advice in found.advice)
    for word in ("嵌入", "切分", "过滤", "混合检索"):
        assert word in said


def test_the_deepest_recall_says_whether_reranking_could_mend_it() -> None:
    # All that is relevant stands at rank 31: within the 100 that could be reranked.
    deep = report({"recall@10": 0.0, "recall@20": 0.0, "recall@50": 1.0, "recall@100": 1.0})
    assert names(diagnose(deep)) == []
    buried = deep.model_copy(update={"mean": {**deep.mean, "mrr": 1 / 31}})
    assert only(diagnose(buried)).name == "reranking"
    rising = {"recall@10": 0.1, "recall@20": 0.2, "recall@50": 0.3, "recall@100": 0.6}
    for deepest in ("recall@100", "recall@50", "recall@20", "recall@10"):
        found = only(diagnose(report({**rising, "mrr": 0.9})))
        assert [ground.figure.measure for ground in found.grounds] == [deepest]
        del rising[deepest]
    assert "not among the first k" in found.finding.en
    assert "没有进入前 k 名" in found.finding.zh


def test_recall_is_not_called_low_where_no_ranking_could_bring_it_up() -> None:
    # Fifty relevant each, all on top: of fifty, twenty are the most that twenty ranks can hold.
    best = diagnose(report({"recall@20": 0.4, "mrr": 1.0}, ceiling={"recall@20": 0.4}))
    assert best.found == ()
    (rule,) = best.unjudged
    assert (rule.name, rule.missing) == ("low_recall", (("recall@100", "recall@50"),))
    (capped,) = rule.capped
    assert (capped.measure, capped.ceiling) == ("recall@20", 0.4)
    deepest = {"recall@20": 0.05, "recall@100": 0.25}
    (rule,) = diagnose(report({**deepest, "mrr": 1.0}, ceiling=deepest)).unjudged
    assert rule.missing == ()
    assert [each.measure for each in rule.capped] == ["recall@100"]
    # Nor can such a recall be high, so that reranking is neither found nor ruled out.
    buried = diagnose(report({"recall@20": 0.35, "mrr": 0.3}, ceiling={"recall@20": 0.4}))
    assert [rule.name for rule in buried.unjudged] == ["reranking", "low_recall"]
    # Enough can be reached, and little is.
    low = report({"recall@20": 0.4, "mrr": 1.0}, ceiling={"recall@20": 0.7})
    assert names(diagnose(low)) == ["low_recall"]


@pytest.mark.parametrize(("reach", "sure"), [(0.05, True), (0.15, False), (None, None)])
def test_a_diagnosis_says_whether_the_intervals_bear_it_out(
    reach: float | None, sure: object
) -> None:
    found = only(diagnose(report(BURIED, reach)))
    assert found.sure is sure


def test_the_first_measure_that_was_measured_is_taken() -> None:
    found = only(diagnose(report({"recall@20": None, "recall@10": 0.85, "mrr": 0.4})))
    assert [ground.figure.measure for ground in found.grounds] == ["recall@10", "mrr"]


def test_a_rule_without_its_number_is_listed_unless_another_rules_it_out() -> None:
    found = diagnose(report({"recall@20": 0.9}))
    (rule,) = found.unjudged
    assert (rule.name, rule.missing) == ("reranking", (("mrr@5", "mrr"),))
    assert diagnose(report({"recall@20": 0.75})).unjudged == ()
    nothing = diagnose(report({"recall@20": None, "mrr": math.nan}))
    assert [rule.name for rule in nothing.unjudged] == ["reranking", "low_recall"]
    assert nothing.found == ()


def changed(
    ndcg: float, recall: float, reach: float | None = 0.02, was: RankingReport | None = None
) -> Diagnoses:
    before = was or report({"ndcg@10": 0.6, "recall@20": 0.75}, reach)
    now = report({"ndcg@10": ndcg, "recall@20": recall, "mrr": 0.6}, reach)
    return diagnose(now, before=before)


def test_a_better_order_of_as_much_shows_that_the_reranker_works() -> None:
    # Both intervals reach .02: that of the difference √(.02² + .02²) = .0283.
    found = only(changed(0.7, 0.76))
    assert found.name == "reranker_works"
    up, stands = found.grounds
    assert up.before is not None
    assert (up.figure.value, up.before.value) == (0.7, 0.6)
    assert up.change == pytest.approx((0.0717, 0.1283), abs=1e-4)
    assert stands.change == pytest.approx((0.01 - 0.0283, 0.01 + 0.0283), abs=1e-4)
    assert found.sure is True


@pytest.mark.parametrize(
    ("ndcg", "recall", "reach", "works"),
    [
        (0.625, 0.75, 0.02, False),  # .025 up, within .0283: noise
        (0.625, 0.75, 0.01, True),  # beyond .0141
        (0.615, 0.75, 0.001, False),  # surely up, by too little to count
        (0.7, 0.79, 0.02, False),  # recall rose by .04, beyond .0283
        (0.7, 0.70, 0.02, False),  # recall fell
        (0.75, 0.82, 0.08, False),  # recall .07 apart: nobody can say that it stands
        (0.62, 0.75, None, True),  # without intervals .02 counts
        (0.62, 0.769, None, True),
        (0.62, 0.77, None, False),
        (0.619, 0.75, None, False),
    ],
)
def test_noise_is_no_change(ndcg: float, recall: float, reach: float | None, works: object) -> None:
    assert ("reranker_works" in names(changed(ndcg, recall, reach))) is works


def test_a_reranker_of_a_hundred_may_raise_the_recall_of_twenty() -> None:
    before = report({"ndcg@10": 0.6, "recall@20": 0.7, "recall@100": 0.9}, 0.02)
    now = report({"ndcg@10": 0.7, "recall@20": 0.8, "recall@100": 0.9, "mrr": 0.6}, 0.02)
    found = only(diagnose(now, before=before))
    assert [ground.figure.measure for ground in found.grounds] == ["ndcg@10", "recall@100"]


def test_that_recall_stands_is_unsure_where_its_interval_is_wide() -> None:
    found = only(changed(0.8, 0.75, 0.1))
    assert [ground.sure for ground in found.grounds] == [True, False]
    assert found.sure is False


@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from([None, 0.0, 0.01, 0.1]))
def test_nothing_changed_against_itself(ndcg: float, recall: float, reach: float | None) -> None:
    same = report({"ndcg@10": ndcg, "recall@20": recall, "mrr": 0.6}, reach)
    assert "reranker_works" not in names(diagnose(same, before=same))


def test_numbers_made_in_another_way_are_not_compared() -> None:
    other = report({"ndcg@10": 0.1, "recall@20": 0.75}, 0.01, signature="retrieval|k:5|gain:exp2")
    found = changed(0.7, 0.75, was=other)
    assert found.found == ()
    (caution,) = found.cautions
    assert "gain:exp2" in caution.en
    assert "不作比较" in caution.zh


def test_other_cut_offs_and_seeds_are_no_other_way() -> None:
    other = report(
        {"ndcg@10": 0.6, "recall@20": 0.75},
        0.01,
        signature="retrieval|k:10,20|order:given|gain:linear|seed:9|judge:0",
    )
    assert names(changed(0.7, 0.75, was=other)) == ["reranker_works"]


def test_another_number_of_queries_is_said() -> None:
    (caution,) = changed(0.7, 0.75, was=report({"ndcg@10": 0.6}, queries=50)).cautions
    assert "50 queries and this one over 100" in caution.en


@pytest.mark.parametrize(
    ("faithfulness", "recall", "wanted"),
    [
        (0.79, None, ["unfaithful"]),
        (0.8, None, []),
        (None, 0.69, ["wrong"]),
        (None, 0.7, []),
        (0.5, 0.5, ["unfaithful", "wrong"]),
        (None, None, []),
    ],
)
def test_hit_but_unfaithful_or_wrong_points_to_generation(
    faithfulness: float | None, recall: float | None, wanted: list[str]
) -> None:
    good = report({"hit@5": 0.8, "recall@20": 0.9, "mrr": 0.8})
    found = diagnose(good, answers=answered(faithfulness, recall))
    assert names(found) == wanted
    for each in found.found:
        said = " ".join(advice.en for advice in each.advice)
        assert all(word in said for word in ("prompt", "noise", "scattered evidence"))
        assert each.grounds[0].figure.measure == "hit@5"
        assert each.sure is False  # intervals of ±.5 settle nothing


def test_without_a_hit_generation_is_not_to_blame() -> None:
    poor = report({"hit@5": 0.79, "recall@20": 0.75, "mrr": 0.6})
    assert diagnose(poor, answers=answered(0.1, 0.1)).found == ()


def test_intervals_of_both_settle_it() -> None:
    good = report({"hit@5": 0.9, "recall@20": 0.9, "mrr": 0.8}, 0.02)
    sure = diagnose(good, answers=answered(0.7, None, 0.05)).found
    assert [each.sure for each in sure] == [True]
    hint = diagnose(good, answers=answered(0.78, None, 0.05)).found
    assert [each.sure for each in hint] == [False]


def test_diagnoses_are_called_rules_of_thumb() -> None:
    assert "rules of thumb" in diagnose(report({})).source.en
