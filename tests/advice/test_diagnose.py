import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.advice.diagnose import answer_figures, bands, diagnose, figures, targets
from judge.advice.records import Diagnoses, Diagnosis, Use
from judge.advice.rules import diagnosis_table
from judge.errors import ConfigError
from judge.records import QuadrantTable
from judge.retrieval.records import RankingReport
from judge.scores.intervals import wilson
from tests.advised import answered, report

LEVELS = ("poor", "fair", "good", "excellent")
PRODUCTION = ("below", "minimum", "good", "excellent")


def level(measure: str, value: float) -> str:
    (band,) = bands(report({measure: value})).bands
    return band.level


def production(measure: str, value: float) -> str:
    (band,) = bands(report({measure: value})).production
    return band.level


BANDS = [("recall@1000", 0.6, 0.75, 0.85), ("mrr", 0.4, 0.6, 0.8), ("ndcg@10", 0.5, 0.7, 0.85)]
NEEDED = [("recall@5", 0.7, 0.8, 0.85), ("mrr", 0.5, 0.7, 0.8)]


def test_a_band_begins_at_its_limit() -> None:
    for read, names, table in ((level, LEVELS, BANDS), (production, PRODUCTION, NEEDED)):
        for measure, *limits in table:
            assert read(measure, 0.0) == names[0]
            for under, name, limit in zip(names, names[1:], limits, strict=False):
                assert read(measure, limit - 0.001) == under, (measure, limit)
                assert read(measure, limit) == name, (measure, limit)
            assert read(measure, 1.0) == "excellent"
    # A mean that rounding put under its limit has reached it.
    mean = (0.6 + 0.7 + 0.8) / 3
    assert mean < 0.7
    assert level("ndcg@5", mean) == "good"


def test_what_is_in_no_band_is_listed() -> None:
    found = bands(report({"recall@10": 0.9, "precision@3": 0.9, "mrr@5": 0.9, "ndcg": 0.9}))
    assert found.production == ()
    assert found.not_measured == ("recall@5", "precision@5", "mrr")
    found = bands(report({"mrr": None, "recall@5": math.nan, "precision@5": 0.9}))
    assert [band.figure.measure for band in found.bands] == ["precision@5"]
    assert [band.figure.measure for band in found.production] == ["precision@5"]
    assert found.not_measured == ("mrr", "recall@5", "ndcg@k")
    assert bands(report({"hit@5": 0.1, "map": 0.1, "dcg@5": 3.0, "f1@5": 0.1})).bands == ()
    for value in (None, math.nan, math.inf):
        assert figures(report({"mrr": value})) == {}


def test_the_bands_of_both_ends_of_the_interval() -> None:
    for means, reach, span in (
        ({"mrr": 0.7}, 0.15, ("fair", "excellent")),
        ({"recall@5": 0.65}, 0.02, ("fair", "fair")),
        ({"recall@5": 0.65}, None, None),
    ):
        (band,) = bands(report(means, reach)).bands
        assert band.span == span


def test_what_no_ranking_could_reach_does_not_speak_against_it() -> None:
    means = {"precision@1": 0.2, "precision@5": 0.2, "recall@5": 0.1, "recall@20": 0.4}
    most = {"precision@1": 1 - 1e-15, "precision@5": 0.2, "recall@5": 0.1, "recall@20": 0.6}
    found = bands(report(means, ceiling=most))
    assert [band.figure.ceiling for band in found.bands] == [None, 0.2, 0.1, 0.6]
    # .2 of .2, .1 of .1, and .4 of .6 is two thirds.
    assert [band.level for band in found.bands] == ["poor", "excellent", "excellent", "fair"]
    (caution,) = found.cautions
    assert "precision@5 0.200" in caution
    assert caution.count("recall@5 0.100") == 1
    assert "precision@1" not in caution
    assert "recall@20 0.600" in caution
    assert "read as shares of that" in caution
    (chinese,) = bands(report(means, ceiling=most), "zh").cautions
    assert "按其占上限的比例解读" in chinese
    # Two relevant chunks a query, both on top: precision@5 is .4, and no ranking has more.
    two = report({"precision@5": 0.4}, 0.02, ceiling={"precision@5": 0.4})
    (production,) = bands(two).production
    assert (production.level, production.span) == ("excellent", ("excellent", "excellent"))
    assert [each.met for each in targets(two, "documents").targets] == [None, None, True]
    # Of three ranks .5 of .667 is .75, and .8 is wanted.
    three = report({"precision@3": 0.5}, ceiling={"precision@3": 2 / 3})
    wanted = targets(three, "faq")
    assert [each.met for each in wanted.targets] == [None, None, False]
    assert "precision@3 0.667" in wanted.cautions[0]


