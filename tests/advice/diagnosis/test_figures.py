import math

import pytest

from judge.advice.diagnosis.figures import at_least, figure, level, out_of_reach, span
from judge.advice.records import Figure
from judge.records import Interval
from tests.advice.diagnosis.reports import report

LIMITS = {"some": 0.4, "much": 0.8}


def test_a_figure_has_its_interval() -> None:
    found = figure(report({"mrr": 0.5}, 0.1), "mrr")
    assert found is not None
    assert (found.measure, found.value, found.ceiling) == ("mrr", 0.5, None)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == (0.4, 0.6)


@pytest.mark.parametrize(("most", "wanted"), [(0.4, 0.4), (1.0, None), (1 - 1e-15, None)])
def test_a_figure_has_its_ceiling_where_that_is_under_1(most: float, wanted: float | None) -> None:
    found = figure(report({"recall@5": 0.3}, ceiling={"recall@5": most}), "recall@5")
    assert found is not None
    assert found.ceiling == wanted


@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_what_is_no_number_is_no_figure(value: float | None) -> None:
    assert figure(report({"mrr": value}), "mrr") is None
    assert figure(report({}), "mrr") is None


@pytest.mark.parametrize(
    ("value", "name"), [(0, "none"), (0.399, "none"), (0.4, "some"), (0.8, "much"), (1, "much")]
)
def test_the_last_level_reached(value: float, name: str) -> None:
    assert level(value, LIMITS, "none") == name


def test_levels_of_an_interval() -> None:
    wide = Interval(low=0.1, high=0.9, method="wilson")
    found = Figure(measure="mrr", value=0.5, interval=wide)
    assert span(found, LIMITS, "none") == ("none", "much")
    assert span(Figure(measure="mrr", value=0.5), LIMITS, "none") is None


def test_at_least_forgives_rounding_and_no_more() -> None:
    assert at_least(0.1 + 0.7, 0.8)
    assert not at_least(0.7999, 0.8)


def test_only_what_lies_under_its_ceiling_is_cautioned() -> None:
    figures = [
        Figure(measure="precision@5", value=0.1, ceiling=0.5),
        Figure(measure="precision@20", value=0.1, ceiling=0.25),
        Figure(measure="precision@20", value=0.1, ceiling=0.25),
        Figure(measure="recall@5", value=0.1),
    ]
    (caution,) = out_of_reach((each, 0.5) for each in figures)
    assert caution.en.count("precision@20 0.250") == 1
    assert "precision@5" not in caution.en
    assert out_of_reach((each, 0.25) for each in figures) == ()
