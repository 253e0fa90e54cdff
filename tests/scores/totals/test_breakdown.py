from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from judge.records import Breakdown, Cell, Flag, FlagName, Sample, SampleResult
from judge.scores.aggregate import aggregate
from judge.scores.totals.breakdown import BreakdownSums

SIDES, OPEN = st.booleans(), st.sampled_from((True, False, None))
CELLS = st.builds(
    Cell,
    answerable=SIDES,
    retrieved=SIDES,
    partly=SIDES,
    abstained=SIDES,
    silent=SIDES,
    faithful=OPEN,
    correct=OPEN,
    signature=st.sampled_from(("cells:1|faithful:0.8", "cells:1|faithful:0.9")),
)
GOOD = Cell(
    answerable=True, retrieved=True, abstained=False, faithful=True, correct=True, signature="s"
)
WRONG = GOOD.model_copy(update={"correct": False})
MISSED = WRONG.model_copy(update={"retrieved": False})
CAUTIOUS = GOOD.model_copy(update={"abstained": True, "faithful": None, "correct": None})
HONEST = CAUTIOUS.model_copy(update={"answerable": False, "retrieved": None})
OPEN_CELL = GOOD.model_copy(update={"correct": None})
PART = WRONG.model_copy(update={"partly": True})
CONFLICT = Flag(name=FlagName.CONFLICTING_GOLD)


def result(qid: str, cell: Cell | Flag | None) -> SampleResult:
    """An answer in a cell, one whose gold contradicts itself, or one without gold."""
    flags = [Flag(name=FlagName.INJECTION_SUSPECTED)]
    if isinstance(cell, Flag):
        flags, cell = [*flags, cell], None
    made = aggregate(Sample(qid=qid), [], {}, [], flags=flags, signature="s")
    return made.model_copy(update={"cell": cell})


def broken_down(cells: Iterable[Cell | Flag | None], names: str = "q{}") -> Breakdown | None:
    sums = BreakdownSums()
    for number, cell in enumerate(cells):
        sums.add(result(names.format(number), cell))
    return sums.breakdown()


def test_the_worked_example() -> None:
    cells = [WRONG, None, GOOD, MISSED, WRONG, CAUTIOUS, HONEST, OPEN_CELL]
    found = broken_down(cells)
    assert found is not None
    assert [(" ".join(c.words), c.half, c.answers, c.qids) for c in found.cells] == [
        ("answerable retrieved answered faithful correct", "neither", 1, ("q2",)),
        ("answerable retrieved answered faithful wrong", "generation", 2, ("q0", "q4")),
        ("answerable retrieved abstained", "generation", 1, ("q5",)),
        ("answerable retrieved answered faithful uncompared", "unknown", 1, ("q7",)),
        ("answerable missed answered faithful wrong", "retrieval", 1, ("q3",)),
        ("unanswerable abstained", "neither", 1, ("q6",)),
    ]
    assert found.halves == {"neither": 2, "retrieval": 1, "generation": 3, "unknown": 1}
    assert (found.counted, found.without_gold, found.conflicting) == (7, 1, 0)
    assert found.signatures == {"s": 7}


def test_without_a_cell_there_is_no_table() -> None:
    assert broken_down([]) is None
    assert broken_down([None, None]) is None


def test_gold_that_contradicts_itself_is_counted_and_named() -> None:
    found = broken_down([GOOD, None, *[CONFLICT] * 21, None])
    assert found is not None
    assert (found.counted, found.without_gold, found.conflicting) == (1, 2, 21)
    assert found.conflicting_qids == tuple(f"q{number}" for number in range(2, 22))
    alone = broken_down([None, CONFLICT])
    assert alone is not None
    assert (alone.cells, alone.counted, alone.conflicting_qids) == ((), 0, ("q1",))
    assert (alone.without_gold, alone.conflicting) == (1, 1)


def test_those_that_saw_part_of_the_evidence_are_counted_within_their_cell() -> None:
    found = broken_down([WRONG, PART, GOOD, PART])
    assert found is not None
    assert [(cell.answers, cell.partly) for cell in found.cells] == [(1, 0), (3, 2)]


def test_halves_that_nothing_speaks_against_are_counted_0() -> None:
    found = broken_down([GOOD])
    assert found is not None
    assert found.halves == {"neither": 1, "retrieval": 0, "generation": 0, "unknown": 0}


def test_the_first_twenty_of_a_cell_are_named() -> None:
    found = broken_down([GOOD, WRONG] * 30)
    assert found is not None
    good, wrong = found.cells
    assert good.qids == tuple(f"q{number}" for number in range(0, 40, 2))
    assert wrong.qids == tuple(f"q{number}" for number in range(1, 40, 2))
    assert (good.answers, wrong.answers) == (30, 30)


@given(st.lists(st.none() | st.just(CONFLICT) | CELLS, max_size=40))
def test_it_adds_up(cells: list[Cell | Flag | None]) -> None:
    found = broken_down(cells)
    known = [cell for cell in cells if isinstance(cell, Cell)]
    if found is None:
        assert not any(cells)
        return
    assert found.counted == len(known) == sum(cell.answers for cell in found.cells)
    assert found.counted == sum(found.halves.values()) == sum(found.signatures.values())
    assert found.without_gold == cells.count(None)
    assert found.counted + found.without_gold + found.conflicting == len(cells)
    assert len(found.conflicting_qids) == min(found.conflicting, 20)
    for cell in found.cells:
        assert len(cell.qids) == min(cell.answers, 20)
        assert cell.answers == sum(one.words == cell.words for one in known)
        assert cell.partly == sum(one.words == cell.words and one.partly for one in known)
        assert found.halves[cell.half] >= cell.answers


@given(
    st.lists(st.none() | CELLS, max_size=25).flatmap(
        lambda c: st.tuples(st.just(c), st.permutations(c))
    )
)
def test_the_order_of_answers_names_others_and_counts_alike(
    both: tuple[list[Cell | None], list[Cell | None]],
) -> None:
    # With one name for all, nothing is left for the order to change.
    one, other = (broken_down(cells, "q") for cells in both)
    assert one == other