def test_what_to_watch_and_to_reach() -> None:
    for use, rule in diagnosis_table().use.items():
        wanted = {name: rule.target.get(name) for name in (*rule.watch, *rule.target)}
        just = report({name: 0.5 if value is None else value for name, value in wanted.items()})
        found = targets(just, use)
        assert [(each.measure, each.target) for each in found.targets] == list(wanted.items())
        assert all(each.met is (each.target is not None or None) for each in found.targets)
        under = report({name: (value or 0.5) - 0.001 for name, value in wanted.items()})
        met = {each.met for each in targets(under, use).targets}
        assert met == ({None} if use == "monitoring" else {False})
        assert found.name != targets(just, use, "zh").name
    mrr, hit, precision = targets(report({"mrr": None, "hit@3": 0.9}), "faq").targets
    assert (mrr.figure, mrr.met, mrr.sure) == (None, None, None)
    assert hit.met is True
    assert (precision.figure, precision.met) == (None, None)
    unknown: Use = "news"  # type: ignore[assignment]
    with pytest.raises(ConfigError, match="'news'; try one of faq, documents"):
        targets(report({}), unknown)


def test_a_target_is_sure_where_the_whole_interval_is_on_its_side() -> None:
    for value, reach, met, sure in (
        (0.9, 0.05, True, True),
        (0.9, 0.1, True, False),
        (0.8, 0.04, False, True),
        (0.8, 0.05, False, False),
        (0.8, None, False, None),
    ):
        mrr = targets(report({"mrr": value}, reach), "faq").targets[0]
        assert (mrr.met, mrr.sure) == (met, sure)


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
    assert "rerank" in found.advice[0]
    assert "重排序" in only(diagnose(report(BURIED, 0.05), lang="zh")).advice[0]
    for reach, sure in ((0.05, True), (0.15, False), (None, None)):
        assert only(diagnose(report(BURIED, reach))).sure is sure


def test_where_high_and_low_begin() -> None:
    for recall, mrr, wanted in (
        (0.8, 0.499, ["reranking"]),
        (0.8, 0.5, []),
        (0.799, 0.3, []),
        (0.7, 0.3, []),
        (0.699, 0.3, ["low_recall"]),
        (0.5, 0.9, ["low_recall"]),
    ):
        assert names(diagnose(report({"recall@20": recall, "mrr@5": mrr}))) == wanted
    said = " ".join(only(diagnose(report({"recall@20": 0.4, "mrr@5": 0.3}))).advice)
    assert all(word in said for word in ("embedding", "chunking", "filters", "hybrid"))


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
    assert "not among the first k" in found.finding
    first = only(diagnose(report({"recall@20": None, "recall@10": 0.85, "mrr": 0.4})))
    assert [ground.figure.measure for ground in first.grounds] == ["recall@10", "mrr"]


def test_recall_is_not_called_low_where_no_ranking_could_bring_it_up() -> None:
    # Fifty relevant each, all on top: of fifty, twenty are the most that twenty ranks can hold.
    best = diagnose(report({"recall@20": 0.4, "mrr": 1.0}, ceiling={"recall@20": 0.4}))
    assert best.found == ()
    # .35 of .4 is high, and little of it stands on top.
    buried = diagnose(report({"recall@20": 0.35, "mrr": 0.3}, ceiling={"recall@20": 0.4}))
    assert names(buried) == ["reranking"]
    # .4 of .7 is low.
    low = report({"recall@20": 0.4, "mrr": 1.0}, ceiling={"recall@20": 0.7})
    assert names(diagnose(low)) == ["low_recall"]


