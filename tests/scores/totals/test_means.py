import pytest

from judge.scores.interval import wilson
from judge.scores.totals.means import NamedMeans


def means(*answers: tuple[float | None, float | None, tuple[float, float] | None]) -> NamedMeans:
    made = NamedMeans(("one", "two"), ("two",), seed=0)
    for number, (one, two, limits) in enumerate(answers):
        made.add(f"q{number}", (one, two), (limits,))
    return made


def test_names_stand_for_their_own_columns() -> None:
    made = means((1.0, 0.25, (0.0, 0.5)), (None, 0.75, (0.5, 1.0)), (0.0, None, None))
    one = made.score("one", 0.6, 5)
    assert one is not None
    assert (one.macro, one.micro, one.answers, one.items) == (0.5, 0.6, 2, 5)
    two = made.score("two", 0.6, 5)
    assert two is not None
    assert (two.macro, two.answers) == (0.5, 2)
    assert (two.interval.low, two.interval.high) == pytest.approx(wilson(0.5, 2))
    bounds = made.bounds("two")
    assert bounds is not None
    assert (bounds.low, bounds.high, bounds.answers) == (0.25, 0.75, 2)
    assert bounds.low_interval.low == pytest.approx(wilson(0.25, 2)[0])


def test_what_no_answer_has_is_none() -> None:
    made = means((None, 1.0, None))
    assert made.score("one", None, 0) is None
    assert made.bounds("two") is None
    assert made.score("two", 1.0, 1) is not None
