"""How rank measures are read: bands, targets of a use, and what they point to."""

from collections.abc import Mapping

from judge import measure_retrieval
from judge.advice.diagnose import Reading, diagnosis_table, read, read_change
from judge.records import Sample
from judge.retrieval.records import MeasureDifference, RankingReport

ANY = measure_retrieval([Sample(qid="q", retrieved=("a",), gold_evidence=("a",))])


def report(
    mean: Mapping[str, float | None], ceiling: Mapping[str, float] | None = None
) -> RankingReport:
    """Return a report with these means."""
    changes = {"mean": mean, "interval": dict.fromkeys(mean), "ceiling": ceiling or {}}
    return ANY.model_copy(update=changes)


def names(found: Reading) -> list[str]:
    return [each.name for each in found.findings]


def test_a_level_begins_at_its_limit() -> None:
    bands = ("poor", "fair", "good", "excellent")
    for under, name, limit in zip(bands, bands[1:], (0.6, 0.75, 0.85), strict=False):
        for value, expected in ((limit - 0.001, under), (limit, name)):
            found = read(report({"recall@1000": value}), "monitoring")
            assert (found.bands, found.production) == ({"recall@1000": expected}, ()), value
    levels = ("below", "minimum", "good", "excellent")
    for under, name, limit in zip(levels, levels[1:], (0.5, 0.7, 0.8), strict=False):
        for value, expected in ((limit - 0.001, under), (limit, name)):
            (production,) = read(report({"mrr": value}), "monitoring").production
            assert (production.figure.value, production.level) == (value, expected)
    # A mean that rounding put under its limit has reached it.
    assert (mean := (0.6 + 0.7 + 0.8) / 3) < 0.7
    assert read(report({"ndcg@5": mean}), "faq").bands["ndcg@5"] == "good"
    none = read(report({"hit@5": 0.1, "map": 0.1, "mrr": None}), "faq")
    assert (none.bands, none.production) == ({}, ())


def test_what_no_ranking_could_reach_does_not_speak_against_it() -> None:
    means = {"precision@1": 0.2, "precision@5": 0.2, "recall@5": 0.1, "recall@20": 0.4}
    most = {"precision@1": 1 - 1e-15, "precision@5": 0.2, "recall@5": 0.1, "recall@20": 0.6}
    found = read(report({**means, "mrr": 1.0}, most), use="documents")
    # .2 of .2, .1 of .1, and .4 of .6 is two thirds.
    assert list(found.bands.values())[:4] == ["poor", "excellent", "excellent", "fair"]
    assert [each.met for each in found.targets] == [True, None, True]
    assert names(found) == ["low_recall"]
    assert found.ceilings == {"precision@5": 0.2, "recall@5": 0.1, "recall@20": 0.6}


def test_what_to_watch_and_to_reach() -> None:
    for use, rule in diagnosis_table().use.items():
        just = read(report({**dict.fromkeys(rule.watch, 0.5), **rule.target}), use=use)
        wanted = {**dict.fromkeys(rule.watch), **rule.target}
        assert {each.measure: each.target for each in just.targets} == wanted
        assert {each.measure for each in just.targets if each.met} == set(rule.target)
    watched = read(report({"hit@5": 0.9}), use="monitoring").targets
    assert [(each.measure, each.target, each.met) for each in watched] == [
        ("hit@5", None, None),
        ("mrr", None, None),
    ]
    mrr, hit, precision = read(report({"mrr": None, "hit@3": 0.9}), use="faq").targets
    assert (mrr.figure, mrr.met, hit.met, precision.met) == (None, None, True, None)


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
        assert names(read(report(means), "faq")) == expected, means
    (buried,) = read(report({"recall@20": 0.9, "mrr@5": 0.3}), "faq").findings
    assert buried.grounds == (
        "recall@20 0.900 is high: 0.800 or more",
        "mrr@5 0.300 is low: under 0.500",
    )
    assert len(buried.advice) == 1


def test_advice_to_hand_more_chunks_and_fewer_says_how_to_choose() -> None:
    low = {"recall@5": 0.5, "recall@10": 0.79, "recall@20": 0.9, "recall@50": 0.95, "mrr": 0.9}
    assert read(report({**low, "precision@5": 0.9}), "faq").choice == ""
    both = read(report({**low, "precision@5": 0.2}), "faq")
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
        pair = {"ndcg@10": gap(0.6, ndcg, p), "recall@20": gap(0.75, recall, p_recall)}
        assert (read_change(pair) is not None) is works, (ndcg, recall)
    # The deepest recall counts: a reranker of a hundred may raise the recall of twenty.
    deep = {"recall@20": gap(0.7, 0.1, 0.001), "recall@100": gap(0.9, 0.0, 1.0)}
    found = read_change({"ndcg@10": gap(0.6, 0.1, 0.01), **deep})
    assert found is not None
    assert found.grounds == (
        "ndcg@10 rose from 0.600 to 0.700",
        "recall@100 is unchanged: 0.900 before, 0.900 now",
    )
    assert read_change({"ndcg@10": gap(0.6, 0.1, 0.01), "recall@20": None}) is None
