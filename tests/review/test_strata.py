from pathlib import Path

import pytest

from judge.files.runs import read_results, read_summary
from judge.records import (
    Flag,
    FlagName,
    SampleResult,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.review.records import StratumName
from judge.review.strata import SPREAD, Census, Tally, claims, part_of, stratum_of
from tests.reviewed import score

SUPPORTED, PARTIAL = StratumName.SUPPORTED, StratumName.PARTIAL
SIDE, DOUBTED = StratumName.UNSUPPORTED, StratumName.UNSUPPORTED_DOUBTFUL
UNSURE, UNSCORED = StratumName.SUPPORTED_DOUBTFUL, StratumName.UNSCORED
FAILED = Unscored(reason=UnscoredReason.MALFORMED)
SIMILARITY = "similarity:lexical|prior:0.9|t:0.8"

# The third claim that counts is unscored, and one of four asserts nothing: thirds are counted.
MIXED = ["supported", "partial", "unscored", "no_claim"]
ANSWERS = [["supported", "unsupported"], MIXED, [], ["no_claim", "no_claim"], ["fallen"]]


def llm(support: Support) -> Verdict:
    return Verdict(support=support, source="llm", signature="llm:m@h|t:0.8")


def scored(support: Support, score: float | None, signature: str = SIMILARITY) -> Verdict:
    return Verdict(support=support, score=score, source="similarity", signature=signature)


def test_support_and_flags_make_the_stratum() -> None:
    table = {
        Support.FULL: (SUPPORTED, UNSURE),
        Support.PARTIAL: (PARTIAL, PARTIAL),
        Support.NONE: (SIDE, DOUBTED),
        Support.CONTRADICTED: (SIDE, DOUBTED),
        Support.NO_CLAIM: (DOUBTED, DOUBTED),
    }
    for support, (sure, doubtful) in table.items():
        assert stratum_of(llm(support), ()) == sure
        assert {stratum_of(llm(support), [flag]) for flag in FlagName} == {doubtful}
        fallen = llm(support).model_copy(update={"fallback_from": FAILED})
        assert {stratum_of(fallen, ()), stratum_of(fallen, [*FlagName])} == {UNSCORED}
    for reason in UnscoredReason:
        assert stratum_of(Unscored(reason=reason), ()) == UNSCORED


def test_near_the_threshold_is_doubtful() -> None:
    # .8 is odds of 4; 1 in log odds from it are odds of 4/e and 4e: .5954 and .9158.
    table = {0.0: False, 0.59: False, 0.6: True, 0.8: True, 0.91: True, 0.92: False, 1.0: False}
    for value, near in table.items():
        assert stratum_of(scored(Support.FULL, value), ()) == (UNSURE if near else SUPPORTED)
        assert stratum_of(scored(Support.NONE, value), ()) == (DOUBTED if near else SIDE)
        nli = scored(Support.FULL, value, "nli:m|t:0.8").model_copy(update={"source": "nli"})
        assert stratum_of(nli, ()) == (UNSURE if near else SUPPORTED)
        for threshold in ("0", "1", "1e-300"):  # none is too far out
            verdict = scored(Support.FULL, value, f"similarity:x|t:{threshold}")
            far = abs(value - float(threshold)) > 1e-3
            assert stratum_of(verdict, ()) == (SUPPORTED if far else UNSURE)
    # Without score or threshold nothing is near; the t of a language model is its temperature.
    alone = llm(Support.FULL).model_copy(update={"score": 0.8})
    for verdict in (scored(Support.FULL, None), scored(Support.FULL, 0.8, "own|t:x"), alone):
        assert stratum_of(verdict, ()) == SUPPORTED


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


def census(results: list[SampleResult]) -> Census:
    made = Census(0, 10)
    for result in results:
        made.add(result)
    return made


def test_claims_by_hand(results: list[SampleResult]) -> None:
    found = [[claim.stratum for claim in claims(result)] for result in results]
    mixed = [SUPPORTED, PARTIAL, UNSCORED, DOUBTED]
    assert found == [[SUPPORTED, SIDE], mixed, [], [DOUBTED, DOUBTED], [UNSCORED]]
    parts = [part_of(claims(result)) for result in results if claims(result)]
    assert parts == pytest.approx([1 / 2, 1 / 3, 1 / 2, 1])
    # A flag of the sample is no sentence's.
    flags = (
        Flag(name=FlagName.INJECTION_SUSPECTED),
        Flag(name=FlagName.CONFLICTING_EVIDENCE, sentence=1),
    )
    result = results[0].model_copy(update={"flags": flags})
    assert [claim.stratum for claim in claims(result)] == [SUPPORTED, DOUBTED]


def test_sums_by_hand(results: list[SampleResult]) -> None:
    made = census(results)
    tallies = made.tallies
    units = {SUPPORTED: 2, UNSURE: 0, PARTIAL: 1, DOUBTED: 3, SIDE: 1, UNSCORED: 2}
    assert {name: tally.units for name, tally in tallies.items()} == units
    # Weight, what counts, faithfulness, strict; answers alike, then claims alike.
    assert tallies[SUPPORTED].macro == pytest.approx([1 / 2 + 1 / 3] * 4)
    assert tallies[SUPPORTED].micro == [2, 2, 2, 2]
    assert tallies[PARTIAL].macro == pytest.approx([1 / 3, 1 / 3, 1 / 6, 0])
    assert tallies[DOUBTED].macro == pytest.approx([1 / 3 + 1 / 2 + 1 / 2, 0, 0, 0])
    assert tallies[DOUBTED].micro == [3, 0, 0, 0]
    # A failure counts nothing, the verdict that stands in for one counts as it says.
    assert tallies[UNSCORED].macro == pytest.approx([1 / 3 + 1, 1 / 3 + 1, 1, 1])
    assert tallies[SIDE].micro == [1, 1, 0, 0]
    # How far a person can differ; by failure 0, by the fallback 1; either way of no claim.
    spans = {name: tally.span for name, tally in tallies.items()}
    assert (spans[SUPPORTED], spans[PARTIAL], spans[SIDE]) == ((-1, 0), (-0.5, 0.5), (0, 1))
    assert spans[UNSCORED] == spans[DOUBTED] == (-1, 1)
    assert tallies[PARTIAL].span_strict == (0, 1)
    for name, size in made.sizes().items():
        assert size == (tallies[name].units, tallies[name].macro[0], SPREAD[name])


def test_strata_add_up_to_the_run(many: list[SampleResult], run: Path, tmp_path: Path) -> None:
    summary = read_summary(run)
    loose, strict = summary.faithfulness, summary.faithfulness_strict
    assert loose is not None
    assert strict is not None
    every = Tally.joined(list(census(many).tallies.values())).stratum((SUPPORTED,), 1)
    macro, micro = every.macro, every.micro
    assert macro.weight == macro.counted == pytest.approx(summary.answers)
    assert micro.weight == micro.counted == summary.claims
    assert macro.faithfulness == pytest.approx(loose.macro * loose.answers)
    assert micro.faithfulness == pytest.approx(loose.micro * loose.items)
    assert macro.faithfulness_strict == pytest.approx(strict.macro * strict.answers)
    assert micro.faithfulness_strict == pytest.approx(strict.micro * strict.items)
    # A failure counts for nothing, as in the lower bound.
    run = score(tmp_path, [["supported", "unscored"], ["unscored"], ["partial", "no_claim"]])
    bounds = read_summary(run).faithfulness_bounds
    lower = Tally.joined(list(census(list(read_results(run))).tallies.values())).macro
    assert bounds is not None
    assert lower[2] / lower[1] == pytest.approx(bounds.low) == 1 / 3
