import json
import math
import random
from collections.abc import Hashable, Sequence
from enum import Enum
from pathlib import Path

# The reference libraries take a second or so to import; the tests themselves are quick.
import krippendorff
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from judge.review.agreement import agreement, cohen_kappa, krippendorff_alpha

ORACLE = Path(__file__).resolve().parents[4] / "shared" / "data" / "judges" / "dvids.jsonl"
Row = tuple[str, str, int]
ROWS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("abc"), st.integers(0, 4)), max_size=25
)
UNITS = st.lists(st.lists(st.one_of(st.none(), st.sampled_from("abc")), max_size=5), max_size=12)
SEEDS = range(30)


class Colour(Enum):
    RED = 1
    BLUE = 2


def split(rows: Sequence[Row]) -> tuple[list[str], list[str], list[int]]:
    return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]


def near(value: float | None) -> object:
    return value if value is None else pytest.approx(value, abs=1e-9)


def test_agreement_by_hand() -> None:
    assert agreement("aabb", "abbb") == 0.75
    assert agreement("aabb", "abbb", [1, 5, 1, 1]) == pytest.approx(3 / 8)
    assert agreement([True, False], [False, True]) == 0.0
    assert agreement("ab", "aa", [1, 0]) == 1.0


def test_kappa_of_a_table_by_hand() -> None:
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: p_o = .7, p_e = .5 · .6 + .5 · .4 = .5.
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert cohen_kappa(first, second) == pytest.approx(0.4)
    # The same table with one row a cell.
    cells = (["yes", "yes", "no", "no"], ["yes", "no", "yes", "no"], [20, 5, 10, 15])
    assert cohen_kappa(*cells) == pytest.approx(0.4)


def test_kappa_at_its_ends() -> None:
    assert cohen_kappa("abc", "abc") == 1.0
    assert cohen_kappa("ab", "ba") == -1.0
    # One side always says the same: it tells nothing, however often it agrees.
    assert cohen_kappa("aaaa", "aaab") == pytest.approx(0.0)
    # Constant and always apart.
    assert cohen_kappa("aa", "bb") == pytest.approx(0.0)


def test_labels_are_any_hashable_values() -> None:
    first: list[Hashable] = [Colour.RED, Colour.BLUE, "支持", None]
    assert cohen_kappa(first, list(first)) == 1.0
    assert agreement(first, first[::-1]) == 0.0


@pytest.mark.parametrize(
    ("first", "second", "weights"),
    [("", "", None), ("", "", []), ("ab", "ab", [0, 0]), ("aa", "aa", None)],
)
def test_kappa_is_undefined_without_rows_or_a_second_label(
    first: str, second: str, weights: list[float] | None
) -> None:
    assert cohen_kappa(first, second, weights) is None


def test_agreement_needs_rows() -> None:
    assert agreement("", "") is None
    assert agreement("a", "a", [0]) is None


@pytest.mark.parametrize("weight", [0.1, 1 / 3, 0.7])
def test_one_label_is_undefined_whatever_its_weights_round_to(weight: float) -> None:
    assert cohen_kappa("a" * 11, "a" * 11, [weight * row for row in range(11)]) is None
    # The second label weighs nothing.
    assert cohen_kappa("aaab", "aaaa", [weight, 0.3, 0.1, 0]) is None


def test_a_row_that_weighs_next_to_nothing_is_still_seen() -> None:
    # p_o = 1 - ε and p_e = 1 - ε: no better than chance, and 1 - p_e is no rounding error.
    assert cohen_kappa("aaa", "aab", [0.1, 0.7, 1e-18]) == pytest.approx(0.0, abs=1e-9)
    # One b in a billion, found by both.
    assert cohen_kappa("aab", "aab", [0.1, 0.7, 1e-18]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("second", "weights", "said"),
    [
        ("a", None, "got 2 and 1"),
        ("ab", [1.0], "got 1 for 2 rows"),
        ("ab", [1.0, -2.0], "got -2.0"),
        ("ab", [math.nan, 1.0], "got nan"),
        ("ab", [math.inf, 1.0], "got inf"),
        (["a", math.nan], None, "got nan"),
    ],
)
def test_what_cannot_be_compared(
    second: Sequence[Hashable], weights: list[float] | None, said: str
) -> None:
    for measure in (agreement, cohen_kappa):
        with pytest.raises(ValueError, match=said):
            measure("ab", second, weights)


@given(ROWS)
def test_sides_may_change_places(rows: list[Row]) -> None:
    first, second, weights = split(rows)
    assert agreement(first, second, weights) == agreement(second, first, weights)
    assert cohen_kappa(first, second, weights) == near(cohen_kappa(second, first, weights))


