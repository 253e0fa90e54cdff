import math
import random

import numpy as np
import pytest

from judge.scores.interval import REPLICATES, StreamedMeans, poisson_weights, wilson

_NORMAL = 1.959964


def test_weights_are_poisson_with_mean_and_variance_one() -> None:
    draws = np.concatenate([poisson_weights(0, f"q{i}") for i in range(200)]).astype(float)
    # 200 000 draws: the mean's standard error is .0022, the variance's about .0039.
    assert draws.mean() == pytest.approx(1, abs=0.01)
    assert draws.var() == pytest.approx(1, abs=0.02)
    for k in range(4):
        assert (draws == k).mean() == pytest.approx(math.exp(-1) / math.factorial(k), abs=0.005)


def test_weights_depend_on_seed_and_key_alone() -> None:
    first = poisson_weights(7, "问题")
    poisson_weights(7, "another")
    assert len(first) == REPLICATES
    assert (poisson_weights(7, "问题") == first).all()
    assert (poisson_weights(8, "问题") != first).any()
    assert (poisson_weights(7, "问题2") != first).any()


def streamed(values: dict[str, float | None], seed: int = 0) -> StreamedMeans:
    means = StreamedMeans(1, seed)
    for key, value in values.items():
        means.add(key, [value])
    return means


def test_a_missing_value_is_in_no_mean() -> None:
    means = StreamedMeans(2, 0)
    means.add("a", [1.0, None])
    means.add("b", [None, None])
    means.add("c", [0.5, None])
    assert (means.mean(0), means.count(0)) == (0.75, 2)
    assert (means.mean(1), means.count(1), means.interval(1)) == (None, 0, None)
    assert means.interval(0) == (*wilson(0.75, 2), "wilson")


def test_under_fifty_answers_or_without_variance_it_is_wilsons() -> None:
    few = streamed({str(i): i % 2 for i in range(49)})
    assert few.interval(0) == (*wilson(24 / 49, 49), "wilson")
    enough = streamed({str(i): i % 2 for i in range(50)}).interval(0)
    assert enough is not None
    assert enough[2] == "poisson_bootstrap"
    equal = streamed({str(i): 1.0 for i in range(500)})
    assert equal.interval(0) == (*wilson(1, 500), "wilson")
    tenths = streamed({str(i): 0.1 for i in range(500)}).interval(0)
    assert tenths is not None
    assert tenths[2] == "wilson"


def test_on_many_values_the_bootstrap_is_near_the_normal_approximation() -> None:
    draw = random.Random(5)  # noqa: S311  no secret
    values = [draw.choice([0.0, 0.25, 0.5, 1.0, 1.0, 1.0]) for _ in range(2000)]
    interval = streamed({f"q{i}": value for i, value in enumerate(values)}).interval(0)
    assert interval is not None
    reach = _NORMAL * float(np.std(values)) / math.sqrt(len(values))
    mean = float(np.mean(values))
    # The ends of a percentile interval from 1 000 replicates scatter by about 4 % of the reach;
    # three times that is allowed.
    assert interval[0] == pytest.approx(mean - reach, abs=0.12 * reach)
    assert interval[1] == pytest.approx(mean + reach, abs=0.12 * reach)


def test_order_and_division_do_not_matter() -> None:
    draw = random.Random(3)  # noqa: S311  no secret
    values: dict[str, float | None] = {f"q{i}": draw.random() for i in range(300)}
    values["none"] = None
    whole = streamed(values)
    keys = list(values)
    draw.shuffle(keys)
    shuffled = streamed({key: values[key] for key in keys})
    left = streamed({key: values[key] for key in keys[:70]})
    left.merge(streamed({key: values[key] for key in keys[70:]}))
    for other in (shuffled, left):
        assert other.count(0) == whole.count(0) == 300
        assert other.mean(0) == pytest.approx(whole.mean(0), rel=1e-12)
        here, there = other.interval(0), whole.interval(0)
        assert here is not None
        assert there is not None
        assert here[:2] == pytest.approx(there[:2], rel=1e-12)
        assert here[2] == there[2] == "poisson_bootstrap"


def test_only_like_merges_with_like() -> None:
    for other in (StreamedMeans(1, 2), StreamedMeans(2, 1)):
        with pytest.raises(ValueError, match="equal seed and width"):
            StreamedMeans(1, 1).merge(other)


def test_rows_are_as_answers_one_by_one() -> None:
    draw = random.Random(9)  # noqa: S311  no secret
    # More than are counted together, the third value of few, the fourth of none.
    keys = [f"q{i}" for i in range(2500)]
    rows = np.array([[draw.random(), i % 3, draw.random(), np.nan] for i in range(2500)])
    rows[60:, 2] = np.nan
    together, one_by_one, mixed = (StreamedMeans(4, 3) for _ in range(3))
    together.add_rows(keys, rows)
    mixed.add_rows(keys[:1500], rows[:1500])
    for key, row in zip(keys, rows.tolist(), strict=True):
        values = [None if math.isnan(value) else value for value in row]
        one_by_one.add(key, values)
        if key not in keys[:1500]:
            mixed.add(key, values)
    for column, count in enumerate((2500, 2500, 60, 0)):
        expected = one_by_one.interval(column)
        for other in (together, mixed):
            assert other.count(column) == one_by_one.count(column) == count
            found = other.interval(column)
            if expected is None:
                assert (found, other.mean(column)) == (None, None)
            else:
                assert found is not None
                assert found[:2] == pytest.approx(expected[:2], rel=1e-12)
                assert other.mean(column) == pytest.approx(one_by_one.mean(column), rel=1e-12)


def test_no_rows_are_no_answers() -> None:
    means = StreamedMeans(2, 0)
    means.add_rows([], np.zeros((0, 2)))
    assert (means.count(0), means.mean(0), means.interval(1)) == (0, None, None)


def test_what_waits_is_merged_too() -> None:
    left, right, whole = streamed({"a": 1.0, "b": None}), streamed({"c": 0.5}), StreamedMeans(1, 0)
    left.merge(right)
    whole.add_rows(["c", "a"], np.array([[0.5], [1.0]]))
    assert (left.count(0), left.mean(0)) == (whole.count(0), whole.mean(0)) == (2, 0.75)
    assert left.interval(0) == whole.interval(0)


def test_equal_values_beside_none_are_wilsons_all_the_same() -> None:
    # Among others without a value; and behind so many without one that they are counted alone.
    for without in (60, 3000):
        rows = np.full((without + 60, 2), np.nan)
        rows[:60, 0] = rows[-60:, 1] = 0.25
        means = StreamedMeans(2, 0)
        means.add_rows([f"q{i}" for i in range(len(rows))], rows)
        for column in (0, 1):
            assert means.count(column) == 60
            assert means.interval(column) == (*wilson(0.25, 60), "wilson")