def test_a_rule_without_its_number_is_listed_unless_another_rules_it_out() -> None:
    found = {each.name: each.missing for each in diagnose(report({"recall@20": 0.9})).unjudged}
    precision = ("precision@5", "precision@10", "precision@3")
    assert found == {
        "reranking": (("mrr@5", "mrr"),), "cut_early": (("recall@5",),), "noisy": (precision,),
    }  # fmt: skip
    lower = report({"recall@20": 0.75, "precision@5": 0.9})
    assert diagnose(lower).unjudged == ()


def test_noise_and_a_small_k() -> None:
    measured = {"recall@5": 0.5, "recall@20": 0.9, "precision@5": 0.2, "mrr": 0.9}
    found = {each.name: each for each in diagnose(report(measured, 0.02)).found}
    assert set(found) == {"cut_early", "noisy"}
    assert "raise k" in found["cut_early"].advice[0]
    told = " ".join(found["noisy"].advice)
    assert all(remedy in told for remedy in ("rerank", "stronger", "citations", "shorter"))
    # One relevant, always on top: a fifth of five is all that there can be.
    alone = report({**measured, "recall@5": 1.0}, 0.02, ceiling={"precision@5": 0.2})
    assert names(diagnose(alone)) == []
    nothing = diagnose(report({"recall@20": None, "mrr": math.nan}))
    assert [rule.name for rule in nothing.unjudged] == [
        "reranking", "low_recall", "cut_early", "noisy",
    ]  # fmt: skip
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
    wide = only(changed(0.8, 0.75, 0.1))
    assert ([ground.sure for ground in wide.grounds], wide.sure) == ([True, False], False)
    # A reranker of a hundred may raise the recall of twenty.
    before = report({"ndcg@10": 0.6, "recall@20": 0.7, "recall@100": 0.9}, 0.02)
    now = report({"ndcg@10": 0.7, "recall@20": 0.8, "recall@100": 0.9, "mrr": 0.6}, 0.02)
    found = only(diagnose(now, before=before))
    assert [ground.figure.measure for ground in found.grounds] == ["ndcg@10", "recall@100"]


CHANGES: list[tuple[float, float, float | None, bool]] = [
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
]


def test_noise_is_no_change() -> None:
    for ndcg, recall, reach, works in CHANGES:
        found = names(changed(ndcg, recall, reach))
        assert ("reranker_works" in found) is works, (ndcg, recall, reach)


@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from([None, 0.0, 0.01, 0.1]))
def test_nothing_changed_against_itself(ndcg: float, recall: float, reach: float | None) -> None:
    same = report({"ndcg@10": ndcg, "recall@20": recall, "mrr": 0.6}, reach)
    assert "reranker_works" not in names(diagnose(same, before=same))


def test_numbers_made_in_another_way_are_not_compared() -> None:
    means = {"ndcg@10": 0.6, "recall@20": 0.75}
    other = changed(0.7, 0.75, was=report(means, 0.01, signature="retrieval|k:5|gain:exp2"))
    assert other.found == ()
    (caution,) = other.cautions
    assert "gain:exp2" in caution
    # Other cut-offs and seeds are no other way.
    made = "retrieval|k:10,20|order:given|gain:linear|seed:9|judge:0"
    assert names(changed(0.7, 0.75, was=report(means, 0.01, signature=made))) == ["reranker_works"]
    (caution,) = changed(0.7, 0.75, was=report({"ndcg@10": 0.6}, queries=50)).cautions
    assert "50 queries and this one over 100" in caution


def test_hit_but_unfaithful_or_wrong_points_to_generation() -> None:
    good = report({"hit@5": 0.8, "recall@20": 0.9, "mrr": 0.8})
    for faithfulness, recall, wanted in (
        (0.79, None, ["unfaithful"]),
        (0.8, None, []),
        (None, 0.69, ["wrong"]),
        (None, 0.7, []),
        (0.5, 0.5, ["unfaithful", "wrong"]),
        (None, None, []),
    ):
        found = diagnose(good, answers=answered(faithfulness, recall))
        assert names(found) == wanted
        for each in found.found:
            said = " ".join(each.advice)
            assert all(word in said for word in ("prompt", "noise", "scattered evidence"))
            assert each.grounds[0].figure.measure == "hit@5"
            assert each.sure is False  # intervals of ±.5 settle nothing
    # Without a hit generation is not to blame.
    poor = report({"hit@5": 0.79, "recall@20": 0.75, "mrr": 0.6})
    assert diagnose(poor, answers=answered(0.1, 0.1)).found == ()
    good = report({"hit@5": 0.9, "recall@20": 0.9, "mrr": 0.8}, 0.02)
    for faithfulness, sure in ((0.7, True), (0.78, False)):
        assert only(diagnose(good, answers=answered(faithfulness, None, 0.05))).sure is sure


