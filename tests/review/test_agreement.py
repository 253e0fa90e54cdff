"""Measures of agreement: by hand, by their laws, and beside the libraries that people quote."""

import math
import random
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from pathlib import Path

# The reference libraries take a second or so to import; the tests themselves are quick.
import krippendorff
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, cohen_kappa_score

from judge.records import Support
from judge.review.agreement import (
    brier,
    calibration_error,
    cohen_kappa,
    krippendorff_alpha,
    mcnemar,
)

DVIDS = Path(__file__).resolve().parents[3] / "shared" / "data" / "judges" / "dvids.jsonl"
Row = tuple[str, str, int]
Forecast = tuple[float, bool, int]
ROWS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("abc"), st.integers(0, 4)), max_size=25
)
UNITS = st.lists(st.lists(st.one_of(st.none(), st.sampled_from("abc")), max_size=5), max_size=12)
FORECASTS = st.lists(st.tuples(st.floats(0, 1), st.booleans(), st.integers(0, 4)), max_size=25)
SEEDS = range(30)


def split(rows: Sequence[Row]) -> tuple[list[str], list[str], list[int]]:
    return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]


def split_forecasts(rows: list[Forecast]) -> tuple[list[float], list[bool], list[int]]:
    return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]


def near(value: float | None) -> object:
    return value if value is None else pytest.approx(value, abs=1e-9)


def test_kappa_by_hand() -> None:
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: p_o = .7, p_e = .5 · .6 + .5 · .4 = .5.
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    mixed: list[Hashable] = [Support.FULL, Support.NONE, "支持", None]
    table: list[tuple[Sequence[Hashable], Sequence[Hashable], list[float] | None, float | None]] = [
        (first, second, None, 0.4),
        # The same table with one row a cell.
        (["yes", "yes", "no", "no"], ["yes", "no", "yes", "no"], [20, 5, 10, 15], 0.4),
        ("abc", "abc", None, 1.0),
        ("ab", "ba", None, -1.0),
        (mixed, list(mixed), None, 1.0),
        # One side always says the same: it tells nothing, however often it agrees.
        ("aaaa", "aaab", None, 0.0),
        ("aa", "bb", None, 0.0),
        # No rows, no weight, no second label: undefined, whatever weights round to.
        ("", "", None, None),
        ("", "", [], None),
        ("ab", "ab", [0, 0], None),
        ("aa", "aa", None, None),
        *(("a" * 11, "a" * 11, [w * k for k in range(11)], None) for w in (0.1, 1 / 3, 0.7)),
        *(("aaab", "aaaa", [w, 0.3, 0.1, 0], None) for w in (0.1, 1 / 3, 0.7)),
        # p_o = 1 - ε and p_e = 1 - ε: no better than chance, and 1 - p_e is no rounding error.
        ("aaa", "aab", [0.1, 0.7, 1e-18], 0.0),
        # One b in a billion, found by both.
        ("aab", "aab", [0.1, 0.7, 1e-18], 1.0),
    ]
    for one, other, weights, expected in table:
        assert cohen_kappa(one, other, weights) == near(expected), (one, other, weights)


def test_what_cannot_be_compared() -> None:
    table: list[tuple[Sequence[Hashable], list[float] | None, str]] = [
        ("a", None, "got 2 and 1"),
        ("ab", [1.0], "got 1 for 2 rows"),
        ("ab", [1.0, -2.0], "got -2.0"),
        ("ab", [math.nan, 1.0], "got nan"),
        ("ab", [math.inf, 1.0], "got inf"),
        (["a", math.nan], None, "got nan"),
    ]
    for second, weights, said in table:
        with pytest.raises(ValueError, match=said):
            cohen_kappa("ab", second, weights)
    with pytest.raises(ValueError, match="got nan"):
        krippendorff_alpha([["a", math.nan]])
    for counts in ((-1, 3), (3, -1)):
        with pytest.raises(ValueError, match="got -1"):
            mcnemar(*counts)


@settings(deadline=None)
@given(ROWS, st.permutations("abc"), st.floats(1e-6, 1e6))
def test_the_laws_of_kappa(rows: list[Row], names: list[str], unit: float) -> None:
    first, second, weights = split(rows)
    kappa = cohen_kappa(first, second, weights)
    assert kappa is None or -1 <= kappa <= 1
    # Sides may change places; names and the unit of weights do not matter.
    assert kappa == near(cohen_kappa(second, first, weights))
    other = dict(zip("abc", names, strict=True))
    renamed = [other[label] for label in first], [other[label] for label in second]
    assert cohen_kappa(*renamed, [weight * unit for weight in weights]) == near(kappa)
    # A whole weight is a row repeated.
    repeated = [row for row in rows for _ in range(row[2])]
    assert kappa == near(cohen_kappa(*split(repeated)[:2]))


