from judge.answer.sentences import split
from judge.checks.guarded import guarded
from judge.records import (
    Evidence,
    Flag,
    FlagName,
    JudgeOutcome,
    JudgeRequest,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)

TEXT = "The deposit is refunded. Fees are at most 30 euros."
ASKED = JudgeRequest(query="", answer=TEXT, sentences=split(TEXT), ask=(0, 1), chunks=())
FULL = Verdict(
    support=Support.FULL, supporting=("a",), score=0.99, source="similarity", signature="s"
)
TIMEOUT = Unscored(reason=UnscoredReason.TIMEOUT)
NUMBER = Flag(name=FlagName.MISMATCH_NUMBER, sentence=0, detail="24")
NAME = Flag(name=FlagName.MISMATCH_NAME, sentence=0, detail="Lyon")


def test_a_full_that_lacks_a_figure_and_a_name_is_none_and_says_what() -> None:
    outcomes, flags = guarded(ASKED, {0: FULL}, [NUMBER, NAME])
    (outcome,) = outcomes.values()
    assert flags == ()
    assert isinstance(outcome, Verdict)
    assert (outcome.support, outcome.supporting, outcome.reason) == (Support.NONE, (), "24; Lyon")
    assert outcome.score == 0.99


def test_what_stands_in_for_a_language_model_is_guarded_too() -> None:
    fallen = FULL.model_copy(update={"fallback_from": TIMEOUT, "source": "nli"})
    (outcome,) = guarded(ASKED, {0: fallen}, [NUMBER])[0].values()
    assert isinstance(outcome, Verdict)
    assert outcome.support is Support.NONE
    assert outcome.fallback_from == TIMEOUT


def test_a_language_model_that_sees_meaning_is_not_overruled() -> None:
    told = {0: FULL.model_copy(update={"source": "llm", "score": None})}
    assert guarded(ASKED, told, [NUMBER]) == (told, (NUMBER,))


def test_what_is_not_flagged_and_what_failed_stays() -> None:
    outcomes: dict[int, JudgeOutcome] = {1: FULL, 2: TIMEOUT}
    general = NUMBER.model_copy(update={"sentence": None})
    assert guarded(ASKED, outcomes, [general]) == (outcomes, (general,))
    assert guarded(ASKED, outcomes, ()) == (outcomes, ())


def quoting(text: str) -> Verdict:
    quote = Evidence(chunk_id="a", quote=text, start=0, end=len(text), verified=True)
    return FULL.model_copy(update={"evidence": (quote,)})


def test_a_full_that_its_quote_denies_is_none() -> None:
    (outcome,) = guarded(ASKED, {0: quoting("The deposit is not refunded.")}, ())[0].values()
    assert isinstance(outcome, Verdict)
    assert (outcome.support, outcome.reason) == (Support.NONE, "one denies what the other says")


def test_a_denial_in_another_clause_denies_that() -> None:
    outcomes: dict[int, JudgeOutcome] = {0: quoting("The deposit is refunded, the fee is not.")}
    assert guarded(ASKED, outcomes, ()) == (outcomes, ())


def test_another_bound_is_another_figure() -> None:
    (outcome,) = guarded(ASKED, {1: quoting("Fees are at most 20 euros.")}, ())[0].values()
    assert isinstance(outcome, Verdict)
    assert (outcome.support, outcome.reason) == (Support.NONE, "30 euros")
