import math
import random
from collections.abc import Callable

# The reference library takes a second or so to import; the tests themselves are quick.
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss

from judge.review.agreement import brier, calibration_error

Row = tuple[float, bool, int]
Measure = Callable[[list[float], list[bool], list[int]], float | None]
ROWS = st.lists(st.tuples(st.floats(0, 1), st.booleans(), st.integers(0, 4)), max_size=25)
BOTH = pytest.mark.parametrize("measure", [brier, calibration_error])


def split(rows: list[Row]) -> tuple[list[float], list[bool], list[int]]:
    return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]


def test_brier_by_hand() -> None:
    assert brier([0.9, 0.2], [True, False]) == pytest.approx((0.01 + 0.04) / 2)
    assert brier([0.9, 0.2], [True, False], [3, 1]) == pytest.approx((0.03 + 0.04) / 4)
    assert brier([0.0, 1.0], [False, True]) == 0.0
    assert brier([0.0, 1.0], [True, False]) == 1.0


def test_calibration_error_by_hand() -> None:
    # Bins [.2, .3) and [.9, 1]: |1/2 - .22| · 2/4 + |1 - .95| · 2/4.
    said, true = [0.2, 0.24, 0.9, 1.0], [True, False, True, True]
    assert calibration_error(said, true) == pytest.approx(0.14 + 0.025)
    # By weight: |(3 - .6 - .24)| / 6 + |2 - 1.9| / 6.
    assert calibration_error(said, true, [3, 1, 1, 1]) == pytest.approx((2.16 + 0.1) / 6)
    # One bin: |3/4 - .585|.
    assert calibration_error(said, true, bins=1) == pytest.approx(0.165)


@pytest.mark.parametrize(
    ("low", "edge", "bins"), [(0.49, 0.5, 2), (0.28, 0.29, 100), (0.05, 0.1, 10), (0.2, 0.3, 10)]
)
def test_an_edge_belongs_to_the_bin_above(low: float, edge: float, bins: int) -> None:
    # Two rows that would cancel in one bin, and add up in two.
    apart = calibration_error([low, edge], [True, False], bins=bins)
    assert apart == pytest.approx(((1 - low) + edge) / 2)


def test_one_belongs_to_the_last_bin() -> None:
    assert calibration_error([0.95, 1.0], [True, False]) == pytest.approx(0.95 / 2)


def test_bins_are_at_least_one() -> None:
    with pytest.raises(ValueError, match="got 0"):
        calibration_error([0.5], [True], bins=0)


@BOTH
def test_nothing_to_score(measure: Measure) -> None:
    assert measure([], [], []) is None
    assert measure([0.5], [True], [0]) is None


@BOTH
@pytest.mark.parametrize(
    ("said", "true", "weights", "message"),
    [
        ([0.5], [True, False], [1], "got 2 for 1"),
        ([0.5, 1.5], [True, False], [1, 1], "got 1.5"),
        ([0.5, -0.1], [True, False], [1, 1], "got -0.1"),
        ([0.5, math.nan], [True, False], [1, 1], "got nan"),
        ([0.5, 0.5], [True, math.nan], [1, 1], "got nan"),
        ([0.5, 0.5], [True, 0.4], [1, 1], "got 0.4"),
        ([0.5, 0.5], [True, "none"], [1, 1], "got 'none'"),
        ([0.5, 0.5], [True, False], [1], "got 1 for 2 rows"),
        ([0.5, 0.5], [True, False], [1, -1], "got -1"),
        ([0.5, 0.5], [True, False], [1, math.nan], "got nan"),
    ],
)
def test_what_cannot_be_scored(
    measure: Measure, said: list[float], true: list[bool], weights: list[int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        measure(said, true, weights)


@BOTH
@given(rows=ROWS, unit=st.floats(1e-6, 1e6))
def test_the_unit_of_weights_does_not_matter(
    measure: Callable[..., float | None], rows: list[Row], unit: float
) -> None:
    said, true, weights = split(rows)
    score = measure(said, true, weights)
    scaled = measure(said, true, [weight * unit for weight in weights])
    assert score is None or 0 <= score <= 1
    assert scaled == (score and pytest.approx(score, abs=1e-9))


@BOTH
@given(rows=ROWS)
def test_a_whole_weight_is_a_row_repeated(
    measure: Callable[..., float | None], rows: list[Row]
) -> None:
    repeated = measure(*split([row for row in rows for _ in range(row[2])])[:2])
    assert measure(*split(rows)) == (
        repeated if repeated is None else pytest.approx(repeated, abs=1e-9)
    )


@given(ROWS)
def test_more_bins_hide_less(rows: list[Row]) -> None:
    # Each of four bins is made of two of eight.
    coarse, fine = (calibration_error(*split(rows), bins=bins) for bins in (4, 8))
    assert coarse is None or fine is None or coarse <= fine + 1e-9


@pytest.mark.parametrize("seed", range(30))
def test_brier_is_scikit_learn_s(seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311  no secret
    said = [dice.choice((0.0, 1.0, dice.random())) for _ in range(dice.randint(2, 80))]
    true = [True, False, *(dice.random() < p for p in said[2:])]
    weights = [1.0, *(dice.choice((0.0, dice.random(), 100 * dice.random())) for _ in said[1:])]
    assert brier(said, true) == pytest.approx(brier_score_loss(true, said), abs=1e-9)
    weighted = brier_score_loss(true, said, sample_weight=weights)
    assert brier(said, true, weights) == pytest.approx(weighted, abs=1e-9)