@given(ROWS)
def test_measures_stay_in_their_ranges(rows: list[Row]) -> None:
    share, kappa = agreement(*split(rows)), cohen_kappa(*split(rows))
    assert share is None or 0 <= share <= 1
    assert kappa is None or -1 <= kappa <= 1
    assert kappa is None or share is None or kappa <= share + 1e-12


@given(ROWS, st.permutations("abc"), st.floats(1e-6, 1e6))
def test_names_and_the_unit_of_weights_do_not_matter(
    rows: list[Row], names: list[str], unit: float
) -> None:
    first, second, weights = split(rows)
    other = dict(zip("abc", names, strict=True))
    renamed = [other[label] for label in first], [other[label] for label in second]
    for measure in (agreement, cohen_kappa):
        expected = near(measure(first, second, weights))
        assert measure(*renamed, [weight * unit for weight in weights]) == expected


@given(ROWS)
def test_a_whole_weight_is_a_row_repeated(rows: list[Row]) -> None:
    repeated = [row for row in rows for _ in range(row[2])]
    for measure in (agreement, cohen_kappa):
        assert measure(*split(rows)) == near(measure(*split(repeated)[:2]))


@pytest.mark.parametrize("seed", SEEDS)
def test_kappa_is_scikit_learn_s(seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311  no secret
    names = "abcdef"[: dice.randint(2, 6)]
    first = dice.choices(names, k=dice.randint(5, 80))
    second = [label if dice.random() < 0.6 else dice.choice(names) for label in first]
    weights = [dice.choice((0.0, dice.random(), 100 * dice.random())) for _ in first]
    assert cohen_kappa(first, second) == pytest.approx(cohen_kappa_score(first, second), abs=1e-9)
    weighted = cohen_kappa_score(first, second, sample_weight=weights)
    assert cohen_kappa(first, second, weights) == pytest.approx(weighted, abs=1e-9)


def test_alpha_by_hand() -> None:
    # Krippendorff (2011), section B: twelve objects, two observers; α = .692.
    jon = ["a", "a", "b", "b", "d", "c", "c", "c", "e", "d", "d", "a"]
    bob = ["b", "a", "b", "b", "b", "c", "c", "c", "e", "d", "d", "d"]
    alpha = krippendorff_alpha(list(zip(jon, bob, strict=True)))
    assert alpha == pytest.approx(0.692, abs=5e-4)
    # n = 5, four of them a: 8 unequal pairs; the second unit has 4, for m - 1 = 2: 1 - 4 · 2 / 8.
    assert krippendorff_alpha(["aa", "aab", "b"]) == 0


def test_alpha_needs_two_labels_of_a_unit_and_two_in_all() -> None:
    assert krippendorff_alpha([]) is None
    assert krippendorff_alpha(["a", "b", ["a", None], [None, None], ""]) is None
    assert krippendorff_alpha(["aa", "aaa"]) is None
    # The only b stands alone, and so is compared with nothing.
    assert krippendorff_alpha(["aa", "b"]) is None


def test_nan_is_not_missing() -> None:
    with pytest.raises(ValueError, match="got nan"):
        krippendorff_alpha([["a", math.nan]])


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


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(2, 5)), min_size=1))
def test_alpha_is_one_where_all_agree(units: list[tuple[str, int]]) -> None:
    used = {label for label, _ in units}
    assert krippendorff_alpha([label * raters for label, raters in units]) == (
        1.0 if len(used) > 1 else None
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_alpha_is_the_krippendorff_package_s(seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311  no secret
    values, raters = dice.randint(2, 5), dice.randint(2, 6)
    units: list[list[float | None]] = []
    for _ in range(dice.randint(6, 40)):
        truth = dice.randrange(values)
        rated = [truth if dice.random() < 0.6 else dice.randrange(values) for _ in range(raters)]
        units.append([label if dice.random() < 0.7 else None for label in rated])
    # In its own form: one row a rater, what is missing as NaN.
    table = [
        [math.nan if label is None else label for label in column]
        for column in zip(*units, strict=True)
    ]
    expected = krippendorff.alpha(table, level_of_measurement="nominal")
    assert krippendorff_alpha(units) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("judge", "kappa", "share"),
    [("claude-opus-4-8", 0.762, 0.899), ("claude-sonnet-5", 0.716, 0.884)],
)
def test_published_figures_of_two_judges(judge: str, kappa: float, share: float) -> None:
    if not ORACLE.exists():
        pytest.skip("no shared data beside this checkout")
    rows = [json.loads(line) for line in ORACLE.read_text("utf-8").splitlines()]
    rows = [row for row in rows if row["human_label"] != "na"]
    people = [row["human_label"] == "supported" for row in rows]
    verdicts = [row["judges"][judge] == "supported" for row in rows]
    assert len(rows) == 189
    assert cohen_kappa(people, verdicts) == pytest.approx(kappa, abs=5e-4)
    assert agreement(people, verdicts) == pytest.approx(share, abs=5e-4)