def test_kappa_is_scikit_learn_s() -> None:
    for seed in SEEDS:
        dice = random.Random(seed)  # noqa: S311  no secret
        names = "abcdef"[: dice.randint(2, 6)]
        first = dice.choices(names, k=dice.randint(5, 80))
        second = [label if dice.random() < 0.6 else dice.choice(names) for label in first]
        weights = [dice.choice((0.0, dice.random(), 100 * dice.random())) for _ in first]
        assert cohen_kappa(first, second) == near(cohen_kappa_score(first, second)), seed
        weighted = cohen_kappa_score(first, second, sample_weight=weights)
        assert cohen_kappa(first, second, weights) == near(weighted), seed


def test_alpha_by_hand() -> None:
    # Krippendorff (2011), section B: twelve objects, two observers; α = .692.
    jon = ["a", "a", "b", "b", "d", "c", "c", "c", "e", "d", "d", "a"]
    bob = ["b", "a", "b", "b", "b", "c", "c", "c", "e", "d", "d", "d"]
    alpha = krippendorff_alpha(list(zip(jon, bob, strict=True)))
    assert alpha == pytest.approx(0.692, abs=5e-4)
    # n = 5, four of them a: 8 unequal pairs; the second unit has 4, for m - 1 = 2: 1 - 4 · 2 / 8.
    assert krippendorff_alpha(["aa", "aab", "b"]) == 0
    # No unit with two labels, or one label in all; the only b stands alone.
    nothing: list[list[Sequence[str | None]]] = [
        [],
        ["a", "b", ["a", None], [None, None], ""],
        ["aa", "aaa"],
        ["aa", "b"],
    ]
    assert [krippendorff_alpha(units) for units in nothing] == [None] * 4


@settings(deadline=None)
@given(UNITS, st.permutations("abc"), st.randoms(use_true_random=False))
def test_alpha_knows_neither_names_nor_raters_nor_what_is_missing(
    units: list[list[str | None]], names: list[str], dice: random.Random
) -> None:
    alpha = krippendorff_alpha(units)
    assert alpha is None or -1 < alpha <= 1
    other = dict(zip("abc", names, strict=True))
    renamed = [[other[label] for label in unit if label] for unit in units]
    for unit in renamed:
        dice.shuffle(unit)
    assert krippendorff_alpha([*renamed, ["a"], []]) == near(alpha)


def test_alpha_is_the_krippendorff_package_s() -> None:
    for seed in SEEDS:
        dice = random.Random(seed)  # noqa: S311  no secret
        values, raters = dice.randint(2, 5), dice.randint(2, 6)
        units: list[list[float | None]] = []
        for _ in range(dice.randint(6, 40)):
            truth = dice.randrange(values)
            rated = [
                truth if dice.random() < 0.6 else dice.randrange(values) for _ in range(raters)
            ]
            units.append([label if dice.random() < 0.7 else None for label in rated])
        # In its own form: one row a rater, what is missing as NaN.
        table = [
            [math.nan if label is None else label for label in column]
            for column in zip(*units, strict=True)
        ]
        expected = krippendorff.alpha(table, level_of_measurement="nominal")
        assert krippendorff_alpha(units) == near(expected), seed


def test_forecasts_by_hand() -> None:
    assert brier([0.9, 0.2], [True, False]) == pytest.approx((0.01 + 0.04) / 2)
    assert brier([0.9, 0.2], [True, False], [3, 1]) == pytest.approx((0.03 + 0.04) / 4)
    assert brier([0.0, 1.0], [False, True]) == 0.0
    assert brier([0.0, 1.0], [True, False]) == 1.0
    # Bins [.2, .3) and [.9, 1]: |1/2 - .22| · 2/4 + |1 - .95| · 2/4.
    said, true = [0.2, 0.24, 0.9, 1.0], [True, False, True, True]
    assert calibration_error(said, true) == pytest.approx(0.14 + 0.025)
    # By weight: |(3 - .6 - .24)| / 6 + |2 - 1.9| / 6.
    assert calibration_error(said, true, [3, 1, 1, 1]) == pytest.approx((2.16 + 0.1) / 6)
    # One bin: |3/4 - .585|. One belongs to the last.
    assert calibration_error(said, true, bins=1) == pytest.approx(0.165)
    assert calibration_error([0.95, 1.0], [True, False]) == pytest.approx(0.95 / 2)
    # An edge belongs to the bin above: two rows that would cancel in one bin add up in two.
    for low, edge, bins in ((0.49, 0.5, 2), (0.28, 0.29, 100), (0.05, 0.1, 10), (0.2, 0.3, 10)):
        apart = calibration_error([low, edge], [True, False], bins=bins)
        assert apart == pytest.approx(((1 - low) + edge) / 2)
    with pytest.raises(ValueError, match="got 0"):
        calibration_error([0.5], [True], bins=0)


