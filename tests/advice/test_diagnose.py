"""How rank measures are read: bands, targets of a use, and what they point to."""

import math

import pytest

from judge.advice.diagnose import Reading, Use, answer_figures, changes, diagnosis_table, read
from judge.errors import ConfigError
from judge.records import QuadrantTable
from judge.retrieval.records import MeasureDifference
from tests.advice_records import answered, report


def names(found: Reading) -> list[str]:
    return [each.name for each in found.findings]


# A measure with the limits of its bands, and one with the limits for production.
BANDS = [("recall@1000", 0.6, 0.75, 0.85)]
NEEDED = [("mrr", 0.5, 0.7, 0.8)]


def test_a_level_begins_at_its_limit() -> None:
    for production, table, levels in (
        (False, BANDS, ("poor", "fair", "good", "excellent")),
        (True, NEEDED, ("below", "minimum", "good", "excellent")),
    ):
        for measure, *limits in table:
            for under, name, limit in zip(levels, levels[1:], limits, strict=False):
                for value, expected in ((limit - 0.001, under), (limit, name)):
                    found = read(report({measure: value}))
                    (each,) = found.production if production else found.bands
                    assert each.level == expected, (measure, value)
    # A mean that rounding put under its limit has reached it.
    assert (mean := (0.6 + 0.7 + 0.8) / 3) < 0.7
    assert read(report({"ndcg@5": mean})).bands[0].level == "good"
    odd = {"hit@5": 0.1, "map": 0.1, "dcg@5": 3.0, "mrr": None, "recall@5": math.nan}
    assert (read(report(odd)).bands, read(report(odd)).production) == ((), ())


def test_what_no_ranking_could_reach_does_not_speak_against_it() -> None:
    means = {"precision@1": 0.2, "precision@5": 0.2, "recall@5": 0.1, "recall@20": 0.4}
    most = {"precision@1": 1 - 1e-15, "precision@5": 0.2, "recall@5": 0.1, "recall@20": 0.6}
    found = read(report({**means, "mrr": 1.0}, ceiling=most), use="documents")
    # .2 of .2, .1 of .1, and .4 of .6 is two thirds.
    assert [band.level for band in found.bands][:4] == ["poor", "excellent", "excellent", "fair"]
    assert [each.level for each in found.targets] == ["met", None, "met"]
    assert names(found) == ["low_recall"]
    (caution,) = found.cautions
    assert "precision@5 0.200, recall@5 0.100, recall@20 0.600" in caution


def test_what_to_watch_and_to_reach() -> None:
    for use, rule in diagnosis_table().use.items():
        wanted = {name: rule.target.get(name) for name in (*rule.watch, *rule.target)}
        just = read(report({name: value or 0.5 for name, value in wanted.items()}), use=use)
        assert {each.measure: each.target for each in just.targets} == wanted
        assert {each.level for each in just.targets if each.target is not None} <= {"met"}
    mrr, hit, precision = read(report({"mrr": None, "hit@3": 0.9}), use="faq").targets
    assert (mrr.figure, mrr.level, hit.level, precision.level) == (None, None, "met", None)
    unknown: Use = "news"  # type: ignore[assignment]
    with pytest.raises(ConfigError, match="'news'"):
        read(report({}), use=unknown)


# Means, and what they point to.
POINTS: list[tuple[dict[str, float | None], list[str]]] = [
    ({"recall@20": 0.8, "mrr@5": 0.499}, ["reranking"]),
    ({"recall@20": 0.8, "mrr@5": 0.5}, []),
    ({"recall@20": 0.7, "mrr@5": 0.3}, []),
    ({"recall@20": 0.699, "mrr@5": 0.3}, ["low_recall"]),
    ({"recall@20": 0.5, "mrr@5": 0.9}, ["low_recall"]),
    ({"recall@20": None, "recall@10": 0.85, "mrr": 0.4}, ["reranking"]),
    # The deepest recall says whether reranking could mend it.
    ({"recall@10": 0.0, "recall@50": 0.2, "recall@100": 1.0, "mrr": 1 / 31}, ["reranking"]),
    ({"recall@10": 0.9, "recall@100": 0.6, "mrr": 0.9}, ["low_recall"]),
    (
        {"recall@5": 0.5, "recall@20": 0.9, "precision@5": 0.2, "mrr": 0.9},
        ["cut_early", "noisy"],
    ),
]


def test_what_low_means_point_to() -> None:
    for means, expected in POINTS:
        assert names(read(report(means))) == expected, means
    (buried,) = read(report({"recall@20": 0.9, "mrr@5": 0.3}, 0.05)).findings
    recall, mrr = buried.grounds
    assert (recall.figure.measure, recall.op, recall.than) == ("recall@20", "at_least", 0.8)
    assert (mrr.figure.measure, mrr.op, mrr.than) == ("mrr@5", "under", 0.5)
    assert len(buried.advice) == 1


