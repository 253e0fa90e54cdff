from collections import Counter
from pathlib import Path

import pytest

from judge.backends.hook import uniform
from judge.files.runs import read_results, read_summary
from judge.records import Flag, FlagName, SampleResult, Support, Verdict
from judge.review.census import SPREAD, By, Census, claims, flags_of, part_of, weighing
from judge.review.records import StratumName, Weighing
from tests.reviewed import outcome, qid_of, score

SUPPORTED = StratumName.SUPPORTED
PARTIAL = StratumName.PARTIAL
DOUBTED = StratumName.UNSUPPORTED_DOUBTFUL
UNSCORED = StratumName.UNSCORED
SIDE = StratumName.UNSUPPORTED

# The third claim that counts is unscored, and one of four asserts nothing: thirds are counted.
MIXED = ["supported", "partial", "unscored", "no_claim"]
ANSWERS = [["supported", "unsupported"], MIXED, [], ["no_claim", "no_claim"], ["fallen"]]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[SampleResult]:
    return list(read_results(score(tmp_path_factory.mktemp("census"), ANSWERS)))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of answers with one to seven claims, without a failure."""
    names = [name for name in StratumName if name != UNSCORED]
    answers = [[names[(n * k + n) % len(names)] for k in range(1 + n % 7)] for n in range(60)]
    return score(tmp_path_factory.mktemp("many"), answers)


@pytest.fixture
def many(run: Path) -> list[SampleResult]:
    return list(read_results(run))


def census(results: list[SampleResult], by: By = "sentence", size: int = 10) -> Census:
    made = Census(by, 0, size)
    for result in results:
        made.add(result)
    return made


def test_claims_by_hand(results: list[SampleResult]) -> None:
    found = [[claim.stratum for claim in claims(result)] for result in results]
    assert found == [
        [SUPPORTED, SIDE],
        [SUPPORTED, PARTIAL, UNSCORED, DOUBTED],
        [],
        [DOUBTED, DOUBTED],
        [UNSCORED],
    ]
    parts = [part_of(claims(result)) for result in results if claims(result)]
    assert parts == pytest.approx([1 / 2, 1 / 3, 1 / 2, 1])


def test_sums_by_hand(results: list[SampleResult]) -> None:
    tallies = census(results).tallies
    units = {name: tally.units for name, tally in tallies.items()}
    assert units == {SUPPORTED: 2, PARTIAL: 1, DOUBTED: 3, SIDE: 1, UNSCORED: 2} | {
        StratumName.SUPPORTED_DOUBTFUL: 0
    }
    # Weight, what counts, faithfulness, strict; answers alike, then claims alike.
    assert tallies[SUPPORTED].macro == pytest.approx([1 / 2 + 1 / 3] * 4)
    assert tallies[SUPPORTED].micro == [2, 2, 2, 2]
    assert tallies[PARTIAL].macro == pytest.approx([1 / 3, 1 / 3, 1 / 6, 0])
    assert tallies[DOUBTED].macro == pytest.approx([1 / 3 + 1 / 2 + 1 / 2, 0, 0, 0])
    assert tallies[DOUBTED].micro == [3, 0, 0, 0]
    # A failure counts nothing, the verdict that stands in for one counts as it says.
    assert tallies[UNSCORED].macro == pytest.approx([1 / 3 + 1, 1 / 3 + 1, 1, 1])
    assert tallies[SIDE].micro == [1, 1, 0, 0]


def test_sums_of_answers_by_hand(results: list[SampleResult]) -> None:
    tallies = census(results, "answer").tallies
    units = {name: tally.units for name, tally in tallies.items() if tally.units}
    assert units == {SIDE: 1, UNSCORED: 2, DOUBTED: 1}
    assert tallies[SIDE].macro == pytest.approx([1, 1, 1 / 2, 1 / 2])
    # Four thirds, for the claim that asserts nothing may turn out to assert something.
    assert tallies[UNSCORED].macro == pytest.approx([4 / 3 + 1, 2, 1 / 2 + 1, 1 / 3 + 1])
    assert tallies[UNSCORED].micro == [5, 4, 2.5, 2]
    assert dict(tallies[UNSCORED].weights) == pytest.approx({4 / 3: 1, 1.0: 1})
    assert {c.sentence for t in tallies.values() for _, c in t.least} == {None}


def test_how_far_a_person_can_differ(results: list[SampleResult]) -> None:
    tallies = census(results).tallies
    assert tallies[SUPPORTED].span == tallies[SUPPORTED].span_strict == (-1, 0)
    assert (tallies[PARTIAL].span, tallies[PARTIAL].span_strict) == ((-0.5, 0.5), (0, 1))
    assert tallies[SIDE].span == (0, 1)
    # Here of 0, by failure, and of 1, by the fallback.
    assert tallies[UNSCORED].span == (-1, 1)
    # y where the judge counts nothing, less the mean of all: either way.
    assert tallies[DOUBTED].span == (-1, 1)
    answers = census(results, "answer").tallies
    assert answers[SIDE].span == (-0.5, 0.5)
    assert answers[UNSCORED].span == (-1, 1)


@pytest.mark.parametrize("by", ["sentence", "answer"])
def test_strata_add_up_to_the_run(by: By, many: list[SampleResult], run: Path) -> None:
    summary = read_summary(run)
    tallies = census(many, by).tallies.values()
    macro = weighing(tally.macro for tally in tallies)
    micro = weighing(tally.micro for tally in tallies)
    loose, strict = summary.faithfulness, summary.faithfulness_strict
    assert loose is not None
    assert strict is not None
    assert macro.weight == macro.counted == pytest.approx(summary.answers)
    assert micro.weight == micro.counted == summary.claims
    assert macro.faithfulness == pytest.approx(loose.macro * loose.answers)
    assert micro.faithfulness == pytest.approx(loose.micro * loose.items)
    assert macro.faithfulness_strict == pytest.approx(strict.macro * strict.answers)
    assert micro.faithfulness_strict == pytest.approx(strict.micro * strict.items)


def test_a_failure_counts_for_nothing_as_in_the_lower_bound(tmp_path: Path) -> None:
    run = score(tmp_path, [["supported", "unscored"], ["unscored"], ["partial", "no_claim"]])
    bounds = read_summary(run).faithfulness_bounds
    tallies = census(list(read_results(run))).tallies.values()
    macro = weighing(tally.macro for tally in tallies)
    assert bounds is not None
    assert macro.faithfulness / macro.counted == pytest.approx(bounds.low) == 1 / 3


@pytest.mark.parametrize("by", ["sentence", "answer"])
@pytest.mark.parametrize("size", [0, 1, 7, 10_000])
def test_it_keeps_the_least_and_the_heaviest_and_no_more(
    by: By, size: int, many: list[SampleResult]
) -> None:
    tallies = census(many, by, size).tallies
    for name, tally in tallies.items():
        assert tally.units == sum(tally.weights.values())
        kept = min(size, tally.units)
        assert len(tally.least) == len(tally.heaviest) == kept
        every = census(many, by, 10_000).tallies[name]
        keys = sorted(candidate for _, candidate in every.least)
        assert sorted(candidate for _, candidate in tally.least) == keys[:kept]
        hefts = sorted((candidate.weight for _, candidate in every.heaviest), reverse=True)
        found = sorted((candidate.weight for _, candidate in tally.heaviest), reverse=True)
        assert found == hefts[:kept]


def test_keys_are_permanent_random_numbers_over_the_weight(many: list[SampleResult]) -> None:
    for by in ("sentence", "answer"):
        made = Census(by, 7, 10_000)
        for result in many:
            made.add(result)
        for tally in made.tallies.values():
            for _, c in tally.least:
                # All claims of an answer weigh 1 together.
                part = 1 / len(many[c.position].sentences)
                assert c.weight == pytest.approx(part if by == "sentence" else 1)
                names = (qid_of(c.position), *(() if c.sentence is None else (c.sentence,)))
                assert c.key == pytest.approx(uniform(7, "draw", *names) / c.weight)


def test_memory_does_not_grow_with_the_run(many: list[SampleResult]) -> None:
    made = Census("sentence", 0, 5)
    for n in range(600):
        result = many[n % len(many)].model_copy(update={"qid": f"q{n}"})
        made.add(result)
    for tally in made.tallies.values():
        assert len(tally.least) == len(tally.heaviest) == min(5, tally.units)
        # Answers here have at most seven claims.
        assert len(tally.weights) <= 7


def test_the_order_of_answers_changes_no_sum(many: list[SampleResult]) -> None:
    one, other = census(many).tallies, census(many[::-1]).tallies
    for name in StratumName:
        assert one[name].units == other[name].units
        assert one[name].macro == pytest.approx(other[name].macro)
        assert one[name].weights == other[name].weights
        assert {c.key for _, c in one[name].least} == {c.key for _, c in other[name].least}


def test_sizes_serve_the_mean_over_answers(results: list[SampleResult]) -> None:
    made = census(results)
    for name, size in made.sizes().items():
        assert size == (made.tallies[name].units, made.tallies[name].macro[0], SPREAD[name])


def test_flags_of_the_sample_are_no_sentence_s(results: list[SampleResult]) -> None:
    flags = (
        Flag(name=FlagName.INJECTION_SUSPECTED),
        Flag(name=FlagName.MISMATCH_NUMBER, sentence=1),
        Flag(name=FlagName.UNVERIFIED_QUOTE, sentence=1),
    )
    result = results[0].model_copy(update={"flags": flags})
    assert flags_of(result) == {1: (FlagName.MISMATCH_NUMBER, FlagName.UNVERIFIED_QUOTE)}
    assert [claim.stratum for claim in claims(result)] == [SUPPORTED, DOUBTED]


def test_a_scripted_outcome_is_what_its_name_says() -> None:
    names = Counter(type(outcome(name, "x")).__name__ for name in StratumName)
    assert names == {"Verdict": 5, "Unscored": 1}
    fallen, none = outcome("fallen", "x"), outcome("no_claim", "x")
    assert isinstance(fallen, Verdict)
    assert fallen.fallback_from is not None
    assert isinstance(none, Verdict)
    assert none.support == Support.NO_CLAIM


def test_strata_as_one() -> None:
    total = weighing([[4.0, 3.0, 2.0, 1.0], [1.0, 1.0, 0.5, 0.0]])
    assert total == Weighing(weight=5, counted=4, faithfulness=2.5, faithfulness_strict=1)