def test_what_are_no_forecasts() -> None:
    table: list[tuple[list[float], list[float], list[float], str]] = [
        ([0.5], [True, False], [1], "got 2 for 1"),
        ([0.5, 1.5], [True, False], [1, 1], "got 1.5"),
        ([0.5, -0.1], [True, False], [1, 1], "got -0.1"),
        ([0.5, math.nan], [True, False], [1, 1], "got nan"),
        ([0.5, 0.5], [True, math.nan], [1, 1], "got nan"),
        ([0.5, 0.5], [True, 0.4], [1, 1], "got 0.4"),
        ([0.5, 0.5], [True, False], [1], "got 1 for 2 rows"),
        ([0.5, 0.5], [True, False], [1, math.nan], "got nan"),
    ]
    measures: list[Callable[..., float | None]] = [brier, calibration_error]
    for measure in measures:
        assert measure([], [], []) is None
        assert measure([0.5], [True], [0]) is None
        for said, true, weights, message in table:
            with pytest.raises(ValueError, match=message):
                measure(said, true, weights)


@settings(deadline=None)
@given(rows=FORECASTS, unit=st.floats(1e-6, 1e6))
def test_the_laws_of_forecasts(rows: list[Forecast], unit: float) -> None:
    said, true, weights = split_forecasts(rows)
    repeated = split_forecasts([row for row in rows for _ in range(row[2])])[:2]
    measures: list[Callable[..., float | None]] = [brier, calibration_error]
    for measure in measures:
        score = measure(said, true, weights)
        assert score is None or 0 <= score <= 1
        assert measure(said, true, [weight * unit for weight in weights]) == near(score)
        assert measure(*repeated) == near(score)
    # Each of four bins is made of two of eight: more bins hide less.
    coarse, fine = (calibration_error(said, true, weights, bins) for bins in (4, 8))
    assert coarse is None or fine is None or coarse <= fine + 1e-9


def test_brier_is_scikit_learn_s() -> None:
    for seed in SEEDS:
        dice = random.Random(seed)  # noqa: S311  no secret
        said = [dice.choice((0.0, 1.0, dice.random())) for _ in range(dice.randint(2, 80))]
        true = [True, False, *(dice.random() < p for p in said[2:])]
        weights = [1.0, *(dice.choice((0.0, dice.random(), 100 * dice.random())) for _ in said[1:])]
        assert brier(said, true) == near(brier_score_loss(true, said)), seed
        weighted = brier_score_loss(true, said, sample_weight=weights)
        assert brier(said, true, weights) == near(weighted), seed


def test_mcnemar_by_hand() -> None:
    table = {
        (0, 0): 1.0,
        (0, 1): 1.0,
        (1, 1): 1.0,
        (0, 5): 2 / 32,
        (1, 5): 2 * 7 / 64,
        (2, 8): 2 * 56 / 1024,
        # 2 (C(5,0) + C(5,1) + C(5,2)) / 32 is 1 already, and C(6,3) counts twice.
        (2, 3): 1.0,
        (3, 3): 1.0,
        (0, 1000): 2.0**-999,
        # Below the smallest float.
        (0, 5000): 0.0,
        (10**8, 10**8): 1.0,
        (0, 10**9): 0.0,
    }
    for counts, p in table.items():
        assert mcnemar(*counts) == pytest.approx(p, rel=1e-9, abs=0), counts
    # With so many, the normal approximation (continuity corrected) is as good as exact.
    n, lead = 10**8, 20_000
    normal = math.erfc((lead - 1) / math.sqrt(n) / math.sqrt(2))
    assert mcnemar((n - lead) // 2, (n + lead) // 2) == pytest.approx(normal, rel=1e-6)


@settings(deadline=None)
@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_is_the_exact_sum(first: int, second: int) -> None:
    n, k = first + second, min(first, second)
    tail = sum(math.comb(n, i) for i in range(k + 1))
    p = mcnemar(first, second)
    assert p == pytest.approx(min(1.0, float(Fraction(2 * tail, 2**n))), rel=1e-9, abs=0)
    assert 0 < p <= 1
    assert p == mcnemar(second, first)
    # A longer lead is rarer.
    assert mcnemar(k, max(first, second) + 1) <= p
