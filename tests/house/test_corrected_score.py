"""The shorter form of `tests/bench/review.py`: a judge whose errors are known, drawn and corrected.

It takes seconds, for every draw counts the whole run anew, as a user's would: the interval can only
be shown to hold the truth over many draws.
"""

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

import pytest

from judge.records import Summary, Support
from judge.review.records import StratumName
from judge.scores.totals import summarize
from tests.bench.review import (
    JUDGES,
    Found,
    Population,
    draw_of,
    draws,
    share_held,
    simulated,
    width,
)

pytestmark = pytest.mark.alone  # simulations

SIZE = 60


class Trial(NamedTuple):
    """Draws of one population."""

    truth: float
    summary: Summary
    found: Sequence[Found]
    uniform: Sequence[Found]
    """The same number of labels drawn at random, for the first forty draws."""


def tried(population: Population, seeds: int) -> Trial:
    summary = summarize(population.results)
    found = draws(population, summary, SIZE, range(seeds))
    uniform = draws(population, summary, SIZE, range(40), uniform=True)
    return Trial(population.faithfulness, summary, found, uniform)


@pytest.fixture(scope="module")
def population() -> Population:
    return simulated(JUDGES["fair"], answers=150, sentences=900, seed=0)


@pytest.fixture(scope="module")
def trial(population: Population) -> Trial:
    return tried(population, 200)


def test_the_interval_holds_the_truth_about_as_often_as_it_says(trial: Trial) -> None:
    # The interval holds in 95 % of 200 draws, ± 1.5 %.
    assert 0.90 <= share_held(trial.found, trial.truth) <= 0.99
    assert all(0 <= each.low <= each.corrected <= each.high <= 1 for each in trial.found)


def test_the_corrected_score_is_unbiased_and_the_raw_one_is_not(trial: Trial) -> None:
    scores = [each.corrected for each in trial.found]
    error = statistics.stdev(scores) / math.sqrt(len(scores))
    assert abs(statistics.fmean(scores) - trial.truth) < 3.3 * error
    raw = trial.summary.faithfulness
    assert raw is not None
    assert {each.raw for each in trial.found} == {raw.macro}
    assert raw.macro - trial.truth > 10 * error
    # More answers would only make the raw score surer of itself.
    assert not raw.interval.low <= trial.truth <= raw.interval.high


def test_undecided_claims_are_drawn_at_the_highest_rate_and_correct_without_bias() -> None:
    """People support .55 of the claims that similarity left undecided, which it counts 0."""
    population = simulated(JUDGES["undecided"], answers=150, sentences=900, seed=0)
    found = tried(population, 100)
    scores = [each.corrected for each in found.found]
    error = statistics.stdev(scores) / math.sqrt(len(scores))
    assert abs(statistics.fmean(scores) - found.truth) < 3.3 * error
    assert 0.88 <= share_held(found.found, found.truth) <= 1.0
    assert width(found.found) < 0.9 * width(found.uniform)
    strata = draw_of(population, SIZE, 0).strata
    rates = {each.names: each.drawn / each.units for each in strata}
    large = {names: rate for names, rate in rates.items() if names != (StratumName.UNSUPPORTED,)}
    assert max(large, key=large.__getitem__) == (StratumName.UNDECIDED,)


def test_limits_hold_however_rows_were_left_blank(population: Population) -> None:
    summary, truth = summarize(population.results), population.faithfulness
    found = draws(population, summary, SIZE, range(80), blank={Support.NONE: 0.8})
    assert share_held(found, truth) < 0.8  # taken for never drawn, they bias the score
    assert statistics.fmean(each.lowest <= truth <= each.highest for each in found) >= 0.95
