import math
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.advice.diagnosis import bands
from judge.advice.records import Level, ProductionLevel
from tests.advice.diagnosis.reports import report

LEVELS: tuple[Level, ...] = get_args(Level)
PRODUCTION: tuple[ProductionLevel, ...] = get_args(ProductionLevel)


def level(measure: str, value: float) -> Level:
    (band,) = bands(report({measure: value})).bands
    return band.level


def production(measure: str, value: float) -> ProductionLevel:
    (band,) = bands(report({measure: value})).production
    return band.level


@pytest.mark.parametrize(
    ("measure", "fair", "good", "excellent"),
    [
        ("recall@1", 0.6, 0.75, 0.85),
        ("recall@1000", 0.6, 0.75, 0.85),
        ("precision@5", 0.5, 0.7, 0.85),
        ("mrr", 0.4, 0.6, 0.8),
        ("mrr@5", 0.4, 0.6, 0.8),
        ("ndcg", 0.5, 0.7, 0.85),
        ("ndcg@10", 0.5, 0.7, 0.85),
    ],
)
def test_a_band_begins_at_its_limit(
    measure: str, fair: float, good: float, excellent: float
) -> None:
    assert level(measure, 0.0) == level(measure, fair - 0.001) == "poor"
    assert level(measure, fair) == level(measure, good - 0.001) == "fair"
    assert level(measure, good) == level(measure, excellent - 0.001) == "good"
    assert level(measure, excellent) == level(measure, 1.0) == "excellent"


@pytest.mark.parametrize(
    ("measure", "minimum", "good", "excellent"),
    [
        ("recall@5", 0.7, 0.8, 0.85),
        ("precision@5", 0.6, 0.75, 0.8),
        ("mrr", 0.5, 0.7, 0.8),
    ],
)
def test_what_production_needs(measure: str, minimum: float, good: float, excellent: float) -> None:
    assert production(measure, minimum - 0.001) == "below"
    assert production(measure, minimum) == production(measure, good - 0.001) == "minimum"
    assert production(measure, good) == production(measure, excellent - 0.001) == "good"
    assert production(measure, excellent) == "excellent"


def test_production_is_about_these_cut_offs_only() -> None:
    found = bands(report({"recall@10": 0.9, "precision@3": 0.9, "mrr@5": 0.9, "ndcg": 0.9}))
    assert found.production == ()
    assert found.not_measured == ("recall@5", "precision@5", "mrr")


def test_a_mean_that_rounding_put_under_its_limit_has_reached_it() -> None:
    mean = (0.6 + 0.7 + 0.8) / 3
    assert mean < 0.7
    assert level("ndcg@5", mean) == "good"


@given(
    st.sampled_from(["recall@5", "precision@5", "mrr", "ndcg@10"]),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_a_higher_mean_is_never_in_a_lower_band(measure: str, one: float, two: float) -> None:
    low, high = sorted((one, two))
    assert LEVELS.index(level(measure, low)) <= LEVELS.index(level(measure, high))
    if measure != "ndcg@10":
        lower, higher = production(measure, low), production(measure, high)
        assert PRODUCTION.index(lower) <= PRODUCTION.index(higher)


def test_what_was_not_measured_is_listed_and_in_no_band() -> None:
    found = bands(report({"mrr": None, "recall@5": math.nan, "precision@5": 0.9}))
    assert [band.figure.measure for band in found.bands] == ["precision@5"]
    assert [band.figure.measure for band in found.production] == ["precision@5"]
    assert found.not_measured == ("mrr", "recall@5", "ndcg@k")


def test_measures_without_limits_are_in_no_band() -> None:
    found = bands(report({"hit@5": 0.1, "map": 0.1, "dcg@5": 3.0, "f1@5": 0.1}))
    assert found.bands == ()


def test_the_bands_of_both_ends_of_the_interval() -> None:
    (narrow, wide) = bands(report({"mrr": 0.7, "ndcg": 0.7}, 0.15)).bands
    assert (narrow.level, narrow.span) == ("good", ("fair", "excellent"))
    assert (wide.level, wide.span) == ("good", ("fair", "excellent"))
    (sure,) = bands(report({"recall@5": 0.65}, 0.02)).bands
    assert sure.span == ("fair", "fair")
    (none,) = bands(report({"recall@5": 0.65})).bands
    assert none.span is None


def test_what_no_ranking_could_reach_does_not_speak_against_it() -> None:
    means = {"precision@1": 0.2, "precision@5": 0.2, "recall@5": 0.1, "recall@20": 0.4}
    most = {"precision@1": 1.0, "precision@5": 0.2, "recall@5": 0.1, "recall@20": 0.6}
    found = bands(report(means, ceiling=most))
    assert [band.figure.ceiling for band in found.bands] == [None, 0.2, 0.1, 0.6]
    (caution,) = found.cautions
    for words in (caution.en, caution.zh):
        assert "precision@5 0.200" in words
        assert words.count("recall@5 0.100") == 1
        assert "precision@1" not in words
        assert "recall@20" not in words  # it can be fair
    assert "few" not in caution.en
    assert "against that, not against 1" in caution.en
    assert "请与此上限比较，而不是与 1 比较" in caution.zh


def test_a_level_for_production_that_no_ranking_could_reach_is_cautioned() -> None:
    # As a band .65 is fair; production asks for .7.
    (caution,) = bands(report({"recall@5": 0.65}, ceiling={"recall@5": 0.65})).cautions
    assert "recall@5 0.650" in caution.en
    assert bands(report({"recall@5": 0.7}, ceiling={"recall@5": 0.7})).cautions == ()


def test_the_limits_are_called_what_they_are() -> None:
    source = bands(report({})).source
    assert "rules of thumb" in source.en
    assert "no study" in source.en
    assert "经验法则" in source.zh
    assert "没有研究依据" in source.zh
