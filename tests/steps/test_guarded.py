from judge.records import Flag, FlagName, JudgeOutcome, Support, Unscored, UnscoredReason, Verdict
from judge.steps.guarded import guarded

FULL = Verdict(
    support=Support.FULL, supporting=("a",), score=0.99, source="similarity", signature="s"
)
TIMEOUT = Unscored(reason=UnscoredReason.TIMEOUT)
NUMBER = Flag(name=FlagName.MISMATCH_NUMBER, sentence=0, detail="24")
NAME = Flag(name=FlagName.MISMATCH_NAME, sentence=0, detail="Lyon")


def test_a_full_that_lacks_a_figure_and_a_name_is_none_and_says_what() -> None:
    outcomes, flags = guarded({0: FULL}, [NUMBER, NAME])
    (outcome,) = outcomes.values()
    assert flags == ()
    assert isinstance(outcome, Verdict)
    assert (outcome.support, outcome.supporting, outcome.reason) == (Support.NONE, (), "24; Lyon")
    assert outcome.score == 0.99


def test_what_stands_in_for_a_language_model_is_guarded_too() -> None:
    fallen = FULL.model_copy(update={"fallback_from": TIMEOUT, "source": "nli"})
    (outcome,) = guarded({0: fallen}, [NUMBER])[0].values()
    assert isinstance(outcome, Verdict)
    assert outcome.support is Support.NONE
    assert outcome.fallback_from == TIMEOUT


def test_a_language_model_that_sees_meaning_is_not_overruled() -> None:
    told = {0: FULL.model_copy(update={"source": "llm", "score": None})}
    assert guarded(told, [NUMBER]) == (told, (NUMBER,))


def test_what_is_not_flagged_and_what_failed_stays() -> None:
    outcomes: dict[int, JudgeOutcome] = {1: FULL, 2: TIMEOUT}
    general = NUMBER.model_copy(update={"sentence": None})
    assert guarded(outcomes, [general]) == (outcomes, (general,))
    assert guarded(outcomes, ()) == (outcomes, ())