REPORT = report({"hit@5": 0.9})


def test_the_means_are_those_of_the_run_with_their_intervals() -> None:
    first, second = answer_figures(answered(0.5, 0.7, 0.1))
    assert (first.measure, first.value) == ("faithfulness", 0.5)
    assert (second.measure, second.value) == ("correctness_recall", 0.7)
    assert first.interval is not None
    assert (first.interval.low, first.interval.high) == (0.4, 0.6)
    assert [each.measure for each in answer_figures(answered(0.5, None))] == ["faithfulness"]
    assert answer_figures(answered(None, None)) == ()


def test_how_far_a_run_can_be_trusted_is_said() -> None:
    for untrusted, left in (
        ((True, False), ["correctness_recall"]),
        ((False, True), ["faithfulness"]),
        ((True, True), []),
    ):
        run = answered(0.5, 0.5, untrusted=untrusted)
        assert [each.measure for each in answer_figures(run)] == left
        assert "untrusted" in diagnose(REPORT, answers=run).cautions[0]
    similar = answered(0.5, 0.5, signature="similarity:lexical")
    (caution,) = diagnose(REPORT, answers=similar).cautions
    assert "look supported" in caution
    assert diagnose(REPORT, answers=answered(0.5, 0.5)).cautions == ()
    few = report({"hit@5": 0.9}, queries=7)
    (caution,) = diagnose(few, answers=answered(0.5, 0.5)).cautions
    assert "100 answers" in caution
    assert "7 questions" in caution


def placed(**cells: int) -> QuadrantTable:
    """So many answers of each cell, its words joined by `_`."""
    counts = [
        {"words": name.split("_"), "half": "unknown", "answers": count, "qids": ()}
        for name, count in cells.items()
    ]
    whole = {"counted": sum(cells.values()), "without_gold": 0, "conflicting": 0}
    nothing: dict[str, object] = {"halves": {}, "conflicting_qids": (), "signatures": {}}
    return QuadrantTable.model_validate({"cells": counts, **whole, **nothing})


def test_with_gold_the_answers_whose_evidence_was_retrieved_are_counted() -> None:
    table = placed(
        answerable_retrieved_answered_faithful_correct=6,
        answerable_retrieved_answered_faithful_wrong=1,
        answerable_retrieved_answered_unfaithful_wrong=3,
        answerable_retrieved_answered_unjudged_correct=1,
        answerable_retrieved_abstained=5,
        answerable_missed_answered_unfaithful_wrong=9,
    )
    run = answered(0.1, 0.1).model_copy(update={"breakdown": table})
    first, second = answer_figures(run)
    # 7 of 10 known to be faithful or not; 7 of 11 correct or wrong; what was missed is not asked.
    assert (first.measure, first.value) == ("faithful_of_retrieved", 0.7)
    assert (second.measure, second.value) == ("correct_of_retrieved", 7 / 11)
    assert first.interval is not None
    assert (first.interval.low, first.interval.high) == pytest.approx(
        wilson(0.7, 10, 2.262157), abs=1e-5
    )
    assert names(diagnose(REPORT, answers=run)) == [
        "unfaithful_where_retrieved",
        "wrong_where_retrieved",
    ]
    for untrusted, left in (((True, False), "correct"), ((False, True), "faithful")):
        run = answered(0.1, 0.1, untrusted=untrusted).model_copy(update={"breakdown": table})
        assert [each.measure for each in answer_figures(run)] == [f"{left}_of_retrieved"]
    # A table that knows of no such answer has no share; one without a cell leaves the means.
    for cells, left_over in ((placed(missed_answered=2), 0), (placed(), 2)):
        run = answered(0.1, 0.1).model_copy(update={"breakdown": cells})
        assert len(answer_figures(run)) == left_over
