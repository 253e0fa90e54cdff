import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.records import Excluded, FlagName, Outcome, Support, Unscored, UnscoredReason, Verdict
from judge.review.census import SPREAD, counts, stratum_of, stratum_of_answer, weight
from judge.review.records import StratumName

FAILED = Unscored(reason=UnscoredReason.MALFORMED)
SIMILARITY = "similarity:lexical|prior:0.9|t:0.8"
FLAG = FlagName.UNVERIFIED_QUOTE


def llm(support: Support) -> Verdict:
    return Verdict(support=support, source="llm", signature="llm:m@h|t:0.8")


def scored(support: Support, score: float | None, signature: str = SIMILARITY) -> Verdict:
    return Verdict(support=support, score=score, source="similarity", signature=signature)


@pytest.mark.parametrize(
    ("support", "sure", "doubtful"),
    [
        (Support.FULL, StratumName.SUPPORTED, StratumName.SUPPORTED_DOUBTFUL),
        (Support.PARTIAL, StratumName.PARTIAL, StratumName.PARTIAL),
        (Support.NONE, StratumName.UNSUPPORTED, StratumName.UNSUPPORTED_DOUBTFUL),
        (Support.CONTRADICTED, StratumName.UNSUPPORTED, StratumName.UNSUPPORTED_DOUBTFUL),
        (
            Support.NO_CLAIM,
            StratumName.UNSUPPORTED_DOUBTFUL,
            StratumName.UNSUPPORTED_DOUBTFUL,
        ),
    ],
)
def test_support_and_flags(support: Support, sure: StratumName, doubtful: StratumName) -> None:
    assert stratum_of(llm(support), ()) == sure
    for flag in FlagName:
        assert stratum_of(llm(support), [flag]) == doubtful
    fallen = llm(support).model_copy(update={"fallback_from": FAILED})
    assert stratum_of(fallen, ()) == stratum_of(fallen, [FLAG]) == StratumName.UNSCORED


@pytest.mark.parametrize("reason", UnscoredReason)
def test_what_failed_is_unscored(reason: UnscoredReason) -> None:
    assert stratum_of(Unscored(reason=reason), ()) == StratumName.UNSCORED
    assert stratum_of(Unscored(reason=reason), [FLAG]) == StratumName.UNSCORED


@pytest.mark.parametrize(
    # .8 is odds of 4; 1 in log odds from it are odds of 4/e and 4e: .5954 and .9158.
    ("score", "near"),
    [
        (0.0, False),
        (0.59, False),
        (0.6, True),
        (0.8, True),
        (0.91, True),
        (0.92, False),
        (1, False),
    ],
)
def test_near_the_threshold(score: float, near: bool) -> None:  # noqa: FBT001 (a table's column)
    supported = StratumName.SUPPORTED_DOUBTFUL if near else StratumName.SUPPORTED
    unsupported = StratumName.UNSUPPORTED_DOUBTFUL if near else StratumName.UNSUPPORTED
    assert stratum_of(scored(Support.FULL, score), ()) == supported
    assert stratum_of(scored(Support.NONE, score), ()) == unsupported
    nli = scored(Support.FULL, score, "nli:model|t:0.8|w:512").model_copy(update={"source": "nli"})
    assert stratum_of(nli, ()) == supported


def test_without_score_or_threshold_nothing_is_near() -> None:
    assert stratum_of(scored(Support.FULL, None), ()) == StratumName.SUPPORTED
    assert stratum_of(scored(Support.FULL, 0.8, "own"), ()) == StratumName.SUPPORTED
    # The t of a language model is its temperature, whatever score comes with it.
    verdict = llm(Support.FULL).model_copy(update={"score": 0.8})
    assert stratum_of(verdict, ()) == StratumName.SUPPORTED


@pytest.mark.parametrize("threshold", ["0", "1", "1e-300"])
@pytest.mark.parametrize("score", [0.0, 1.0, 0.5])
def test_no_threshold_is_too_far_out(threshold: str, score: float) -> None:
    near = abs(score - float(threshold)) < 1e-3
    verdict = scored(Support.FULL, score, f"similarity:x|t:{threshold}")
    expected = StratumName.SUPPORTED_DOUBTFUL if near else StratumName.SUPPORTED
    assert stratum_of(verdict, ()) == expected


def test_an_answer_is_as_doubtful_as_its_worst_claim() -> None:
    rising = [
        StratumName.SUPPORTED,
        StratumName.SUPPORTED_DOUBTFUL,
        StratumName.PARTIAL,
        StratumName.UNSUPPORTED,
        StratumName.UNSUPPORTED_DOUBTFUL,
        StratumName.UNSCORED,
    ]
    assert sorted(rising) == sorted(StratumName)
    for n, name in enumerate(rising, 1):
        assert stratum_of_answer(rising[:n]) == name
        assert stratum_of_answer({name}) == name


OUTCOMES: list[tuple[Outcome, bool, float, float]] = [
    (llm(Support.FULL), True, 1, 1),
    (llm(Support.PARTIAL), True, 0.5, 0),
    (llm(Support.NONE), True, 0, 0),
    (llm(Support.CONTRADICTED), True, 0, 0),
    (llm(Support.NO_CLAIM), False, 0, 0),
    (FAILED, True, 0, 0),
    (llm(Support.FULL).model_copy(update={"fallback_from": FAILED}), True, 1, 1),
    (Excluded(), True, 0, 0),
]


@pytest.mark.parametrize(("outcome", "counted", "loose", "strict"), OUTCOMES)
def test_what_a_claim_adds(
    outcome: Outcome,
    counted: bool,  # noqa: FBT001 (a table's column)
    loose: float,
    strict: float,
) -> None:
    assert counts(outcome) is counted
    assert weight(outcome, strict=False) == loose
    assert weight(outcome, strict=True) == strict


@given(
    st.sampled_from(Support),
    st.floats(0, 1) | st.none(),
    st.sampled_from(["llm", "nli", "similarity"]),
    st.floats(0, 1),
    st.sets(st.sampled_from(FlagName)),
)
def test_every_verdict_has_a_stratum(
    support: Support, score: float | None, source: str, threshold: float, flags: set[FlagName]
) -> None:
    verdict = Verdict.model_validate(
        {"support": support, "score": score, "source": source, "signature": f"x|t:{threshold:g}"}
    )
    name = stratum_of(verdict, flags)
    assert name in SPREAD
    assert name != StratumName.UNSCORED


def test_doubt_is_expected_to_hold_more_errors() -> None:
    assert set(SPREAD) == set(StratumName)
    # Four errors in a hundred, and three in ten, as the standard deviation of a share.
    assert math.isclose(SPREAD[StratumName.SUPPORTED], math.sqrt(0.04 * 0.96), abs_tol=0.01)
    assert math.isclose(SPREAD[StratumName.UNSCORED], math.sqrt(0.3 * 0.7), abs_tol=0.01)
    assert SPREAD[StratumName.SUPPORTED_DOUBTFUL] > SPREAD[StratumName.SUPPORTED]
    assert SPREAD[StratumName.UNSUPPORTED_DOUBTFUL] > SPREAD[StratumName.UNSUPPORTED]
