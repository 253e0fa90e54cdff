import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.records import CorrectnessStatus, Excluded, SentenceKind
from tests.compared import MARKS, TIMEOUT, comparison, outcome

SIDE = st.text(alphabet=MARKS, max_size=8)


def test_the_worked_example() -> None:
    """Precision (1 + ½ + 0)/3, recall (1 + 0)/2: both ½."""
    found = comparison("fpn", "fn")
    assert found.status is CorrectnessStatus.SCORED
    assert (found.precision, found.recall, found.f1) == (0.5, 0.5, 0.5)
    assert found.precision_bounds == found.recall_bounds == found.f1_bounds == (0.5, 0.5)
    assert found.f1_with_fallback is None
    assert (found.of_answer.claims, found.of_answer.judged) == (3, 3)
    assert (found.of_reference.claims, found.of_reference.judged) == (2, 2)


def test_precision_and_recall_are_not_mixed_up() -> None:
    """The answer is all right and says a quarter of the reference: F1 is 2 · 1 · ¼ / 1¼ = 0.4."""
    found = comparison("f", "fnnn")
    assert (found.precision, found.recall) == (1, 0.25)
    assert found.f1 == pytest.approx(0.4)
    other = comparison("fnnn", "f")
    assert (other.precision, other.recall) == (0.25, 1)


def test_a_failure_is_in_the_bounds_and_not_in_the_mean() -> None:
    """Precision 1 of 1, or 1 to 2 of 2; recall ½ of 1 or ½ to 1½ of 2."""
    found = comparison("f?", "p?")
    assert (found.precision, found.recall) == (1, 0.5)
    assert found.f1 == pytest.approx(2 / 3)
    assert (found.precision_bounds, found.recall_bounds) == ((0.5, 1), (0.25, 0.75))
    assert found.f1_bounds == pytest.approx((1 / 3, 6 / 7))
    assert (found.of_answer.unscored, found.of_reference.unscored) == (1, 1)


def test_where_one_way_failed_altogether_there_is_no_f1_and_there_are_bounds() -> None:
    found = comparison("f", "??")
    assert found.status is CorrectnessStatus.SCORED
    assert (found.precision, found.recall, found.f1) == (1, None, None)
    assert found.f1_bounds == (0, 1)


def test_a_fallback_is_counted_in_only_where_it_is_said() -> None:
    """Own precision 1, recall 0; with the fallback ½ and ½."""
    found = comparison("fN", "ny")
    assert (found.precision, found.recall, found.f1) == (1, 0, 0)
    assert found.f1_with_fallback == 0.5
    assert (found.of_answer.unscored, found.of_reference.unscored) == (1, 1)
    assert comparison("yy", "y").status is CorrectnessStatus.UNSCORED


def test_both_wrong_is_zero_and_no_division_by_it() -> None:
    found = comparison("c", "nc")
    assert found.f1 == 0
    assert (found.of_answer.contradicted, found.of_reference.contradicted) == (1, 1)


@pytest.mark.parametrize(
    ("answer", "reference", "status"),
    [
        ("f", "", "no_reference"),
        ("a", "", "no_reference"),
        ("", "", "no_reference"),
        ("ha", "h", "abstained"),
        ("", "h", "no_claims"),
        ("h", "a", "no_claims"),
        ("-", "-", "no_claims"),
        ("?", "??", "unscored"),
        ("-", "?", "unscored"),
        ("?", "f", "scored"),
        ("fa", "f", "scored"),
    ],
)
def test_status(answer: str, reference: str, status: str) -> None:
    assert comparison(answer, reference).status == status


def test_an_abstention_has_no_correctness() -> None:
    """Nobody is asked: the reference's claims stand there without an outcome."""
    found = comparison("a", "h")
    assert {found.precision, found.recall, found.f1, found.f1_bounds} == {None}


def test_every_sentence_of_the_reference_is_there_and_the_claims_of_the_answer() -> None:
    found = comparison("hfa?", "hfn")
    assert [(each.index, each.outcome) for each in found.answer] == [
        (1, outcome("f")),
        (3, TIMEOUT),
    ]
    assert [(each.start, each.end) for each in found.reference] == [(0, 1), (1, 2), (2, 3)]
    assert [each.outcome for each in found.reference] == [Excluded(), outcome("f"), outcome("n")]
    assert found.reference[0].kind is SentenceKind.HEADING
    assert found.signature == "c"


@given(SIDE, SIDE)
def test_f1_lies_between_the_two_and_the_bounds_enclose_it(answer: str, reference: str) -> None:
    found = comparison(answer, reference)
    named = ("precision", "recall", "f1")
    for name in named:
        value, limits = getattr(found, name), getattr(found, f"{name}_bounds")
        if value is not None:
            assert limits[0] - 1e-12 <= value <= limits[1] + 1e-12
    known = sorted(side for side in (found.precision, found.recall) if side is not None)
    if found.f1 is None:
        assert len(known) < 2
    elif len(known) < 2:
        assert found.f1 == 0  # whatever the other were
    else:
        least, most = known
        assert least - 1e-12 <= found.f1 <= most + 1e-12


@given(SIDE, SIDE)
def test_the_two_ways_are_each_other_s_mirror(answer: str, reference: str) -> None:
    one, other = comparison(answer, reference), comparison(reference, answer)
    assert (one.precision, one.recall) == (other.recall, other.precision)
    assert (one.of_answer, one.of_reference) == (other.of_reference, other.of_answer)
    assert one.f1 == other.f1


@pytest.mark.parametrize(
    ("answer", "reference", "value", "limits"),
    [
        ("n", "?", 0.0, (0.0, 0.0)),  # no recall could mend a precision of 0
        ("?", "nn", 0.0, (0.0, 0.0)),
        ("h", "n", 0.0, (0.0, 0.0)),  # it asserts nothing, and covers nothing
        ("h", "p", None, None),  # there is no precision, and F1 would hang on it
        ("n?", "?", None, (0.0, 2 / 3)),  # one more may be right: p up to ½, r up to 1
        ("p", "?", None, (0.0, 2 / 3)),
    ],
)
def test_f1_is_known_where_what_is_not_known_could_not_change_it(
    answer: str, reference: str, value: float | None, limits: tuple[float, float] | None
) -> None:
    found = comparison(answer, reference)
    assert found.f1 == value
    assert found.f1_bounds == (limits and pytest.approx(limits))


def test_a_fallback_in_the_reference_alone_is_told_too() -> None:
    """Own: precision 1, no recall; with the fallback recall 1."""
    found = comparison("f", "y")
    assert (found.f1, found.f1_with_fallback) == (None, 1.0)
