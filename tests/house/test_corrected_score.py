"""Simulated judges, whose errors are known: the corrected score and its interval hold the truth.

It takes seconds: only many draws can show how often an interval holds the truth.
"""

import math
import random
import statistics
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import pytest

from judge.records import SUPPORT_WEIGHT, Sample, SampleResult, Summary, Support
from judge.review.agreement import by_row, corrected_scores
from judge.review.draws import claims_of_run, divide, drawn_sentences
from judge.review.records import CorrectedScore, Draw, StratumName
from judge.scores.answer import aggregate
from judge.scores.totals import summarize
from tests import comparisons, draws, present, review_runs

pytestmark = pytest.mark.alone  # simulations

SIZE = 60
ANSWERS, CLAIMS = 150, 900
Rates = Mapping[StratumName, tuple[float, tuple[float, float, float]]]
"""By stratum its share of the claims, and how often people label them none, partial, full."""
FAIR: Rates = {
    StratumName.SUPPORTED: (0.70, (0.03, 0.03, 0.94)),
    StratumName.SUPPORTED_DOUBTFUL: (0.08, (0.25, 0.15, 0.60)),
    StratumName.PARTIAL: (0.06, (0.25, 0.55, 0.20)),
    StratumName.UNSUPPORTED_DOUBTFUL: (0.04, (0.50, 0.10, 0.40)),
    StratumName.UNSUPPORTED: (0.10, (0.88, 0.06, 0.06)),
    StratumName.UNSCORED: (0.02, (0.15, 0.10, 0.75)),
}
UNDECIDED: Rates = {
    StratumName.SUPPORTED: (0.72, (0.03, 0.02, 0.95)),
    StratumName.SUPPORTED_DOUBTFUL: (0.10, (0.08, 0.04, 0.88)),
    StratumName.UNDECIDED: (0.14, (0.40, 0.10, 0.50)),
    StratumName.UNSUPPORTED: (0.04, (0.85, 0.05, 0.10)),
}


class Population(NamedTuple):
    """A run, and the labels that people would give to all of its claims."""

    results: list[SampleResult]
    summary: Summary
    labels: Mapping[tuple[str, int], Support]
    """By answer and sentence."""
    faithfulness: float
    """The mean over answers by these labels."""


def simulated(rates: Rates) -> Population:
    """Make answers of uneven length, each with a claim or more."""
    dice = random.Random(0)  # noqa: S311  a simulation
    sizes = [1] * ANSWERS
    pull = [dice.gammavariate(2, 1) for _ in sizes]
    for place in dice.choices(range(ANSWERS), pull, k=CLAIMS - ANSWERS):
        sizes[place] += 1
    shares = [share for share, _ in rates.values()]
    results, means = [], []
    labels: dict[tuple[str, int], Support] = {}
    for number, size in enumerate(sizes):
        qid, names = f"a{number}", dice.choices(list(rates), shares, k=size)
        outcomes = {n: review_runs.outcome(name, "") for n, name in enumerate(names)}
        sentences = comparisons.sentences("f" * size)
        results.append(aggregate(Sample(qid=qid), sentences, outcomes, [], signature="s"))
        scale = (Support.NONE, Support.PARTIAL, Support.FULL)
        own = [dice.choices(scale, rates[name][1])[0] for name in names]
        labels |= {(qid, n): label for n, label in enumerate(own)}
        means.append(statistics.fmean(SUPPORT_WEIGHT[label] for label in own))
    return Population(results, summarize(results), labels, statistics.fmean(means))


def draw_of(population: Population, seed: int) -> Draw:
    strata, drawn = divide(claims_of_run(population.results, seed), SIZE)
    rows = [
        sentence
        for answer, items in groupby(sorted(drawn), key=lambda each: each.answer)
        for sentence in drawn_sentences(draws.DRAW, population.results[answer], items)
    ]
    return draws.draw(strata, rows)


def corrected(population: Population, seeds: int, blank: float = 0.0) -> list[CorrectedScore]:
    """Correct the score by the labels of as many draws; a share of the labels `none` is blank."""
    found = []
    for seed in range(seeds):
        draw = draw_of(population, seed)
        dice = random.Random(seed)  # noqa: S311  a simulation
        truths = [(row, population.labels[row.qid, row.sentence]) for row in draw.sentences]
        labels = [
            draws.label(row, label)
            for row, label in truths
            if label is not Support.NONE or dice.random() >= blank
        ]
        found += corrected_scores(draw, by_row(labels), population.summary, ["faithfulness"])
    return found


def share_held(found: Sequence[CorrectedScore], truth: float) -> float:
    return statistics.fmean(each.low <= truth <= each.high for each in found)


def check_unbiased(found: Sequence[CorrectedScore], truth: float) -> float:
    """Check that the mean of the corrected scores is the truth; return its standard error."""
    scores = [each.corrected for each in found]
    error = statistics.stdev(scores) / math.sqrt(len(scores))
    assert abs(statistics.fmean(scores) - truth) < 3.3 * error
    return error


@pytest.fixture(scope="module")
def population() -> Population:
    return simulated(FAIR)


def test_the_corrected_score_and_its_interval_hold_and_the_raw_score_does_not(
    population: Population,
) -> None:
    found, truth = corrected(population, 200), population.faithfulness
    # The interval holds in 95 % of 200 draws, ± 1.5 %.
    assert 0.90 <= share_held(found, truth) <= 0.99
    assert all(0 <= each.low <= each.corrected <= each.high <= 1 for each in found)
    error = check_unbiased(found, truth)
    raw = present(population.summary.faithfulness)
    assert {each.raw for each in found} == {raw.macro}
    assert raw.macro - truth > 10 * error
    # More answers would only make the raw score surer of itself.
    assert not raw.interval.low <= truth <= raw.interval.high


def test_undecided_claims_are_drawn_at_the_highest_rate_and_correct_without_bias() -> None:
    """People support .55 of the claims that similarity left undecided, which it counts 0."""
    population = simulated(UNDECIDED)
    found = corrected(population, 100)
    check_unbiased(found, population.faithfulness)
    assert 0.88 <= share_held(found, population.faithfulness) <= 1.0
    strata = draw_of(population, 0).strata
    rates = {each.names: each.drawn / each.units for each in strata}
    large = {names: rate for names, rate in rates.items() if names != (StratumName.UNSUPPORTED,)}
    assert max(large, key=large.__getitem__) == (StratumName.UNDECIDED,)


def test_limits_hold_however_rows_were_left_blank(population: Population) -> None:
    found, truth = corrected(population, 80, blank=0.8), population.faithfulness
    assert share_held(found, truth) < 0.8  # taken for never drawn, they bias the score
    limits = [each.blank for each in found if each.blank]
    assert len(limits) == len(found)
    assert statistics.fmean(each.low <= truth <= each.high for each in limits) >= 0.95
