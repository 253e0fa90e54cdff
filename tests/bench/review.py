"""Measure how far a corrected score can be trusted, with simulated judges.

    python tests/bench/review.py [seeds]

The run, the draw and the correction are the shipped ones. The labels of the drawn sentences are
looked up in each of `seeds` draws. The result is the share of draws whose interval holds the truth.
"""

import random
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from judge.records import (
    SUPPORT_WEIGHT,
    Flag,
    FlagName,
    Outcome,
    SampleResult,
    Scores,
    SentenceKind,
    SentenceResult,
    Status,
    Summary,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.review.agreement import by_row, corrected_scores
from judge.review.draws import (
    DrawnClaim,
    as_stratum,
    claims,
    claims_of_run,
    divide,
    drawn_sentences,
)
from judge.review.records import Draw, Label, Stratum, StratumName
from judge.scores.totals import summarize

SEEDS: Final = 1000
_DRAWS: Final = 50
"""From each simulated run."""
_SIGNATURE: Final = "simulated"
_DRAW: Final = "r00000000"
_NO_SCORES: Final = dict.fromkeys(
    name for name, field in Scores.model_fields.items() if field.is_required()
)
_FULL, _HALF, _NONE = Support.FULL, Support.PARTIAL, Support.NONE
_PEOPLE: Final = (_NONE, _HALF, _FULL)

# By stratum: its share of the claims, and how often people say none, partial, full there.
_Rates = Mapping[StratumName, tuple[float, tuple[float, float, float]]]
JUDGES: Final[Mapping[str, _Rates]] = {
    "fair": {
        StratumName.SUPPORTED: (0.70, (0.03, 0.03, 0.94)),
        StratumName.SUPPORTED_DOUBTFUL: (0.08, (0.25, 0.15, 0.60)),
        StratumName.PARTIAL: (0.06, (0.25, 0.55, 0.20)),
        StratumName.UNSUPPORTED_DOUBTFUL: (0.04, (0.50, 0.10, 0.40)),
        StratumName.UNSUPPORTED: (0.10, (0.88, 0.06, 0.06)),
        StratumName.UNSCORED: (0.02, (0.15, 0.10, 0.75)),
    },
    "poor": {
        StratumName.SUPPORTED: (0.50, (0.08, 0.05, 0.87)),
        StratumName.SUPPORTED_DOUBTFUL: (0.15, (0.35, 0.15, 0.50)),
        StratumName.PARTIAL: (0.10, (0.40, 0.40, 0.20)),
        StratumName.UNSUPPORTED_DOUBTFUL: (0.05, (0.50, 0.10, 0.40)),
        StratumName.UNSUPPORTED: (0.15, (0.80, 0.10, 0.10)),
        StratumName.UNSCORED: (0.05, (0.30, 0.10, 0.60)),
    },
    # Similarity, which leaves undecided what it cannot tell.
    "undecided": {
        StratumName.SUPPORTED: (0.72, (0.03, 0.02, 0.95)),
        StratumName.SUPPORTED_DOUBTFUL: (0.10, (0.08, 0.04, 0.88)),
        StratumName.UNDECIDED: (0.14, (0.40, 0.10, 0.50)),
        StratumName.UNSUPPORTED: (0.04, (0.85, 0.05, 0.10)),
    },
}
_VERDICTS: Final[Mapping[StratumName, tuple[Support | UnscoredReason, bool]]] = {
    StratumName.SUPPORTED: (_FULL, False),
    StratumName.SUPPORTED_DOUBTFUL: (_FULL, True),
    StratumName.PARTIAL: (_HALF, False),
    StratumName.UNSUPPORTED_DOUBTFUL: (_NONE, True),
    StratumName.UNSUPPORTED: (_NONE, False),
    StratumName.UNDECIDED: (UnscoredReason.UNDECIDED, False),
    StratumName.UNSCORED: (UnscoredReason.TIMEOUT, False),
}

Truth = Mapping[tuple[str, int], Support]
"""What people would say, by answer and sentence."""


class Population(NamedTuple):
    """A run and what people would say of all of it."""

    results: list[SampleResult]
    truth: Truth

    @property
    def faithfulness(self) -> float:
        """The mean over answers of people's weights."""
        answers = [
            [SUPPORT_WEIGHT[self.truth[result.qid, claim.sentence]] for claim in claims(result)]
            for result in self.results
        ]
        return statistics.fmean(map(statistics.fmean, filter(None, answers)))


def simulated(rates: _Rates, answers: int, sentences: int, seed: int) -> Population:
    """Answers of uneven length by a judge whose errors are known."""
    dice = random.Random(seed)  # noqa: S311  a simulation
    sizes = [1] * answers
    pull = [dice.gammavariate(2, 1) for _ in range(answers)]
    for place in dice.choices(range(answers), pull, k=sentences - answers):
        sizes[place] += 1
    names = list(rates)
    shares = [rates[name][0] for name in names]
    results, truth = [], {}
    for number, size in enumerate(sizes):
        strata = dice.choices(names, shares, k=size)
        results.append(_result(f"a{number}", [_VERDICTS[name] for name in strata]))
        for index, name in enumerate(strata):
            truth[f"a{number}", index] = dice.choices(_PEOPLE, rates[name][1])[0]
    return Population(results, truth)


def _result(qid: str, judged: Sequence[tuple[Support | UnscoredReason, bool]]) -> SampleResult:
    sentences, flags = [], []
    for index, (label, doubtful) in enumerate(judged):
        outcome: Outcome
        if isinstance(label, Support):
            outcome = Verdict(support=label, source="llm", signature=_SIGNATURE)
        else:
            outcome = Unscored(reason=label)
        if doubtful:
            flags.append(Flag(name=FlagName.UNVERIFIED_QUOTE, sentence=index))
        at = {"index": index, "start": index, "end": index + 1, "text": "x"}
        sentences.append(SentenceResult(**at, kind=SentenceKind.CLAIM, outcome=outcome))
    weights = [SUPPORT_WEIGHT[label] for label, _ in judged if isinstance(label, Support)]
    score = statistics.fmean(weights) if weights else None
    claims, kept = len(judged), len(weights)
    counts = {"claims": claims, "judged": kept, "unscored": claims - kept, "no_claim": 0}
    return SampleResult(
        qid=qid,
        status=Status.UNSCORED if score is None else Status.SCORED,
        scores=Scores.model_validate(
            _NO_SCORES | counts | {"faithfulness": score, "unsupported": ()}
        ),
        sentences=tuple(sentences),
        citations=(),
        flags=tuple(flags),
        signature=_SIGNATURE,
    )


def draw_of(population: Population, size: int, seed: int, *, uniform: bool = False) -> Draw:
    """A draw of the shipped sampler, or one in which all claims have the same chance."""
    if uniform:
        strata, picked = _uniform(population, size, seed)
    else:
        strata, picked = divide(claims_of_run(population.results, seed), size)
    by_answer: defaultdict[int, list[DrawnClaim]] = defaultdict(list)
    for each in picked:
        by_answer[each.answer].append(each)
    sentences = [
        sentence
        for position, items in by_answer.items()
        for sentence in drawn_sentences(_DRAW, population.results[position], items)
    ]
    return Draw(
        draw=_DRAW,
        seed=seed,
        size=size,
        results="",
        signature=_SIGNATURE,
        strata=strata,
        sentences=tuple(sentences),
    )


def _uniform(
    population: Population, size: int, seed: int
) -> tuple[tuple[Stratum, ...], list[DrawnClaim]]:
    every = claims_of_run(population.results, seed)
    rows = random.Random(seed).sample(range(len(every)), size)  # noqa: S311
    names = tuple(StratumName)
    picked = [
        DrawnClaim(int(row["answer"]), int(row["sentence"]), 0, size / len(every))
        for row in every[rows]
    ]
    return (as_stratum(every, names, size),), picked


class Found(NamedTuple):
    """A corrected score (over answers), its interval, and the raw score."""

    corrected: float
    low: float
    high: float
    raw: float
    lowest: float
    """The lower limit if all blank rows were wrong; `low` without blank rows."""
    highest: float


Blank = Mapping[Support, float]
"""Share of the rows that people leave blank, by what they would say of them."""


def labels_of(population: Population, draw: Draw, blank: Blank, seed: int) -> list[Label]:
    """What people say of a draw."""
    dice = random.Random(seed)  # noqa: S311  a simulation
    labels = []
    for each in draw.sentences:
        true = population.truth[each.qid, each.sentence]
        if dice.random() < blank.get(true, 0.0):
            continue
        labels.append(
            Label(
                review_id=each.review_id,
                qid=each.qid,
                sentence=each.sentence,
                support=true,
                supported=true is Support.FULL,
            )
        )
    return labels


def corrected(population: Population, summary: Summary, draw: Draw, blank: Blank) -> Found:
    """The corrected faithfulness, once people have labelled the draw."""
    labels = labels_of(population, draw, blank, draw.seed)
    score = corrected_scores(draw, by_row(labels), summary, ["faithfulness"])[0]
    ends = (score.blank.low, score.blank.high) if score.blank else (score.low, score.high)
    return Found(score.corrected, score.low, score.high, score.raw or 0.0, *ends)


def draws(
    population: Population,
    summary: Summary,
    size: int,
    seeds: Iterable[int],
    *,
    uniform: bool = False,
    blank: Blank = MappingProxyType({}),
) -> list[Found]:
    """The corrected faithfulness by the draw of each seed."""
    found = []
    for seed in seeds:
        draw = draw_of(population, size, seed, uniform=uniform)
        found.append(corrected(population, summary, draw, blank))
    return found


def share_held(found: Sequence[Found], truth: float) -> float:
    """How often the interval holds the truth."""
    return statistics.fmean(each.low <= truth <= each.high for each in found)


def width(found: Sequence[Found]) -> float:
    """The mean width of the intervals."""
    return statistics.fmean(each.high - each.low for each in found)


def simulate(judge: str, size: int, seeds: int) -> None:
    """Print how often the interval holds the truth, beside the raw score and a uniform draw."""
    raw, found, uniform = [], [], []
    for start in range(0, seeds, _DRAWS):
        population = simulated(JUDGES[judge], 800, 5000, start)
        summary, truth = summarize(population.results), population.faithfulness
        assert summary.faithfulness is not None
        limits = summary.faithfulness.interval
        raw.append((limits.low <= truth <= limits.high, summary.faithfulness.macro - truth))
        numbers = range(start, min(start + _DRAWS, seeds))
        found += off(draws(population, summary, size, numbers), truth)
        uniform += off(draws(population, summary, size, numbers, uniform=True), truth)
    print(
        f"{judge:5} {size:4} holds {share_held(found, 0):6.1%}  width {width(found):.3f}"
        f"  bias {statistics.fmean(each.corrected for each in found):+.4f}"
        f"  uniform draw: {share_held(uniform, 0):.1%}, width {width(uniform):.3f}  raw: off by "
        f"{statistics.fmean(error for _, error in raw):+.3f}, holds in "
        f"{sum(held for held, _ in raw)} of {len(raw)} runs"
    )


def off(found: Sequence[Found], truth: float) -> list[Found]:
    """How far each of them lies from the truth."""
    return [Found(*(number - truth for number in each)) for each in found]


def main() -> None:
    """Print it all."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS
    for judge in JUDGES:
        for size in (200, 60):
            simulate(judge, size, seeds)


if __name__ == "__main__":
    main()