def test_advice_to_hand_more_chunks_and_fewer_says_how_to_choose() -> None:
    low = {"recall@5": 0.5, "recall@10": 0.79, "recall@20": 0.9, "recall@50": 0.95, "mrr": 0.9}
    assert read(report({**low, "precision@5": 0.9})).choice == ""
    both = read(report({**low, "precision@5": 0.2}))
    assert names(both) == ["cut_early", "noisy"]
    assert "recall@20" in both.choice


def gap(first: float, difference: float, p: float) -> MeasureDifference:
    whole = {"queries": 60, "interval": None, "gain": None, "higher": 0, "lower": 0}
    return MeasureDifference.model_validate(
        {"first": first, "difference": difference, "p": p, **whole}
    )


# How nDCG and recall changed, each with its p, and whether that shows that a reranker works.
CHANGES = [
    (0.1, 0.01, 0.01, 0.3, True),
    (0.1, 0.06, 0.01, 0.3, False),  # by chance
    (0.015, 0.001, 0.01, 0.3, False),  # surely up, by too little to count
    (0.1, 0.001, 0.04, 0.01, False),  # recall rose
    (0.1, 0.001, -0.04, 0.01, False),  # recall fell
    (0.1, 0.001, 0.07, 0.3, False),  # recall may have changed
    (0.1, 0.001, 0.0, 1.0, True),
]


def test_a_better_order_of_as_much_shows_that_the_reranker_works() -> None:
    for ndcg, p, recall, p_recall, works in CHANGES:
        found = changes({"ndcg@10": gap(0.6, ndcg, p), "recall@20": gap(0.75, recall, p_recall)})
        assert [each.name for each in found] == ["reranker_works"] * works, (ndcg, recall)
    up, stands = found[0].grounds
    assert (up.than, stands.than) == (0.6, 0.75)
    assert up.figure.value == pytest.approx(0.7)
    # The deepest recall counts: a reranker of a hundred may raise the recall of twenty.
    deep = {"recall@20": gap(0.7, 0.1, 0.001), "recall@100": gap(0.9, 0.0, 1.0)}
    (works_deep,) = changes({"ndcg@10": gap(0.6, 0.1, 0.01), **deep})
    assert works_deep.grounds[1].figure.measure == "recall@100"
    assert changes({"ndcg@10": gap(0.6, 0.1, 0.01), "recall@20": None}) == ()


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
        assert names(read(good, answers=answered(faithfulness, recall))) == wanted
    # Without a hit the fault is not in generation.
    poor = report({"hit@5": 0.79, "recall@20": 0.75, "mrr": 0.6})
    assert names(read(poor, answers=answered(0.1, 0.1))) == []


def test_how_far_a_run_can_be_trusted_is_said() -> None:
    hit = report({"hit@5": 0.9})
    for untrusted, left in (
        ((True, False), ["correctness_recall"]),
        ((False, True), ["faithfulness"]),
        ((True, True), []),
    ):
        run = answered(0.5, 0.5, untrusted=untrusted)
        assert [each.measure for each in answer_figures(run)] == left
        assert len(read(hit, answers=run).cautions) == 1
    assert read(hit, answers=answered(0.5, 0.5)).cautions == ()
    similar = answered(0.5, 0.5, signature="similarity:lexical")
    assert len(read(hit, answers=similar).cautions) == 1
    (caution,) = read(report({"hit@5": 0.9}, queries=7), answers=answered(0.5, 0.5)).cautions
    assert "100 answers and the rankings are of 7 questions" in caution


def placed(**cells: int) -> QuadrantTable:
    """Return a table with a number of answers for each cell, its words joined by `_`."""
    counts = [
        {"words": name.split("_"), "half": "unknown", "answers": count}
        for name, count in cells.items()
    ]
    whole = {"counted": sum(cells.values()), "without_gold": 0, "conflicting": 0}
    nothing: dict[str, object] = {"halves": {}, "signatures": {}}
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
    found = names(read(report({"hit@5": 0.9}), answers=run))
    assert found == ["unfaithful_where_retrieved", "wrong_where_retrieved"]
    # A table that knows of no such answer has no share; one without a cell leaves the means.
    for cells, left_over in ((placed(missed_answered=2), 0), (placed(), 2)):
        run = answered(0.1, 0.1).model_copy(update={"breakdown": cells})
        assert len(answer_figures(run)) == left_over
